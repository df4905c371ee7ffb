//! `trackbed replay`

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use trackbed_archive::files::REPLAY;
use trackbed_archive::{Recorded, Results as _};
use trackbed_lab::replay::{self, Replay};
use trackbed_measure::results::Outcome;
use trackbed_outward::files::folder;

use crate::chosen;
use crate::ending::Ending;
use crate::options::number;
use crate::output::{self, shell_word, spare_results, tell};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/replay.txt"))]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// The number of the cell, from the table that `run` printed
    #[arg(value_parser = number::<u32>)]
    pub cell: u32,
    /// The number of the run, from 0
    #[arg(value_parser = number::<u32>)]
    pub run: u32,
    /// Write the captures to DIR [default: DIRECTORY/replay/cell-CELL-run-RUN]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Repeats one run of a run directory and captures it.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { directory, cell, run, out } = arguments;
    let (cell, run) = (*cell, *run);
    let Recorded { plan, runs: recorded, .. } = chosen::repeatable(directory)?;
    chosen::check(&plan, cell, Some(run), 0)?;
    let replays = directory.join(REPLAY);
    let own = || replays.join(format!("cell-{cell}-run-{run}"));
    let out = out.clone().unwrap_or_else(own);
    spare_results(&out)?;
    let comment = format!("trackbed replay {} {cell} {run}", shell_word(directory));
    let replay = Replay { cell, run, comment };
    let folders = match arguments.out {
        Some(_) => Ok(()),
        None => folder(&replays).and_then(|()| folder(&out)),
    };
    let repeated = folders.and_then(|()| replay::execute(&plan, &replay, &out));
    let repeated = repeated.with_context(|| {
        format!("{}: captures cannot be written; give another folder with --out", out.display())
    })?;

    let of_cell = recorded.of(cell)?;
    let recorded = of_cell.iter().find(|known| known.run == run).map(|known| &known.outcome);
    let same = recorded.is_none_or(|recorded| *recorded == repeated.outcome);
    let mut text = describe(&repeated.outcome);
    for file in &repeated.files {
        text.push_str(&format!("{}\n", file.display()));
    }
    output::print(&text)?;
    match (recorded, same) {
        (None, _) => tell("note: this run is not in the directory, so nothing was compared"),
        (Some(_), true) => tell("the result equals the one in the directory"),
        (Some(_), false) => {
            bail!(
                "the result differs from the one in the directory: its files were edited, or the run \
                 was not repeated exactly; if nobody edited them, report it as a bug"
            )
        }
    }
    Ok(match repeated.outcome {
        Outcome::Samples(_) => Ending::Success,
        Outcome::Failed(_) => Ending::CheckFailed,
    })
}

/// The mean of each metric in this one run, or why it failed.
fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(reason) => format!("the run failed: {reason}\n"),
        Outcome::Samples(samples) => samples
            .iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(metric, values)| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                format!("{metric} {mean}\n")
            })
            .collect(),
    }
}
