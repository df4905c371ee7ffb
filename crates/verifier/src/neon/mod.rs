//! The path by NEON: limbs of 26 bits, in twice four lanes.
//!
//! [`crate::Path::fastest`] does not take it: it has fewer instructions than the portable path, but no time was
//! measured.

mod lanes;
#[cfg(test)]
mod tests;
mod vector;

use std::arch::is_aarch64_feature_detected;

use crate::arithmetic::{FieldElement, U256};
use crate::curve::{Affine, Entry, Table, Windows};
use crate::job::{Outcome, Scalars};
use crate::wide::{self, Mask};

pub(crate) use vector::Vector;

/// The minimum number of signatures without tables for which eight lanes take fewer instructions
/// than one by one.
const PLAIN_WORTHWHILE: usize = 6;

wide::vector!(Vector);
wide::backend!(Vector, is_aarch64_feature_detected, "neon", "neon");
