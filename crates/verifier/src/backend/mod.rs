//! The ways to verify: what every one of them offers. [`registry`] lists them.

mod cpu;
pub(crate) mod registry;

use crate::gpu::GpuError;
use crate::{Item, Verdict};

/// A way to verify batches, with its working memory, for one thread.
pub trait VerifierBackend: Send {
    /// Replaces the contents of `verdicts` with the verdicts of `items`, in their order. The
    /// verdicts are those of every other backend.
    fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>);

    /// A number of items with which a call has most of its speed; more gain little.
    fn preferred_batch(&self) -> usize;

    /// The clock that its work is measured by.
    fn clock(&self) -> Clock {
        Clock::Thread
    }

    /// Why the CPU verifies in place of the GPU, if it does.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What measures the work of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The processor time of the calling thread.
    Thread,
    /// Elapsed time: the work is done elsewhere.
    Elapsed,
}

/// Why a backend cannot be used on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Unavailable {
    #[error("this processor does not have {0}")]
    Instructions(&'static str),
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
