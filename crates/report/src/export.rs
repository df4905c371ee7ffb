//! Results as tables for other programs: CSV, newline-delimited JSON, and Parquet.

#[cfg(feature = "parquet")]
mod parquet;
mod sink;

use std::collections::BTreeSet;
use std::io;

use serde_json::{Value, json};
use trackbed_measure::results::{Document, Outcome, RunResult, factor_names};
use trackbed_measure::samples;

use sink::{Column, Kind, Sink};

/// Which table to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A row for each sample of each metric.
    Samples,
    /// A row for each run, with its means; failed runs have the reason.
    Runs,
    /// A row for each metric of each cell, with its distribution.
    Cells,
    /// A row for each paired comparison.
    Differences,
}

/// The file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated, with a header (RFC 4180).
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// Typed columns in compressed row groups (Apache Parquet).
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// Whether the format is binary.
    pub fn is_binary(self) -> bool {
        match self {
            Format::Csv | Format::Ndjson => false,
            #[cfg(feature = "parquet")]
            Format::Parquet => true,
        }
    }
}

/// Writes a table row by row; holds at most one Parquet row group in memory.
pub struct Exporter<'a> {
    document: &'a Document,
    content: Content,
    factors: Vec<String>,
    /// For runs: the metrics that have a column.
    metrics: Vec<String>,
    sink: Box<dyn Sink + 'a>,
}

impl<'a> Exporter<'a> {
    /// Starts a table; writes it completely if it is one of cells or differences.
    ///
    /// # Errors
    /// If `sink` cannot be written.
    pub fn new(
        document: &'a Document,
        content: Content,
        format: Format,
        sink: impl io::Write + Send + 'a,
    ) -> io::Result<Exporter<'a>> {
        let factors = factor_names(&document.cells);
        let of_cell = || document.cells.iter().flat_map(|cell| cell.metrics.keys().cloned());
        let metrics: Vec<String> = of_cell().collect::<BTreeSet<_>>().into_iter().collect();
        let columns = columns(document, content, &factors, &metrics);
        let sink: Box<dyn Sink + 'a> = match format {
            Format::Csv => Box::new(sink::Csv::new(&columns, sink)?),
            Format::Ndjson => Box::new(sink::Ndjson::new(columns, sink)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(parquet::Parquet::new(document, content, &columns, sink)?),
        };
        let mut exporter = Exporter { document, content, factors, metrics, sink };
        match content {
            Content::Cells => exporter.cells()?,
            Content::Differences => exporter.differences()?,
            Content::Samples | Content::Runs => {}
        }
        Ok(exporter)
    }

    /// Writes the rows of a run.
    ///
    /// # Errors
    /// If the sink cannot be written.
    pub fn run(&mut self, run: &RunResult) -> io::Result<()> {
        match self.content {
            Content::Samples => self.samples(run),
            Content::Runs => self.row_of_run(run),
            Content::Cells | Content::Differences => Ok(()),
        }
    }

    /// Completes the table.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn samples(&mut self, run: &RunResult) -> io::Result<()> {
        let head = self.head(run.cell);
        samples::of(run).try_for_each(|sample| {
            let mut row = head.clone();
            row.extend([json!(run.run), json!(sample.metric)]);
            row.extend([json!(sample.index), json!(sample.value)]);
            let message = sample.message;
            row.extend([json!(message.map(|it| it.phone)), json!(message.map(|it| it.number))]);
            row.push(json!(message.map(|it| it.due_ms)));
            self.sink.row(row)
        })
    }

    fn row_of_run(&mut self, run: &RunResult) -> io::Result<()> {
        let (outcome, reason) = match &run.outcome {
            Outcome::Failed(reason) => ("failed", json!(reason)),
            Outcome::Samples(_) if run.is_invalid() => ("invalid", Value::Null),
            Outcome::Samples(_) => ("ok", Value::Null),
        };
        let mean = |metric: &String| {
            let values = run.outcome.samples()?.get(metric).filter(|values| !values.is_empty())?;
            Some(json!(values.iter().sum::<f64>() / values.len() as f64))
        };
        let means = self.metrics.iter().map(|metric| mean(metric).unwrap_or(Value::Null));
        let mut row = self.head(run.cell);
        row.extend([json!(run.run), json!(outcome), reason]);
        row.extend(means);
        self.sink.row(row)
    }

    fn cells(&mut self) -> io::Result<()> {
        let document = self.document;
        for (index, cell) in document.cells.iter().enumerate() {
            for (metric, s) in &cell.metrics {
                let mut row = self.head(index as u32);
                row.extend([json!(metric), json!(s.mean), json!(s.ci95[0]), json!(s.ci95[1])]);
                row.extend([s.p50, s.p95, s.p99, s.min, s.max].map(|value| json!(value)));
                row.extend([json!(s.n), json!(s.samples), json!(cell.failed), json!(cell.invalid)]);
                let intervals = [s.p50_ci95, s.p95_ci95, s.p99_ci95].into_iter();
                row.extend(intervals.flat_map(|ci| [0, 1].map(|end| json!(ci.map(|it| it[end])))));
                self.sink.row(row)?;
            }
        }
        Ok(())
    }

    fn differences(&mut self) -> io::Result<()> {
        let document = self.document;
        for d in &document.differences {
            let mut row = vec![json!(d.metric), json!(d.cell), json!(d.against), json!(d.mean)];
            row.extend([json!(d.ci95[0]), json!(d.ci95[1]), json!(d.percent), json!(d.n)]);
            row.push(json!(d.verdict));
            let (median, ends) = (d.median, d.median.and_then(|median| median.ci95));
            row.extend([json!(median.map(|it| it.value)), json!(ends.map(|it| it[0]))]);
            row.extend([json!(ends.map(|it| it[1])), json!(median.and_then(|it| it.percent))]);
            row.push(json!(median.map(|it| it.verdict)));
            self.sink.row(row)?;
        }
        Ok(())
    }

    /// The index of a cell, and its factors.
    fn head(&self, cell: u32) -> Vec<Value> {
        let known = self.document.cells.get(cell as usize);
        let factor = |name: &String| known.and_then(|cell| cell.factors.get(name).cloned());
        let factors = self.factors.iter().map(|name| factor(name).unwrap_or(Value::Null));
        std::iter::once(json!(cell)).chain(factors).collect()
    }
}

