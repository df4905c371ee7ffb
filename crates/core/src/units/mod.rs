//! Quantities with units: integer types, and their text form.
//!
//! `50 Mbit/s`, `10 ms`, `0.3 %`, `1500 B`. One Mbit is 10^6 bit, one MB 10^6 bytes, one MiB 2^20.
//! Parsing is exact (decimal, no floating point) and errors include the remedy.

mod bitrate;
mod byte_size;
mod decimal;
mod duration;
mod ratio;

pub use bitrate::Bitrate;
pub use byte_size::ByteSize;
pub use duration::{format_duration, parse_duration};
pub use ratio::Ratio;

/// Why a quantity could not be read, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(pub(crate) String);
