//! ASN.1 Value Notation (AVN) encoding.

pub mod de;
pub mod enc;
pub mod value;

/// Attempts to encode `value` to AVN text format.
///
/// # Errors
/// Returns an error specific to the AVN encoder if encoding is not possible.
pub fn encode<T: crate::Encode>(
    value: &T,
) -> Result<alloc::string::String, crate::error::EncodeError> {
    let mut encoder = enc::Encoder::new();
    value.encode(&mut encoder)?;
    Ok(encoder.to_string())
}

/// Attempts to decode `input` (AVN text) to type `T`.
///
/// # Errors
/// Returns an error specific to the AVN decoder if decoding is not possible.
pub fn decode<T: crate::Decode>(input: &str) -> Result<T, crate::error::DecodeError> {
    T::decode(&mut de::Decoder::new(input)?)
}
