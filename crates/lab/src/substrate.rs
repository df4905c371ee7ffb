//! What runs are executed on.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::results::RunResult;
use trackbed_substrate::{Cancel, RunError};

use crate::run::Runner;
use crate::scenario::{Cell, Plan};

/// What the runs of a plan are executed on.
pub trait Substrate: Sync {
    /// The name that results carry.
    fn name(&self) -> &'static str;

    /// What of the machine bears on results, by name.
    fn environment(&self) -> BTreeMap<String, String>;

    /// How many runs are executed at once unless somebody says otherwise.
    fn jobs(&self) -> NonZeroUsize;

    /// Looks whether it can do what `plan` asks for, before anything is run.
    ///
    /// # Errors
    /// What it cannot do, and what helps.
    fn check(&self, plan: &Plan) -> Result<(), String>;

    /// Executes run number `run` of cell number `cell`.
    ///
    /// # Errors
    /// If the run was not executed at all. Everything that goes wrong in a run is its outcome.
    fn execute(&self, plan: &Plan, cell: u32, run: u32) -> Result<RunResult, RunError>;
}

/// The name of the virtual substrate in results.
pub const VIRTUAL: &str = "virtual";

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

impl Substrate for Virtual {
    fn name(&self) -> &'static str {
        VIRTUAL
    }

    fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn jobs(&self) -> NonZeroUsize {
        thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
    }

    fn check(&self, plan: &Plan) -> Result<(), String> {
        let has = |what: fn(&Cell) -> bool| plan.cells.iter().any(what);
        let why = match () {
            () if has(|cell| !cell.endpoint.programs.is_empty()) => {
                "programs of others run on the kernel"
            }
            () if has(|cell| cell.inference.is_some()) => {
                "[inference] takes the time of this machine"
            }
            () => return Ok(()),
        };
        Err(format!("{why}, not in virtual time\n  help: add --substrate emulated"))
    }

    fn execute(&self, plan: &Plan, cell: u32, run: u32) -> Result<RunResult, RunError> {
        let outcome = self.0.execute(&plan.cells[cell as usize], plan.seed, run)?;
        Ok(RunResult { cell, run, outcome, certificate: None })
    }
}
