//! A scheduler that keeps to the first path as long as that exists.

use trackbed_tcp::schedulers::{Action, Scheduler, SchedulingAlgorithm, View};

pub static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "first",
    summary: "the path that was there first, and the next one when it is gone",
    source: "active-backup mode of Linux's bonding driver",
    parameters: &[],
    build: |_, _| Box::new(First),
};

#[derive(Debug)]
struct First;

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
