//! The source of keys, nonces and connection identifiers.

use trackbed_net::NodeId;

/// A host's source of randomness.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Entropy {
    /// The operating system's: the only source on a real network.
    System,
    /// A stream drawn from the seed of a simulated run, so that the run can be repeated.
    Seeded(SeededEntropy),
}

/// The stream `entropy/<host name>` of a simulated run's seed.
///
/// Only the virtual substrate can create one, and it works only on the thread of that run, during
/// the run. So it cannot weaken a real connection. [`Host::draw`](crate::Host::draw) is no such source.
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    source: Source,
    run: u64,
    host: NodeId,
}

/// The stream of a run's seed that a host draws from.
pub(crate) fn stream_of(host: &str) -> String {
    format!("entropy/{host}")
}

/// Draws from the stream of a host in a run.
type Source = fn(run: u64, host: NodeId, bytes: &mut [u8]) -> Result<(), EntropyError>;

impl SeededEntropy {
    pub(crate) fn new(source: Source, run: u64, host: NodeId) -> SeededEntropy {
        SeededEntropy { source, run, host }
    }

    /// Fills `bytes` with the next bytes of the stream. Clones draw from the same stream.
    ///
    /// # Errors
    /// On a thread that does not execute the run, and after the run; `bytes` is then unchanged.
    pub fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        (self.source)(self.run, self.host, bytes)
    }
}

/// Seeded randomness was requested outside its simulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "seeded randomness is available only on the thread of its simulated run, until that run ends; \
     get the host's entropy again in the run that needs it"
)]
pub struct EntropyError;
