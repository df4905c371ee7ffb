//! The input and output of an engine.

use crate::cache::SharedKey;
use crate::{Digest, Signature, Verdict};

/// A signature to verify.
#[derive(Debug, Clone)]
pub struct Task {
    /// The signer's key.
    pub key: SharedKey,
    /// The signed digest.
    pub digest: Digest,
    /// The signature.
    pub signature: Signature,
    /// The deadline of the verdict: nanoseconds of [`monotonic_nanos`](super::monotonic_nanos).
    pub deadline_nanos: u64,
    /// For queries.
    pub tag: u64,
}

/// A finished task.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// The task's.
    pub tag: u64,
    /// None if it was dropped because its deadline had passed before its turn.
    pub verdict: Option<Verdict>,
    /// The time of the verdict.
    pub finished_nanos: u64,
    /// The task's.
    pub deadline_nanos: u64,
    /// The worker.
    pub worker: usize,
}
