//! All samples as CSV, one line each, for pandas, R or a spreadsheet.

use std::io;

use crate::results::{CellResult, RunResult, factor_names};

/// Writes samples: the cell and its factors, the run, the metric, which sample of that run, and the
/// value.
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
        let mut heading = vec!["cell"];
        heading.extend(names.iter().map(String::as_str));
        heading.extend(["run", "metric", "sample", "value"]);
        csv.write_record(&heading)?;
        let texts = |cell: &CellResult| names.iter().map(|name| cell.factor_text(name)).collect();
        let factors = cells.iter().map(texts).collect();
        Ok(Writer { csv, factors })
    }

    /// Writes every sample of a run; a failed run, and one of no cell, has none.
    ///
    /// # Errors
    /// If the sink does.
    pub fn write(&mut self, run: &RunResult) -> io::Result<()> {
        let Some(samples) = run.outcome.samples() else { return Ok(()) };
        let Some(factors) = self.factors.get(run.cell as usize) else { return Ok(()) };
        let (cell, number) = (run.cell.to_string(), run.run.to_string());
        for (metric, values) in samples {
            for (index, value) in values.iter().enumerate() {
                self.csv.write_field(&cell)?;
                factors.iter().try_for_each(|factor| self.csv.write_field(factor))?;
                let (index, value) = (index.to_string(), value.to_string());
                self.csv.write_record([&number, metric, &index, &value])?;
            }
        }
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// If the sink does.
    pub fn finish(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}
