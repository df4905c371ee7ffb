//! Canonical octet encoding rules (COER), by rasn, one part at a time: so that the signed bytes are
//! the received ones, not a re-encoding.

use rasn::{Decode, Encode};

use crate::refusal::Refusal;

/// Takes a `T` from the front of `bytes`: the value, its bytes, and what is left.
pub(crate) fn take<'a, T: Decode>(
    what: &'static str,
    bytes: &'a [u8],
) -> Result<(T, &'a [u8], &'a [u8]), Refusal> {
    let (value, rest) = rasn::coer::decode_with_remainder::<T>(bytes)
        .map_err(|error| Refusal::malformed(what, &error))?;
    let taken = bytes.len().saturating_sub(rest.len());
    let (own, rest) = bytes.split_at(taken);
    Ok((value, own, rest))
}

pub(crate) fn take_bytes<'a, const N: usize>(
    what: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), Refusal> {
    bytes.split_first_chunk().ok_or_else(|| Refusal::malformed(what, &"it ends too early"))
}

pub(crate) fn finish(what: &'static str, rest: &[u8]) -> Result<(), Refusal> {
    match rest.len() {
        0 => Ok(()),
        len => Err(Refusal::TrailingBytes { what, len }),
    }
}

pub(crate) fn encode<T: Encode>(what: &'static str, value: &T) -> Result<Vec<u8>, Refusal> {
    rasn::coer::encode(value).map_err(|error| Refusal::malformed(what, &error))
}
