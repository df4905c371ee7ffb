//! XML Encoding Rules.

pub mod de;
pub mod enc;

const BOOLEAN_TRUE_TAG: &str = "true";
const BOOLEAN_FALSE_TAG: &str = "false";
const PLUS_INFINITY_TAG: &str = "PLUS-INFINITY";
const MINUS_INFINITY_TAG: &str = "MINUS-INFINITY";
const NAN_TAG: &str = "NOT-A-NUMBER";
const PLUS_INFINITY_VALUE: &str = "INF";
const MINUS_INFINITY_VALUE: &str = "-INF";
const NAN_VALUE: &str = "NaN";

/// Attempts to decode `T` from `input` using XER.
/// # Errors
/// Returns error specific to XER decoder if decoding is not possible.
pub fn decode<T: crate::Decode>(input: &[u8]) -> Result<T, crate::error::DecodeError> {
    T::decode(&mut de::Decoder::new(input)?)
}

/// Attempts to encode `value` to XER.
/// # Errors
/// Returns error specific to XER encoder if encoding is not possible.
pub fn encode<T: crate::Encode>(
    value: &T,
) -> Result<alloc::vec::Vec<u8>, crate::error::EncodeError> {
    let mut encoder = enc::Encoder::new();
    value.encode(&mut encoder)?;
    Ok(encoder.finish())
}