/// The columns of a table; factors in the scenario's order.
fn columns(
    document: &Document,
    content: Content,
    factors: &[String],
    metrics: &[String],
) -> Vec<Column> {
    let column = |(name, kind): (&str, Kind)| Column { name: name.to_owned(), kind };
    let fixed = |list: Fixed| -> Vec<Column> {
        let names = list.iter().flat_map(|(kind, names)| names.split(' ').map(|it| (it, *kind)));
        names.map(column).collect()
    };
    let factors = factors.iter().map(|name| column((name, kind_of(document, name))));
    let factors: Vec<Column> = factors.collect();
    let means = metrics.iter().map(|name| column((name, Kind::Number)));
    match content {
        Content::Samples => [fixed(CELL), factors, fixed(SAMPLE_COLUMNS)].concat(),
        Content::Runs => [fixed(CELL), factors, fixed(RUN_COLUMNS), means.collect()].concat(),
        Content::Cells => [fixed(CELL), factors, fixed(CELL_COLUMNS)].concat(),
        Content::Differences => fixed(DIFFERENCE_COLUMNS),
    }
}

/// A factor's type in all cells that have it. A mix of numbers and text is text.
fn kind_of(document: &Document, name: &str) -> Kind {
    let values = || document.cells.iter().filter_map(|cell| cell.factors.get(name));
    match () {
        () if values().all(Value::is_number) => Kind::Number,
        () if values().all(Value::is_boolean) => Kind::Flag,
        () => Kind::Text,
    }
}

/// Columns of one type after another.
type Fixed = &'static [(Kind, &'static str)];

const CELL: Fixed = &[(Kind::Whole, "cell")];
const SAMPLE_COLUMNS: Fixed = &[
    (Kind::Whole, "run"),
    (Kind::Text, "metric"),
    (Kind::Whole, "sample"),
    (Kind::Number, "value"),
    (Kind::Whole, "phone message"),
    (Kind::Number, "due_ms"),
];
const RUN_COLUMNS: Fixed = &[(Kind::Whole, "run"), (Kind::Text, "outcome reason")];
const CELL_COLUMNS: Fixed = &[
    (Kind::Text, "metric"),
    (Kind::Number, "mean ci95_low ci95_high p50 p95 p99 min max"),
    (Kind::Whole, "n samples failed invalid"),
    (
        Kind::Number,
        "p50_ci95_low p50_ci95_high p95_ci95_low p95_ci95_high p99_ci95_low p99_ci95_high",
    ),
];
const DIFFERENCE_COLUMNS: Fixed = &[
    (Kind::Text, "metric"),
    (Kind::Whole, "cell against"),
    (Kind::Number, "mean ci95_low ci95_high percent"),
    (Kind::Whole, "n"),
    (Kind::Text, "verdict"),
    (Kind::Number, "median median_ci95_low median_ci95_high median_percent"),
    (Kind::Text, "median_verdict"),
];
