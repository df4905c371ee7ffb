//! The inputs and results of a measured unit.

use trackbed_core::event::{Judgement, UnitAccount};
use trackbed_v2x::traffic::Origin;
use trackbed_verifier::Path;
use trackbed_verifier::engine::Options;

use super::super::plan::Plan;

/// The result of a run. Times are readings of [`monotonic_nanos`].
pub(super) struct Outcome {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) decisions: Vec<Decision>,
    /// Without its span.
    pub(super) account: UnitAccount,
}

#[derive(Clone, Copy)]
pub(super) struct Decision {
    pub(super) at: u64,
    pub(super) heard: u64,
    pub(super) origin: Origin,
    pub(super) judgement: Judgement,
}

pub(super) fn options(plan: &Plan) -> Options {
    let workers = plan.workers.unwrap_or_else(processors);
    let slow = |number| if number >= workers.div_ceil(2) { plan.slow_half_permille } else { 1000 };
    Options {
        workers,
        split: plan.split,
        path: Path::fastest(),
        queue_max: plan.queue_max,
        drops_late: plan.drops_late,
        budget_permille: plan.budget_permille,
        slowdown_permille: (0..workers).map(slow).collect(),
    }
}

pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
