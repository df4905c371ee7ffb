//! The lowest round-trip time first: the default of the MPTCP kernel outside of mainline Linux
//! (`get_available_subflow` of `mptcp_sched.c`).

use trackbed_core::Seed;
use trackbed_core::parameter::Arguments;

use super::{Action, Scheduler, SchedulingAlgorithm, View};

/// The registry entry.
#[derive(Debug)]
pub struct MinRtt;

impl SchedulingAlgorithm for MinRtt {
    fn name(&self) -> &'static str {
        "minrtt"
    }

    fn summary(&self) -> &'static str {
        "the path with the lowest round-trip time that has room in its congestion window"
    }

    fn source(&self) -> &'static str {
        "multipath-tcp.org kernel, mptcp_sched.c"
    }

    fn build(&self, _arguments: &Arguments, _seed: &Seed) -> Box<dyn Scheduler> {
        Box::new(Lowest)
    }
}

#[derive(Debug)]
struct Lowest;

impl Scheduler for Lowest {
    fn next(&mut self, view: &View<'_>) -> Action {
        if view.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        view.path_for(None).map_or(Action::WAIT, |path| view.send_segment(path))
    }
}
