//! What a client that is not ours has told, as events.

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};
use trackbed_programs::Visited;

/// The events of a visit that began at `begin`, oldest first.
pub(super) fn records(begin: Time, visited: &Visited) -> Vec<Record> {
    let _ = visited;
    vec![Record { at: begin, event: Event::Started }]
}
