#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]
#![allow(
    clippy::missing_errors_doc,
    clippy::float_cmp,
    clippy::no_effect_underscore_binding,
    clippy::items_after_statements
)]

extern crate alloc;

#[macro_use]
pub mod macros;

mod bits;
mod codec;
pub mod de;
pub mod enc;
pub mod error;
mod num;
mod per;
pub mod types;

// Data Formats

pub mod aper;
pub mod avn;
pub mod ber;
pub mod cer;
pub mod coer;
pub mod der;
pub mod jer;
pub mod oer;
pub mod uper;
pub mod xer;

#[doc(inline)]
pub use self::{
    codec::Codec,
    de::{Decode, Decoder},
    enc::{Encode, Encoder},
    types::AsnType,
};

#[doc(inline)]
#[cfg(feature = "compiler")]
#[cfg_attr(docsrs, doc(cfg(feature = "compiler")))]
/// Compiler for ASN.1 Notation to Rust code.
pub use rasn_compiler as compiler;

/// A prelude containing the codec traits and all types defined in the [`types`]
/// module.
pub mod prelude {
    pub use crate::{
        de::{Decode, Decoder},
        enc::{Encode, Encoder},
        macros,
        types::*,
    };
}
