//! `trackbed export`

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use trackbed_archive::RecordedRuns;
use trackbed_measure::results::Document;
use trackbed_outward::Printer;
use trackbed_report::export::{Content, Exporter, Format};
use trackbed_report::summary;

use crate::ending::Ending;
use crate::options::{Names, one_of};
use crate::output::{self, no_place, tell, write_file, write_whole};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/export.txt"))]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Choose the table
    #[arg(long, default_value = "samples", value_parser = one_of(TABLES))]
    pub table: Content,
    /// Choose the format
    #[arg(long, value_enum, default_value_t = FormatArgument::Csv)]
    pub format: FormatArgument,
    /// Write to FILE [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

const TABLES: &Names<Content> = &[
    ("samples", "Every sample", Content::Samples),
    ("runs", "Every run", Content::Runs),
    ("cells", "Every metric of every cell", Content::Cells),
    ("differences", "Every comparison", Content::Differences),
];

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// Comma-separated values with a heading
    Csv,
    /// One JSON object per line
    Ndjson,
    /// Typed columns, compressed (Apache Parquet), for DuckDB, pandas, R and Spark
    Parquet,
    /// The printed table of cells in Markdown (--table cells)
    Markdown,
    /// The printed table of cells in LaTeX (--table cells)
    Latex,
}

/// Writes a table of a run directory.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let is_printed = matches!(arguments.format, FormatArgument::Markdown | FormatArgument::Latex);
    if is_printed && matches!(arguments.table, Content::Cells) {
        return printed(arguments);
    }
    // Check the directory before any file is touched.
    let table = Table::read(arguments)?;
    match &arguments.out {
        None if table.format.is_binary() && io::stdout().is_terminal() => {
            bail!("cannot write Parquet to a terminal; give a file with --out")
        }
        None => {
            let stdout = BufWriter::new(io::stdout());
            let place = || "cannot write to standard output".into();
            match io::stdout().is_terminal() {
                true => table.write(Printer::new(stdout), place)?,
                false => table.write(stdout, place)?,
            }
        }
        Some(path) => {
            write_file(path, |file| table.write(file, || no_place(path)))?;
            tell(path.display());
        }
    }
    Ok(Ending::Success)
}

/// Writes the table of cells as it is printed.
fn printed(arguments: &Arguments) -> anyhow::Result<Ending> {
    let (document, _) = trackbed_analysis::open(&arguments.directory)?;
    let text = summary::tables(&document, arguments.format == FormatArgument::Latex);
    let Some(path) = &arguments.out else {
        output::print(&text)?;
        return Ok(Ending::Success);
    };
    write_whole(path, text)?;
    tell(path.display());
    Ok(Ending::Success)
}

/// The table to write.
struct Table {
    document: Document,
    content: Content,
    format: Format,
    /// `None` if the table is not about runs.
    runs: Option<RecordedRuns>,
}

impl Table {
    fn read(arguments: &Arguments) -> anyhow::Result<Table> {
        let format = format(arguments.format)?;
        let content = arguments.table;
        let (document, runs) = trackbed_analysis::open(&arguments.directory)?;
        let is_of_runs = matches!(content, Content::Samples | Content::Runs);
        Ok(Table { document, content, format, runs: is_of_runs.then_some(runs) })
    }

    /// Writes it to `sink`; `place` gives the name of the sink for errors.
    fn write(&self, sink: impl Write + Send, place: impl Fn() -> String) -> anyhow::Result<()> {
        let Table { document, content, format, runs } = self;
        let mut exporter = Exporter::new(document, *content, *format, sink).with_context(&place)?;
        let Some(runs) = runs else { return exporter.finish().with_context(&place) };
        for cell in 0..document.cells.len() as u32 {
            for run in runs.each(cell) {
                let run = run?;
                if run.run < document.runs {
                    exporter.run(&run).with_context(&place)?;
                }
            }
        }
        exporter.finish().with_context(&place)
    }
}

fn format(argument: FormatArgument) -> anyhow::Result<Format> {
    match argument {
        FormatArgument::Csv => Ok(Format::Csv),
        FormatArgument::Ndjson => Ok(Format::Ndjson),
        #[cfg(feature = "parquet")]
        FormatArgument::Parquet => Ok(Format::Parquet),
        #[cfg(not(feature = "parquet"))]
        FormatArgument::Parquet => bail!(
            "this trackbed was built without Parquet; build it with `cargo build --release --features \
             parquet`, or use --format csv"
        ),
        FormatArgument::Markdown | FormatArgument::Latex => {
            bail!(
                "Markdown and LaTeX are for the table of cells; add --table cells, or use --format csv"
            )
        }
    }
}
