//! How commands end.

/// How a command ended if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything that was checked holds.
    Success,
    /// A check or a claim failed, or a run did.
    CheckFailed,
    /// Nothing could be compared.
    NothingCompared,
    /// There are too few runs for a verdict.
    Undecided,
    /// Ctrl-C ended it early; finished runs are kept.
    Interrupted,
}
