//! Watching a run.

use std::sync::Arc;

use trackbed_core::event::Record;
use trackbed_net::{LinkId, Tap};
use trackbed_protocols::Observer;

/// Watches a run without changing it.
pub(crate) trait Onlooker {
    /// What the network shows its packets to: those of the shared link and, if there is one, of the
    /// second one.
    fn tap(&self, shared: LinkId, second: Option<LinkId>) -> Box<dyn Tap>;

    /// What protocols show their keys and traces to.
    fn observer(&self) -> Arc<dyn Observer>;

    /// Is shown the events of the whole run once it has come to an end.
    fn keep(&self, _records: &[Record]) {}
}
