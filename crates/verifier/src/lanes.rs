//! What differs between the backends on the processor.

use crate::curve::{Affine, Table};
use crate::job::{Outcome, Scalars};

/// Sums of points for a batch, by some instructions.
pub(crate) trait Lanes: Send {
    /// Replaces `outcomes` with those of signatures by keys with tables in this backend's form, all
    /// with the same windows.
    fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>);

    /// Replaces `outcomes` with those of signatures by keys without tables.
    fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>);
}
