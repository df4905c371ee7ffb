//! The front: batches in, verdicts out.

use crate::backend::registry;
use crate::{Clock, Item, Path, Unavailable, Verdict, VerifierBackend};

/// Verifies batches on one thread, by one of the backends, and keeps its working memory.
pub struct Verifier {
    backend: Box<dyn VerifierBackend>,
}

impl Verifier {
    /// A verifier with the fastest path of this processor.
    #[must_use]
    pub fn new() -> Self {
        let backend = Path::fastest().open().unwrap_or_else(|_| registry::portable());
        Self { backend }
    }

    /// A verifier with `path`.
    ///
    /// # Errors
    /// [`Unavailable`] if this machine does not support it.
    pub fn with_path(path: Path) -> Result<Self, Unavailable> {
        Ok(Self { backend: path.open()? })
    }

    /// Replaces the contents of `verdicts` with the verdicts of `items`, in their order.
    ///
    /// Any number of items is allowed. Items of one call share work: see
    /// [`preferred_batch`](Self::preferred_batch).
    pub fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        self.backend.verify(items, verdicts);
    }

    /// The verdict of one item.
    pub fn verify_one(&mut self, item: Item<'_>) -> Verdict {
        let mut verdicts = Vec::with_capacity(1);
        self.verify(&[item], &mut verdicts);
        verdicts.first().copied().unwrap_or(Verdict::Mismatch)
    }

    /// A number of items with which a call has most of its speed.
    #[must_use]
    pub fn preferred_batch(&self) -> usize {
        self.backend.preferred_batch()
    }

    /// Why the CPU verifies in place of the GPU, if it does.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.backend.failure()
    }

    /// What it verifies by.
    #[must_use]
    pub fn into_backend(self) -> Box<dyn VerifierBackend> {
        self.backend
    }

    /// The clock that its work is measured by.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.backend.clock()
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}
