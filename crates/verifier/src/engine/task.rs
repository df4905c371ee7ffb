//! What goes into an engine, and what comes out.

use crate::cache::SharedKey;
use crate::{Digest, Signature, Verdict};

/// A signature to verify.
#[derive(Debug, Clone)]
pub struct Task {
    /// Whose signature it should be.
    pub key: SharedKey,
    /// What should be signed.
    pub digest: Digest,
    /// What it was signed by.
    pub signature: Signature,
    /// When the verdict should be there: nanoseconds of [`monotonic_nanos`](super::monotonic_nanos).
    pub deadline_nanos: u64,
    /// For whoever asks.
    pub tag: u64,
}

/// A task that has been looked at.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// The task's.
    pub tag: u64,
    /// None if its deadline had passed before it was its turn, and such tasks are dropped.
    pub verdict: Option<Verdict>,
    /// When the verdict was there.
    pub finished_nanos: u64,
    /// The task's.
    pub deadline_nanos: u64,
    /// Which worker it was.
    pub worker: usize,
}
