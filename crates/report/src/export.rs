//! Results as tables for other programs: CSV, and JSON line by line.

use std::collections::BTreeSet;
use std::io;

use serde_json::{Map, Value, json};
use trackbed_measure::results::{Document, Outcome, RunResult, factor_names};

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A row for each sample of each metric.
    Samples,
    /// A row for each run, with its means; failed ones with the reason.
    Runs,
    /// A row for each metric of each cell, with its distribution.
    Cells,
    /// A row for each paired comparison.
    Differences,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated, with a heading (RFC 4180).
    Csv,
    /// A JSON object in each line.
    Ndjson,
}

/// Writes a table row by row.
#[derive(Debug)]
pub struct Exporter<'a, W: io::Write> {
    document: &'a Document,
    content: Content,
    columns: Vec<String>,
    factors: Vec<String>,
    /// Of runs, the metrics that have a column.
    metrics: Vec<String>,
    sink: Sink<W>,
}

#[derive(Debug)]
enum Sink<W: io::Write> {
    Csv(Box<csv::Writer<W>>),
    Ndjson(W),
}

impl<'a, W: io::Write> Exporter<'a, W> {
    /// Begins a table, and writes it whole if it is one of cells or differences.
    ///
    /// # Errors
    /// If `sink` does not take it.
    pub fn new(
        document: &'a Document,
        content: Content,
        format: Format,
        sink: W,
    ) -> io::Result<Exporter<'a, W>> {
        let factors = factor_names(&document.cells);
        let of_cell = || document.cells.iter().flat_map(|cell| cell.metrics.keys().cloned());
        let metrics: Vec<String> = of_cell().collect::<BTreeSet<_>>().into_iter().collect();
        let fixed = |before: &[&str], middle: &[String], after: &[&str]| {
            let own =
                |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            [own(before), middle.to_vec(), own(after)].concat()
        };
        let columns = match content {
            Content::Samples => fixed(&["cell"], &factors, &["run", "metric", "sample", "value"]),
            Content::Runs => {
                let head = fixed(&["cell"], &factors, &["run", "outcome", "reason"]);
                [head, metrics.clone()].concat()
            }
            Content::Cells => fixed(&["cell"], &factors, &CELL_COLUMNS),
            Content::Differences => fixed(&DIFFERENCE_COLUMNS, &[], &[]),
        };
        let mut sink = match format {
            Format::Csv => Sink::Csv(Box::new(csv::Writer::from_writer(sink))),
            Format::Ndjson => Sink::Ndjson(sink),
        };
        if let Sink::Csv(csv) = &mut sink {
            csv.write_record(&columns)?;
        }
        let mut exporter = Exporter { document, content, columns, factors, metrics, sink };
        match content {
            Content::Cells => exporter.cells()?,
            Content::Differences => exporter.differences()?,
            Content::Samples | Content::Runs => {}
        }
        Ok(exporter)
    }

    /// Writes what the table has of a run.
    ///
    /// # Errors
    /// If the sink does not take it.
    pub fn run(&mut self, run: &RunResult) -> io::Result<()> {
        match self.content {
            Content::Samples => self.samples(run),
            Content::Runs => self.row_of_run(run),
            Content::Cells | Content::Differences => Ok(()),
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// If the sink does not take what is left.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Csv(mut csv) => csv.flush(),
            Sink::Ndjson(mut sink) => sink.flush(),
        }
    }

    fn samples(&mut self, run: &RunResult) -> io::Result<()> {
        let Some(samples) = run.outcome.samples() else { return Ok(()) };
        let head = self.head(run.cell);
        for (metric, values) in samples {
            for (index, value) in values.iter().enumerate() {
                let mut row = head.clone();
                row.extend([json!(run.run), json!(metric), json!(index), json!(value)]);
                self.row(row)?;
            }
        }
        Ok(())
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
        self.row(row)
    }

    fn cells(&mut self) -> io::Result<()> {
        let document = self.document;
        for (index, cell) in document.cells.iter().enumerate() {
            for (metric, s) in &cell.metrics {
                let mut row = self.head(index as u32);
                row.extend([json!(metric), json!(s.mean), json!(s.ci95[0]), json!(s.ci95[1])]);
                row.extend([s.p50, s.p95, s.p99, s.min, s.max].map(|value| json!(value)));
                row.extend([json!(s.n), json!(s.samples), json!(cell.failed), json!(cell.invalid)]);
                self.row(row)?;
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
            self.row(row)?;
        }
        Ok(())
    }

    /// The number of a cell, and its factors.
    fn head(&self, cell: u32) -> Vec<Value> {
        let known = self.document.cells.get(cell as usize);
        let factor = |name: &String| known.and_then(|cell| cell.factors.get(name).cloned());
        let factors = self.factors.iter().map(|name| factor(name).unwrap_or(Value::Null));
        std::iter::once(json!(cell)).chain(factors).collect()
    }

    fn row(&mut self, row: Vec<Value>) -> io::Result<()> {
        match &mut self.sink {
            Sink::Csv(csv) => Ok(csv.write_record(row.iter().map(|value| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                // As samples.csv has them: 3, and not 3.0.
                Value::Number(number) if number.is_f64() => {
                    number.as_f64().unwrap_or_default().to_string()
                }
                other => other.to_string(),
            }))?),
            Sink::Ndjson(sink) => {
                let object: Map<String, Value> = self.columns.iter().cloned().zip(row).collect();
                serde_json::to_writer(&mut *sink, &object)?;
                sink.write_all(b"\n")
            }
        }
    }
}

const CELL_COLUMNS: [&str; 13] = [
    "metric",
    "mean",
    "ci95_low",
    "ci95_high",
    "p50",
    "p95",
    "p99",
    "min",
    "max",
    "n",
    "samples",
    "failed",
    "invalid",
];
const DIFFERENCE_COLUMNS: [&str; 9] =
    ["metric", "cell", "against", "mean", "ci95_low", "ci95_high", "percent", "n", "verdict"];
