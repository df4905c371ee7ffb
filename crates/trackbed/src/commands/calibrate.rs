//! `trackbed calibrate`: calibrates the model of a device from runs on a real one.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use trackbed_analysis::calibration;
use trackbed_measure::results::Document;

use crate::ending::Ending;
use crate::output;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/calibrate.txt"))]
pub struct Arguments {
    /// The run directory, from the emulated or the live substrate
    pub directory: PathBuf,
    /// Write the durations of frames to FILE, for the scenario's key inference.durations
    #[arg(long, value_name = "FILE")]
    pub durations: Option<PathBuf>,
    /// Assume that the inference ran on N threads [default: the number of cores of that machine]
    #[arg(long, value_name = "N", requires = "durations")]
    pub threads: Option<NonZeroU32>,
    /// Write the costs of messages, packets and ciphers to FILE, for the key inference.costs
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
}

/// Writes the requested files.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if arguments.durations.is_none() && arguments.costs.is_none() {
        bail!("no output requested; add --durations FILE or --costs FILE");
    }
    let document = trackbed_archive::read_document(&arguments.directory)?;
    let mut runs = trackbed_archive::RecordedRuns::read(&arguments.directory)?.all()?;
    runs.retain(|run| run.run < document.runs && !run.is_invalid());
    if let Some(path) = &arguments.durations {
        let cores = || document.environment.get("cores")?.parse().ok();
        let threads = arguments.threads.map(NonZeroU32::get).or_else(cores).unwrap_or(1);
        let durations = calibration::durations(&document, &runs, threads);
        let durations = durations.map_err(|why| anyhow!(why))?;
        write(path, &document, &durations.to_string())?;
        output::tell(format_args!("{}: {} frames", path.display(), durations.frames.len()));
        if threads > 1 && durations.frames.iter().all(|frame| frame.parallel_ns == 0) {
            output::tell(
                "note: the inference used at most one core on average. If it runs on the CPU, other \
                 processes competed with it; measure its frames on an idle machine",
            );
        }
    }
    if let Some(path) = &arguments.costs {
        let costs = calibration::costs(&document, &runs).map_err(|why| anyhow!(why))?;
        write(path, &document, &costs.to_string())?;
        let (protocols, ciphers) = (costs.protocols.len() - 1, costs.ciphers.len());
        let path = path.display();
        output::tell(format_args!("{path}: protocols: {protocols}, ciphers: {ciphers}"));
        let free = costs.ciphers.iter().filter(|(_, picoseconds)| **picoseconds == 0);
        let free: Vec<&str> = free.map(|(name, _)| name.as_str()).collect();
        if !free.is_empty() {
            output::tell(format_args!(
                "note: the cost of a byte with {} is set to 0: it is too small to measure in these \
                 runs; use longer transfers or more --runs",
                free.join(", ")
            ));
        }
    }
    Ok(Ending::Success)
}

/// Writes `text`, and that it comes from the runs of `document`.
fn write(path: &Path, document: &Document, text: &str) -> anyhow::Result<()> {
    let Document { scenario, substrate, trackbed, environment, .. } = document;
    let unknown = "unknown processor".to_owned();
    let processor = environment.get("processor").unwrap_or(&unknown).replace('\n', " ");
    let scenario = scenario.replace('\n', " ");
    let origin = format!("{scenario}, {substrate} substrate, trackbed {trackbed}, {processor}");
    output::write_with_origin(path, text, &origin)
}
