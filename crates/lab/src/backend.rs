//! Backends that execute runs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_analysis::computing::Computing;
use trackbed_measure::results::{RunResult, VIRTUAL};
use trackbed_protocols::KERNEL_CONGESTION;
use trackbed_substrate::{Cancel, RunError};

use crate::models;
use crate::run::Runner;
use trackbed_scenario::{Cell, Plan, Work};

/// Executes the runs of a plan.
pub trait Backend: Sync {
    /// The name recorded in results.
    fn name(&self) -> &'static str;

    /// Properties of the machine that affect results of `plan`, by name.
    fn environment(&self, plan: &Plan) -> BTreeMap<String, String> {
        let _ = plan;
        BTreeMap::new()
    }

    /// Default number of concurrent runs. In real time they would compete for the processor or the
    /// network.
    fn jobs(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// Checks that it supports `plan`, before anything is run.
    ///
    /// # Errors
    /// What is not supported, and what to do about it.
    fn check(&self, plan: &Plan) -> Result<(), String>;

    /// What of the results of `plan` comes from a model of a machine, in words; `None` if nothing
    /// does.
    fn model(&self, plan: &Plan) -> Option<String> {
        let _ = plan;
        None
    }

    /// Why no further run can be executed, once that is the case. Results returned from then on do
    /// not count.
    fn lost(&self) -> Option<String> {
        None
    }

    /// The same backend, whose ends take this processor time; `None` if it has no model of it.
    fn with_computing(&self, computing: Computing) -> Option<Box<dyn Backend>> {
        let _ = computing;
        None
    }

    /// Executes run `run` of `cells`, which are of one family, once. Returns the result of each.
    ///
    /// # Errors
    /// If the run was not executed at all. A failure within a run is its outcome.
    fn execute(&self, plan: &Plan, cells: &[u32], run: u32) -> Result<Vec<RunResult>, RunError>;
}

/// Virtual time: results depend only on the plan.
#[derive(Debug)]
pub struct Virtual(Runner);

impl Virtual {
    /// The virtual substrate, whose runs end early when `cancel` fires.
    pub fn until(cancel: Cancel) -> Virtual {
        Virtual(Runner::new(cancel))
    }
}

impl Default for Virtual {
    /// A run that has begun is always finished.
    fn default() -> Virtual {
        Virtual::until(Cancel::default())
    }
}

impl Backend for Virtual {
    fn name(&self) -> &'static str {
        VIRTUAL
    }

    fn jobs(&self) -> NonZeroUsize {
        thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
    }

    fn check(&self, plan: &Plan) -> Result<(), String> {
        let real = plan.cells.iter().find_map(|Cell { endpoint, .. }| {
            let is_kernels = endpoint.transport.congestion == KERNEL_CONGESTION;
            let program = (!endpoint.programs.is_empty()).then_some("third-party programs");
            program.or(is_kernels.then_some("connections with congestion = \"bbr\""))
        });
        if let Some(what) = real {
            return Err(format!(
                "{what} cannot run in virtual time\n  help: add --substrate emulated"
            ));
        }
        models::check_modelled(plan)?;
        let inferences = plan.cells.iter().filter_map(|cell| cell.inference.as_ref());
        let mut unknown =
            inferences.filter(|it| it.work.is_some() && it.device.durations.is_none());
        unknown.next().map_or(Ok(()), |inference| Err(unmeasured(inference.work.as_ref())))
    }

    fn model(&self, plan: &Plan) -> Option<String> {
        models::label(plan)
    }

    fn with_computing(&self, computing: Computing) -> Option<Box<dyn Backend>> {
        Some(Box::new(Virtual(self.0.clone().with_computing(computing))))
    }

    fn execute(&self, plan: &Plan, cells: &[u32], run: u32) -> Result<Vec<RunResult>, RunError> {
        let of = cells.iter().map(|cell| &plan.cells[*cell as usize]).collect::<Vec<_>>();
        let measured = self.0.simulate(&of, (plan.seed, run), None)?;
        let result = |(cell, (outcome, answered)): (&u32, _)| RunResult {
            answered,
            ..RunResult::new(*cell, run, outcome)
        };
        Ok(cells.iter().zip(measured).map(result).collect())
    }
}

/// Why work without measured durations has no model, and what to do about it.
fn unmeasured(work: Option<&Work>) -> String {
    let (what, how) = match work {
        Some(Work::Command(_)) => ("a command", "--exec -- COMMAND"),
        _ => ("this model", "--model MODEL"),
    };
    format!(
        "in virtual time [inference] is a model, which needs the durations of {what}\n  help: measure \
         them with `trackbed infer --durations FILE {how}` and write durations = \"FILE\" below \
         [inference], or add --substrate emulated"
    )
}
