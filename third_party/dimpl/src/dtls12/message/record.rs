//! DTLS 1.2 record layer types.
//!
//! ContentType and Sequence are now in crate::types as they're shared between DTLS versions.

use std::fmt;
use std::ops::Range;

use super::ProtocolVersion;
use crate::buffer::Buf;
use crate::types::{ContentType, Sequence};
use crate::util::be_u48;
use nom::bytes::complete::take;
use nom::number::complete::be_u16;
use nom::{Err, IResult};

/// DTLS 1.2 record structure.
#[derive(PartialEq, Eq, Default)]
pub struct DTLSRecord {
    /// The content type of this record.
    pub content_type: ContentType,
    /// The protocol version.
    pub version: ProtocolVersion,
    /// The epoch and sequence number.
    pub sequence: Sequence,
    /// The length of the fragment.
    pub length: u16,
    /// The range of the fragment in the source buffer.
    pub fragment_range: Range<usize>,
}

impl DTLSRecord {
    /// DTLS record header length: content_type(1) + version(2) + epoch(2) + seq(6) + length(2)
    pub const HEADER_LEN: usize = 13;

    /// Length of the explicit nonce prefix in DTLS 1.2 AES-GCM records.
    pub const EXPLICIT_NONCE_LEN: usize = 8;

    /// Byte offset in the record header where the 2-byte length field is
    pub const LENGTH_OFFSET: Range<usize> = 11..13;

    /// Parse a DTLS record from the input buffer.
    pub fn parse(
        input: &[u8],
        base_offset: usize,
        skip_offset: usize,
    ) -> IResult<&[u8], DTLSRecord> {
        let original_input = input;
        let (input, content_type) = ContentType::parse(input)?; // u8
        let (input, version) = ProtocolVersion::parse(input)?; // u16

        // Accept DTLS 1.0 or 1.2 in record layer per RFC 6347
        // DTLS 1.0 (0xFEFF) is often used in record layer during handshake for compatibility
        // The actual protocol version is negotiated in the handshake messages
        match version {
            ProtocolVersion::DTLS1_0 | ProtocolVersion::DTLS1_2 => {
                // Valid DTLS versions for record layer
            }
            _ => {
                return Err(Err::Failure(nom::error::Error::new(
                    input,
                    nom::error::ErrorKind::Tag,
                )));
            }
        }

        let (input, epoch) = be_u16(input)?; // u16

        // Epoch 0 records are plaintext in DTLS 1.2. Reject plaintext
        // ApplicationData before record protection is active, and only accept
        // the epoch-0 content types this implementation supports.
        if epoch == 0 {
            match content_type {
                ContentType::ChangeCipherSpec | ContentType::Alert | ContentType::Handshake => {}
                _ => {
                    return Err(Err::Failure(nom::error::Error::new(
                        input,
                        nom::error::ErrorKind::Tag,
                    )));
                }
            }
        }
        let (input, sequence_number) = be_u48(input)?; // u48
        let (input, length) = be_u16(input)?; // u16

        // When encrypted, skip_offset is 0 and this has the explicit nonce.
        // When decrypted, skip_offset is > 0 to skip the explicit nonce.
        let input = &input[skip_offset..];

        let (rest, fragment_slice) = take(length as usize)(input)?;

        // Calculate absolute range in root buffer
        // fragment_slice is already offset from original_input by all the header bytes and skip_offset
        let relative_offset = fragment_slice.as_ptr() as usize - original_input.as_ptr() as usize;
        let start = base_offset + relative_offset;
        let end = start + fragment_slice.len();

        let sequence = Sequence {
            epoch,
            sequence_number,
        };

        Ok((
            rest,
            DTLSRecord {
                content_type,
                version,
                sequence,
                length,
                fragment_range: start..end,
            },
        ))
    }

    /// Get the fragment data from the source buffer.
    pub fn fragment<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.fragment_range.clone()]
    }

    /// Serialize this record to the output buffer.
    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        output.push(self.content_type.as_u8());
        self.version.serialize(output);
        output.extend_from_slice(&self.sequence.epoch.to_be_bytes());
        output.extend_from_slice(&self.sequence.sequence_number.to_be_bytes()[2..]);
        output.extend_from_slice(&self.length.to_be_bytes());
        output.extend_from_slice(self.fragment(buf));
    }

    /// Get the explicit nonce from the fragment using the requested length.
    pub fn nonce_with_len<'a>(&self, buf: &'a [u8], len: usize) -> &'a [u8] {
        let fragment = self.fragment(buf);
        &fragment[..len]
    }

    /// Get the explicit nonce from the fragment (AES-GCM default).
    pub fn nonce<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        self.nonce_with_len(buf, Self::EXPLICIT_NONCE_LEN)
    }
}

impl fmt::Debug for DTLSRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DTLSRecord")
            .field("content_type", &self.content_type)
            .field("version", &self.version)
            .field("sequence", &self.sequence)
            .field("length", &self.length)
            .field("fragment_range", &self.fragment_range)
            .finish()
    }
}
