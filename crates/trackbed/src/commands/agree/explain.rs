//! `trackbed agree --explain`

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, bail};
use trackbed_analysis::agreement;
use trackbed_analysis::computing::Computing;
use trackbed_analysis::divergence::{divergence, first_late};
use trackbed_archive::{Recorded, Results as _};
use trackbed_lab::explain::{self, Captured};
use trackbed_measure::results::{EMULATED, Outcome, VIRTUAL};
use trackbed_outward::files::create;
use trackbed_report::divergence::{self as report, Pair};
use trackbed_scenario::Plan;

use super::super::campaign::Campaign;
use super::Arguments;
use crate::chosen;
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, spare_results, tell};

/// A cell, and perhaps a run of it.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    cell: u32,
    run: Option<u32>,
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Unit, String> {
        let (cell, run) = match text.split_once(':') {
            Some((cell, run)) => (cell, Some(run)),
            None => (text, None),
        };
        let number = |text: &str| {
            text.parse().map_err(|_| "write CELL or CELL:RUN, for example 3 or 3:17".to_owned())
        };
        Ok(Unit { cell: number(cell)?, run: run.map(number).transpose()? })
    }
}

/// Repeats a run of `plan` on both substrates and prints where they diverge.
pub fn execute(
    arguments: &Arguments,
    unit: Unit,
    (plan, out): (&Plan, &Path),
) -> anyhow::Result<Ending> {
    // `--until-decided` may have made more runs than the plan has.
    chosen::check(plan, unit.cell, unit.run, arguments.options.runs_max)?;
    let cell = unit.cell;
    let run = unit.run.or_else(|| most_different(plan, cell, arguments, out)).unwrap_or(0);
    let options = RunOptions {
        substrate: Some(SubstrateArgument::Emulated),
        out: None,
        ..arguments.options.clone()
    };
    // Before anything else: the kernel creates user namespaces only for a single-threaded process.
    let (plan, emulated) = Campaign::emulated(&arguments.scenario, &options)?;
    let folder = out.join("explain").join(format!("cell-{cell}-run-{run}"));
    spare_results(&folder)?;
    let command = output::command_line();
    let captured = explain::execute((&plan, &emulated), (cell, run), (&folder, &command));
    let (captured, computing) = captured.with_context(|| {
        format!("{}: captures cannot be written; give another folder with --out", folder.display())
    })?;
    for (name, Captured { result, .. }) in [VIRTUAL, EMULATED].into_iter().zip(&captured) {
        if let Outcome::Failed(why) = &result.outcome {
            bail!(
                "the {name} run failed: {why}\n  help: its captures are in {}",
                shell_word(&folder)
            );
        }
        if let Some(certificate) = result.certificate.as_ref().filter(|_| result.is_invalid()) {
            let late = certificate.late.join(", ");
            tell(format_args!(
                "this machine did not keep up in the {name} run ({late}): repeat it"
            ));
        }
    }
    let sent = captured.each_ref().map(|one| one.sent.as_slice());
    let found = (divergence(sent[0], sent[1]), first_late(sent[0], sent[1]));
    let windows = captured.each_ref().map(|one| one.windows.as_slice());
    let pair = Pair { sent, divergence: found.0.as_ref(), late: found.1.as_ref(), windows };
    let names: Vec<String> =
        plan.cells[cell as usize].factors.iter().map(|(_, value)| value.to_string()).collect();
    let title = format!("cell {cell} ({}), run {run}", names.join(" "));
    output::print(&report::render(&title, &pair))?;
    if let Some(picture) = report::svg(&pair) {
        let path = folder.join("sequence.svg");
        std::io::Write::write_all(&mut create(&path)?, picture.as_bytes())
            .with_context(|| path.display().to_string())?;
    }
    if let Some(Computing { client, server }) = computing {
        let [client, server] = [client, server].map(|time| time.as_secs_f64() * 1e6);
        tell(format_args!(
            "in virtual time each packet takes {client:.0} us at the phones and {server:.0} us at the server: the \
             processor time of this run on the kernel, divided by its packets; timers of TCP end at ticks of the clock"
        ));
    }
    tell(format_args!("captures and sequence.svg: {}", shell_word(&folder)));
    Ok(Ending::Success)
}

/// The run of a cell that differs most in the first compared metric, if there are results.
fn most_different(plan: &Plan, cell: u32, arguments: &Arguments, out: &Path) -> Option<u32> {
    let read = |name: &str| {
        let recorded = Recorded::read(&out.join(name)).ok()?;
        let runs = (recorded.plan.hash == plan.hash).then(|| recorded.runs.of(cell).ok())??;
        Some(runs.into_owned())
    };
    agreement::most_different(&read(VIRTUAL)?, &read(EMULATED)?, &arguments.metrics)
}
