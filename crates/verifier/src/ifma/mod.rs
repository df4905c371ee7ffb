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

/// The path, and memory reused for each batch.
pub(crate) struct Lanes {
    ifma: Ifma,
    tables: tables::Scratch,
    products: Vec<vector::Vector>,
}

/// The minimum number of signatures without tables for which eight lanes are faster than one by
/// one.
const PLAIN_WORTHWHILE: usize = 2;

impl Ifma {
    pub(crate) fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma");
        has.then_some(Self(()))
    }

    pub(crate) fn build_table(self, point: &Affine, windows: Windows) -> Table {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { table::build(point, windows) }
    }
}

impl Lanes {
    pub(crate) fn detect() -> Option<Self> {
        let ifma = Ifma::detect()?;
        Some(Self { ifma, tables: tables::Scratch::default(), products: Vec::new() })
    }
}

impl crate::lanes::Lanes for Lanes {
    fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>) {
        let Ifma(()) = self.ifma;
        // SAFETY: the `Ifma` proves that the processor has the instructions.
        unsafe { tables::verify(jobs, &mut self.tables, outcomes) }
    }

    fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>) {
        if jobs.len() < PLAIN_WORTHWHILE {
            outcomes.clear();
            outcomes.resize(jobs.len(), Outcome::Undecided);
            return;
        }
        let Ifma(()) = self.ifma;
        // SAFETY: the `Ifma` proves that the processor has the instructions.
        unsafe { plain::verify(jobs, &mut self.products, outcomes) }
    }
}

#[cfg(test)]
mod tests;
