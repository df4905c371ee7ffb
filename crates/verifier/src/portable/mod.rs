//! The path for every processor: limbs of 64 bits, one signature after the other.

mod generic;
mod tables;

use crate::curve::{Affine, Table};
use crate::job::{Lanes, Outcome, Scalars};

pub(crate) use generic::verify;

/// The path, and memory reused for each batch.
#[derive(Default)]
pub(crate) struct Portable(tables::Scratch);

impl Lanes for Portable {
    fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>) {
        tables::verify(jobs, &mut self.0, outcomes);
    }

    /// Leaves each to the fallback, which is what this path has.
    fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>) {
        outcomes.clear();
        outcomes.resize(jobs.len(), Outcome::Undecided);
    }
}
