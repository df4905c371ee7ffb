//! The checksum over data and its mapping (RFC 8684 section 3.3.1).

use bytes::Bytes;
use trackbed_core::packet::ChecksumOfParts;

/// The checksum of `data` at the data sequence number `number`, with the rest of its mapping as it
/// stands in the option: `subflow` and `len`.
pub(super) fn checksum<'a>(
    number: u64,
    subflow: u32,
    len: u16,
    data: impl IntoIterator<Item = &'a Bytes>,
) -> u16 {
    let mut sum = ChecksumOfParts::default();
    sum.add(&number.to_be_bytes());
    sum.add(&subflow.to_be_bytes());
    sum.add(&len.to_be_bytes());
    data.into_iter().for_each(|part| sum.add(part));
    sum.finish()
}
