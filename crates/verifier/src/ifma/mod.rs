//! The path by AVX-512 IFMA: limbs of 52 bits, in eight lanes.

mod lanes;
mod vector;

use crate::arithmetic::{FieldElement, U256};
use crate::curve::{Affine, Entry, Table, Windows};
use crate::job::{Outcome, Scalars};
use crate::wide::{self, Mask};

pub(crate) use vector::Vector;

/// The minimum number of signatures without tables for which eight lanes are faster than one by
/// one.
const PLAIN_WORTHWHILE: usize = 2;

wide::vector!(Vector);
wide::backend!(Vector, is_x86_feature_detected, "avx512f,avx512ifma", "avx512f" "avx512ifma");
