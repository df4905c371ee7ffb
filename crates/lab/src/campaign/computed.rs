//! Virtual runs whose ends take processor time, and whose TCP waits for ticks of the kernel's clock, for cells that
//! do not agree with real ones without.

use std::collections::BTreeSet;

use trackbed_analysis::agreement::compare_cell;
use trackbed_analysis::computing::{self, Computing};
use trackbed_archive::Units;
use trackbed_measure::agreement::{Agreement, AgreementVerdict};
use trackbed_measure::results::RunResult;
use trackbed_scenario::Plan;

use super::{Execution, run};
use crate::backend::Backend;

/// The runs of one cell. They are executed when they are needed, and not stored: virtual ones take little
/// time.
#[derive(Clone, Debug, Default)]
pub struct Computed {
    /// From the first runs that were compared, so that more of them change no run.
    computing: Option<Computing>,
    runs: Vec<RunResult>,
}

impl Computed {
    /// Compares the runs of a cell in virtual time and emulated, by these metrics and with this confidence.
    /// Where they are not equivalent, it compares the emulated ones with runs on `backend` whose ends take
    /// the processor time that was measured.
    ///
    /// # Panics
    /// If `plan` does not have the cell.
    pub fn compare(
        &mut self,
        (plan, cell): (&Plan, u32),
        sides: [Vec<RunResult>; 2],
        how: (&[String], f64),
        (backend, execution): (&dyn Backend, &Execution),
    ) -> Vec<Agreement> {
        let emulated = sides[1].clone();
        let mut found = compare_cell(plan, cell, sides, how);
        let is_equivalent = |found: &Agreement| found.verdict == AgreementVerdict::Equivalent;
        if plan.cells[cell as usize].shares_cores() || found.iter().all(is_equivalent) {
            return found;
        }
        self.computing = self.computing.or_else(|| Computing::measured(&emulated));
        let Some(computing) = self.computing else { return found };
        let Some(backend) = backend.with_computing(computing) else { return found };
        let has =
            |runs: &[RunResult]| -> BTreeSet<u32> { runs.iter().map(|run| run.run).collect() };
        let (wanted, done) = (has(&emulated), has(&self.runs));
        let is_missing = |of, run| of == cell && wanted.contains(&run) && !done.contains(&run);
        let missing = Units::of(plan, is_missing);
        run(plan, &*backend, &missing, execution, |result| self.runs.push(result));
        if !execution.cancel.is_cancelled() {
            let again = compare_cell(plan, cell, [self.runs.clone(), emulated], how);
            computing::complete(&mut found, computing, &again);
        }
        found
    }
}
