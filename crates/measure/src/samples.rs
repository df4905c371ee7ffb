//! All samples as CSV, one line each, for pandas, R or a spreadsheet.

use std::borrow::Cow;
use std::io;

use crate::answered::{Answered, Message};
use crate::results::{CellResult, RunResult, factor_names};

/// `text` as a cell that no spreadsheet program mistakes for a formula: after an apostrophe if it
/// begins like one. Numbers stay unchanged.
pub fn cell(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The metric.
    pub metric: &'a str,
    /// The sample's number in the run, from 0.
    pub index: usize,
    /// The value, in the metric's unit.
    pub value: f64,
    /// Of a round trip: its message.
    pub message: Option<Message>,
}

/// The samples of a run; a failed run has none.
pub fn of(run: &RunResult) -> impl Iterator<Item = Sample<'_>> {
    run.outcome.samples().into_iter().flatten().flat_map(move |(metric, values)| {
        let answered = run.answered.iter().filter(move |_| metric == "rtt_ms");
        let mut messages = answered.flat_map(Answered::iter);
        let sample =
            move |(index, &value)| Sample { metric, index, value, message: messages.next() };
        values.iter().enumerate().map(sample)
    })
}

/// Writes samples: the cell and its factors, the run, the metric, the sample and its message.
#[derive(Debug)]
pub struct Writer<W: io::Write> {
    csv: csv::Writer<W>,
    /// The values of each cell's factors, in the order of the heading.
    factors: Vec<Vec<String>>,
}

impl<W: io::Write> Writer<W> {
    /// Writes the heading to `sink`.
    ///
    /// # Errors
    /// If `sink` does.
    pub fn new(cells: &[CellResult], sink: W) -> io::Result<Writer<W>> {
        let mut csv = csv::Writer::from_writer(sink);
        let names = factor_names(cells);
        let mut heading = vec![Cow::Borrowed("cell")];
        heading.extend(names.iter().map(|name| cell(name)));
        heading.extend(
            ["run", "metric", "sample", "value", "phone", "message", "due_ms"].map(Cow::Borrowed),
        );
        csv.write_record(heading.iter().map(|name| &**name))?;
        let text = |of: &CellResult, name: &String| cell(&of.factor_text(name)).into_owned();
        let texts = |of: &CellResult| names.iter().map(|name| text(of, name)).collect();
        let factors = cells.iter().map(texts).collect();
        Ok(Writer { csv, factors })
    }

    /// Writes every sample of a run; a failed run, or one of an unknown cell, has none.
    ///
    /// # Errors
    /// If the sink does.
    pub fn write(&mut self, run: &RunResult) -> io::Result<()> {
        let Some(factors) = self.factors.get(run.cell as usize) else { return Ok(()) };
        let (number, text) = (run.cell.to_string(), run.run.to_string());
        for Sample { metric, index, value, message } in of(run) {
            self.csv.write_field(&number)?;
            factors.iter().try_for_each(|factor| self.csv.write_field(factor))?;
            let (index, value) = (index.to_string(), value.to_string());
            self.csv.write_field(&text)?;
            self.csv.write_field(&*cell(metric))?;
            self.csv.write_field(index)?;
            self.csv.write_field(value)?;
            let [phone, number, due] = message.map_or_else(Default::default, |it| {
                [it.phone.to_string(), it.number.to_string(), it.due_ms.to_string()]
            });
            self.csv.write_record([phone, number, due])?;
        }
        Ok(())
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If the sink does.
    pub fn finish(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_and_every_number_stays_one() {
        for text in ["=HYPERLINK(\"x\")", "+1+2", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        for text in ["-1.5", "+3", "-1e-9", "2%", "quic", "", "0-rtt"] {
            assert_eq!(cell(text), text);
        }
    }
}
