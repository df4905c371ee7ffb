//! What runs are executed on.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::results::{RunResult, VIRTUAL};
use trackbed_substrate::{Cancel, RunError};

use crate::run::Runner;
use crate::{boards, device};
use trackbed_scenario::{Plan, Work};

/// What the runs of a plan are executed on.
pub trait Backend: Sync {
    /// The name that results carry.
    fn name(&self) -> &'static str;

    /// What of the machine bears on results of `plan`, by name.
    fn environment(&self, plan: &Plan) -> BTreeMap<String, String>;

    /// How many runs are executed at once unless somebody says otherwise.
    fn jobs(&self) -> NonZeroUsize;

    /// Looks whether it can do what `plan` asks for, before anything is run.
    ///
    /// # Errors
    /// What it cannot do, and what helps.
    fn check(&self, plan: &Plan) -> Result<(), String>;

    /// What of the results of `plan` comes from a model of a machine, in words; `None` where nothing
    /// does.
    fn model(&self, plan: &Plan) -> Option<String> {
        let _ = plan;
        None
    }

    /// Why nothing more can be executed, once that is so. Results that come with it are of no run.
    fn lost(&self) -> Option<String> {
        None
    }

    /// Executes run number `run` of cell number `cell`.
    ///
    /// # Errors
    /// If the run was not executed at all. Everything that goes wrong in a run is its outcome.
    fn execute(&self, plan: &Plan, cell: u32, run: u32) -> Result<RunResult, RunError>;
}

/// Virtual time: results depend on the plan alone.
#[derive(Debug)]
pub struct Virtual(Runner);

impl Virtual {
    /// The virtual substrate. A run that has begun is finished whatever happens.
    pub fn new() -> Virtual {
        Virtual(Runner::new(Cancel::new()))
    }
}

impl Default for Virtual {
    fn default() -> Virtual {
        Virtual::new()
    }
}

impl Backend for Virtual {
    fn name(&self) -> &'static str {
        VIRTUAL
    }

    fn environment(&self, _: &Plan) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn jobs(&self) -> NonZeroUsize {
        thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
    }

    fn check(&self, plan: &Plan) -> Result<(), String> {
        if plan.cells.iter().any(|cell| !cell.endpoint.programs.is_empty()) {
            return Err("programs of others run on the kernel, not in virtual time\n  help: add \
                        --substrate emulated"
                .to_owned());
        }
        let inferences = plan.cells.iter().filter_map(|cell| cell.inference.as_ref());
        let mut unknown =
            inferences.filter(|it| it.work.is_some() && it.device.durations.is_none());
        match unknown.next() {
            None => Ok(()),
            Some(inference) => Err(unmeasured(inference.work.as_ref())),
        }
    }

    fn model(&self, plan: &Plan) -> Option<String> {
        let labels = [device::label(plan), boards::label(plan)];
        labels.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"))
    }

    fn execute(&self, plan: &Plan, cell: u32, run: u32) -> Result<RunResult, RunError> {
        let outcome = self.0.execute(&plan.cells[cell as usize], plan.seed, run)?;
        Ok(RunResult { cell, run, outcome, certificate: None })
    }
}

/// Why work of which nobody has measured what it takes has no model, and what helps.
fn unmeasured(work: Option<&Work>) -> String {
    let (what, how) = match work {
        Some(Work::Command(_)) => ("a command", "--exec -- COMMAND"),
        _ => ("this model", "--model MODEL"),
    };
    format!(
        "[inference] is a model in virtual time, and nobody has said what a frame of {what} takes\n  \
         help: let `trackbed infer --durations FILE {how}` measure it and write durations = \"FILE\" \
         below [inference], or add --substrate emulated"
    )
}
