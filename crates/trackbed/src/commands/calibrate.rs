//! `trackbed calibrate`: what the model of a device takes, from runs on a real one.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use trackbed_analysis::calibration;
use trackbed_measure::results::Document;

use crate::ending::Ending;
use crate::output;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed run edge --part 'no network' --out alone
  trackbed calibrate alone --durations frames.txt
  trackbed run costs --out measured
  trackbed calibrate measured --costs costs.txt
  trackbed run edge --substrate virtual --set inference.durations=frames.txt \\
    --set inference.costs=costs.txt --set inference.cores=4

Frames come from cells with inference and without network; how much of them the threads of the model
shared, from the processor time of the inference. `trackbed infer --durations FILE` measures that itself.
Costs come from the processor time of clients: more loads tell messages, packets and the clients' start
apart, several ciphers and the protocol tcp what a byte costs. On the live substrate nobody counts
packets, and messages bear it all.

Exit status: 0 written, 2 bad input.";

/// Where the runs are, and what to write.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// The run directory, of the emulated or the live substrate
    pub directory: PathBuf,
    /// Write what frames take, as the scenario's key inference.durations reads it
    #[arg(long, value_name = "FILE")]
    pub durations: Option<PathBuf>,
    /// Threads of the inference; without it as many as the machine had cores
    #[arg(long, value_name = "N", requires = "durations")]
    pub threads: Option<NonZeroU32>,
    /// Write what messages, packets and ciphers cost, as the key inference.costs reads it
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
}

/// Writes the files that were asked for.
///
/// # Errors
/// If the directory holds no results, or none that tell.
pub fn execute(arguments: &CalibrateArguments) -> anyhow::Result<Ending> {
    if arguments.durations.is_none() && arguments.costs.is_none() {
        bail!("nothing is to be written: add --durations FILE or --costs FILE");
    }
    let document = trackbed_archive::read_document(&arguments.directory)?;
    let runs = trackbed_archive::RecordedRuns::read(&arguments.directory)?.all()?;
    if let Some(path) = &arguments.durations {
        let cores = || document.environment.get("cores")?.parse().ok();
        let threads = arguments.threads.map(NonZeroU32::get).or_else(cores).unwrap_or(1);
        let durations = calibration::durations(&document, &runs, threads);
        let durations = durations.map_err(|why| anyhow!(why))?;
        write(path, &document, &durations.to_string())?;
        output::tell(format_args!("{}: {} frames", path.display(), durations.frames.len()));
        if threads > 1 && durations.frames.iter().all(|frame| frame.parallel_ns == 0) {
            output::tell(
                "note: the inference had no more than one core in the mean: if it computes on the \
                 processor, others kept it from it, and its frames are better measured at rest",
            );
        }
    }
    if let Some(path) = &arguments.costs {
        let costs = calibration::costs(&document, &runs).map_err(|why| anyhow!(why))?;
        write(path, &document, &costs.to_string())?;
        let (protocols, ciphers) = (costs.protocols.len() - 1, costs.ciphers.len());
        let path = path.display();
        output::tell(format_args!("{path}: {protocols} protocols and {ciphers} ciphers"));
        let free = costs.ciphers.iter().filter(|(_, picoseconds)| **picoseconds == 0);
        let free: Vec<&str> = free.map(|(name, _)| name.as_str()).collect();
        if !free.is_empty() {
            output::tell(format_args!(
                "note: a byte costs nothing by {}: what it takes is less than these runs can tell; \
                 longer transfers or more --runs may",
                free.join(", ")
            ));
        }
    }
    Ok(Ending::Success)
}

/// With a remark on where it comes from behind the first line, which says what it is.
fn write(path: &Path, document: &Document, text: &str) -> anyhow::Result<()> {
    let Document { scenario, substrate, trackbed, environment, .. } = document;
    let (magic, rest) = text.split_once('\n').unwrap_or((text, ""));
    let unknown = "unknown processor".to_owned();
    let processor = environment.get("processor").unwrap_or(&unknown).replace('\n', " ");
    let scenario = scenario.replace('\n', " ");
    let remark = format!("# {scenario}, {substrate} substrate, trackbed {trackbed}, {processor}");
    fs::write(path, format!("{magic}\n{remark}\n{rest}"))
        .with_context(|| format!("cannot write {}", path.display()))
}
