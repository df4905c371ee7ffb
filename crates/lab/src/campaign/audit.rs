//! Audits a run directory: executes a sample of its runs again, and recomputes its summary.

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use trackbed_analysis::Origin;
use trackbed_core::Seed;
use trackbed_core::text::hex;
use trackbed_measure::results::{Document, SCHEMA, VIRTUAL};

use crate::backend::Virtual;
use crate::campaign::{self, Execution};
use trackbed_archive::{DirectoryError, Recorded, Results as _, Units, VERSION, read_document};

/// The result: what `trackbed verify-results --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Findings {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The substrate of the runs; those in real time are not repeated.
    pub substrate: String,
    /// The number of files of a pack, all with their recorded digests; absent for other directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<u64>,
    /// Runs in the directory.
    pub runs: u64,
    /// Runs that were repeated.
    pub repeated: u64,
    /// The number that selected them: the same number selects the same runs.
    pub draw: u64,
    /// Repeated runs whose result differs, by cell and run, in order.
    pub different: Vec<(u32, u32)>,
    /// Whether `run.json` matches the runs.
    #[serde(rename = "summary")]
    pub is_summary_right: bool,
    /// SHA-256 over all results in the order of cells and runs, in hexadecimal: equal results have
    /// equal digests, on any machine.
    pub digest: String,
}

impl Findings {
    /// Whether no problem was found.
    pub fn is_sound(&self) -> bool {
        self.different.is_empty() && self.is_summary_right
    }
}

/// Repeats `sample` of the directory's runs, selected by `draw`, and reports differences; runs in real time
/// cannot be repeated. `finished` is called after each.
///
/// # Errors
/// If results cannot be read.
pub fn audit(
    recorded: &Recorded,
    sample: u64,
    draw: u64,
    execution: &Execution,
    mut finished: impl FnMut(),
) -> Result<Findings, DirectoryError> {
    let Recorded { plan, runs, path, .. } = recorded;
    // Detect a missing summary before the runs, not an hour later.
    let written = read_document(path)?;
    let is_virtual = recorded.about.substrate == VIRTUAL;
    let sample = if is_virtual { sample } else { 0 };
    let there = Units::of(plan, |cell, run| runs.has(cell, run));
    let chosen = choose(&there, sample, draw);
    let mut place = 0;
    let drawn = Units::of(plan, |cell, run| {
        let is_there = runs.has(cell, run);
        let is_drawn = is_there && chosen.binary_search(&place).is_ok();
        place += u64::from(is_there);
        is_drawn
    });
    let (mut repeated, mut different) = (0, Vec::new());
    let mut kept = Ok(());
    let cancel = &execution.cancel;
    campaign::run(plan, &Virtual::until(cancel.clone()), &drawn, execution, |again| {
        // It may have ended early.
        if cancel.is_cancelled() {
            return;
        }
        repeated += 1;
        match runs.one(again.cell, again.run) {
            Ok(Some(first)) if first.agrees(&again) => {}
            Ok(_) => different.push((again.cell, again.run)),
            Err(why) => kept = Err(why),
        }
        finished();
    });
    kept?;
    different.sort_unstable();
    Ok(Findings {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        substrate: recorded.about.substrate.clone(),
        packed: None,
        runs: there.len(),
        repeated,
        draw,
        different,
        is_summary_right: is_right(&written, recorded)?,
        digest: digest(recorded)?,
    })
}

/// Indexes of `sample` of `units`, drawn without replacement, in order.
fn choose(units: &Units, sample: u64, draw: u64) -> Vec<u64> {
    let mut rng = Seed::of_run(draw, 0).stream("audit");
    let mut left = sample.min(units.len());
    let mut chosen = Vec::new();
    for place in 0..units.len() {
        // Selection sampling (Knuth's algorithm S).
        if rng.below(units.len() - place) < left {
            chosen.push(place);
            left -= 1;
        }
    }
    chosen
}

/// Whether `written` is the summary of the runs. Nothing records whether slow runs in real time count.
fn is_right(written: &Document, recorded: &Recorded) -> Result<bool, DirectoryError> {
    let Recorded { plan, runs, about, .. } = recorded;
    let of_machine = Origin {
        substrate: about.substrate.clone(),
        environment: written.environment.clone(),
        model: written.model.clone(),
    };
    let is_virtual = about.substrate == VIRTUAL;
    let origin = if is_virtual { campaign::origin(&Virtual::default(), plan) } else { of_machine };
    let summary = |keep_invalid| trackbed_analysis::document(plan, &origin, runs, keep_invalid);
    Ok(*written == summary(false)? || !is_virtual && *written == summary(true)?)
}

fn digest(recorded: &Recorded) -> Result<String, DirectoryError> {
    let mut digest = Sha256::new();
    for cell in 0..recorded.plan.cells.len() as u32 {
        for run in recorded.runs.of(cell)?.iter() {
            digest.update(serde_json::to_vec(run).expect("results are plain data"));
            digest.update(b"\n");
        }
    }
    Ok(hex(&digest.finalize()))
}
