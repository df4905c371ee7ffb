//! The path by AVX-512 IFMA: eight signatures, or eight parts of one, at a time.
//!
//! Functions for this instruction set are safe to call from one another. An [`Ifma`] proves that
//! the processor has the set, so its owner may call them from outside.

mod inverses;
mod lanes;
mod plain;
mod points;
mod table;
mod tables;
mod vector;

use crate::curve::{Affine, Table, Windows};
use crate::job::{Outcome, Scalars};

/// The processor has AVX-512 IFMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ifma(());

/// Memory reused for each batch.
#[derive(Default)]
pub(crate) struct Scratch {
    tables: tables::Scratch,
    products: Vec<vector::Vector>,
}

/// The minimum number of signatures without tables for which eight lanes are faster than one by
/// one.
pub(crate) const PLAIN_WORTHWHILE: usize = 2;

impl Ifma {
    pub(crate) fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma");
        has.then_some(Self(()))
    }

    /// Verifies signatures by keys with tables for this path, all with the same windows.
    pub(crate) fn verify_with_tables(
        self,
        jobs: &[(Scalars, &Table)],
        scratch: &mut Scratch,
        outcomes: &mut Vec<Outcome>,
    ) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { tables::verify(jobs, &mut scratch.tables, outcomes) }
    }

    /// Verifies signatures by keys without tables.
    pub(crate) fn verify_plain(
        self,
        jobs: &[(Scalars, &Affine)],
        scratch: &mut Scratch,
        outcomes: &mut Vec<Outcome>,
    ) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { plain::verify(jobs, &mut scratch.products, outcomes) }
    }

    pub(crate) fn build_table(self, point: &Affine, windows: Windows) -> Table {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { table::build(point, windows) }
    }
}

#[cfg(test)]
mod tests;
