//! The path for every processor: limbs of 64 bits, one signature after the other.

mod generic;
mod tables;

pub(crate) use generic::verify;
pub(crate) use tables::{Scratch, verify_with_tables};
