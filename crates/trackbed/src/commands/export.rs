//! `trackbed export`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use trackbed_lab::directory::{RecordedRuns, read_document};
use trackbed_lab::results::Results as _;
use trackbed_report::export::{Content, Exporter, Format};

use crate::Verdict;
use crate::output::tell;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed export results > samples.csv
  trackbed export results --table runs --out runs.csv
  trackbed export results --table cells --format ndjson | jq 'select(.metric == \"completion_ms\")'
  duckdb -c \"select protocol, avg(value) from 'samples.csv' where metric = 'rtt_ms' group by 1\"

Tables:
  samples      a row for each sample: cell, its factors, run, metric, which sample of the run, value
  runs         a row for each run: its means, and whether it failed and why
  cells        a row for each metric of each cell: mean with its 95 % interval, quantiles, counts
  differences  a row for each comparison with the best cell, run by run

Names of metrics end in their unit. What is not there is empty in CSV, null in NDJSON.";

/// What to write, and where.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The run directory
    pub directory: PathBuf,
    /// Which table
    #[arg(long, value_enum, default_value_t = TableArgument::Samples)]
    pub table: TableArgument,
    /// How it is written
    #[arg(long, value_enum, default_value_t = FormatArgument::Csv)]
    pub format: FormatArgument,
    /// The file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableArgument {
    /// Every sample
    Samples,
    /// Every run
    Runs,
    /// Every metric of every cell
    Cells,
    /// Every comparison
    Differences,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// Comma-separated values with a heading
    Csv,
    /// A JSON object in each line
    Ndjson,
}

/// Writes a table of a run directory.
///
/// # Errors
/// If the directory cannot be read, or the table not be written.
pub fn execute(arguments: &ExportArguments) -> anyhow::Result<Verdict> {
    match &arguments.out {
        None => write(arguments, BufWriter::new(io::stdout().lock()))?,
        Some(path) => {
            let place =
                || format!("cannot write {}; give another place with --out", path.display());
            let file = File::create(path).with_context(place)?;
            write(arguments, BufWriter::new(file)).with_context(place)?;
            tell(path.display());
        }
    }
    Ok(Verdict::Success)
}

fn write(arguments: &ExportArguments, sink: impl Write) -> anyhow::Result<()> {
    let document = read_document(&arguments.directory)?;
    let content = match arguments.table {
        TableArgument::Samples => Content::Samples,
        TableArgument::Runs => Content::Runs,
        TableArgument::Cells => Content::Cells,
        TableArgument::Differences => Content::Differences,
    };
    let format = match arguments.format {
        FormatArgument::Csv => Format::Csv,
        FormatArgument::Ndjson => Format::Ndjson,
    };
    let mut exporter = Exporter::new(&document, content, format, sink)?;
    if matches!(content, Content::Samples | Content::Runs) {
        let runs = RecordedRuns::read(&arguments.directory)?;
        for cell in 0..document.cells.len() as u32 {
            let of_cell = runs.of(cell)?;
            let counted = of_cell.iter().filter(|run| run.run < document.runs);
            counted.into_iter().try_for_each(|run| exporter.run(run))?;
        }
    }
    Ok(exporter.finish()?)
}
