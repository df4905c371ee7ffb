//! A scheduler that keeps to the first path for as long as it is there.

use trackbed_core::{Arguments, Seed};
use trackbed_tcp::schedulers::{Action, Scheduler, SchedulingAlgorithm, View};

/// The registry entry.
#[derive(Debug)]
pub struct First;

impl SchedulingAlgorithm for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn summary(&self) -> &'static str {
        "the path that was there first, and the next one when it is gone"
    }

    fn source(&self) -> &'static str {
        "active-backup mode of Linux's bonding driver"
    }

    fn build(&self, _: &Arguments, _: &Seed) -> Box<dyn Scheduler> {
        Box::new(First)
    }
}

impl Scheduler for First {
    fn next(&mut self, view: &View<'_>) -> Action {
        let first = view.candidates().min_by_key(|path| path.id);
        match first {
            Some(path) if path.can_send() && view.sendable_bytes() > 0 => {
                view.send_segment(path.id)
            }
            _ => Action::WAIT,
        }
    }
}
