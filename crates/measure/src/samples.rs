//! All samples as CSV, one line each, for pandas, R or a spreadsheet.

use std::io;

use crate::results::{CellResult, RunResult, factor_names};

/// Writes every sample: the cell and its factors, the run, the metric, which sample of that run,
/// and the value. The order is that of `runs`; failed runs have no lines.
///
/// # Errors
/// If `sink` does.
pub fn write(cells: &[CellResult], runs: &[RunResult], sink: impl io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(sink);
    let factors = factor_names(cells);
    let mut heading = vec!["cell"];
    heading.extend(factors.iter().map(String::as_str));
    heading.extend(["run", "metric", "sample", "value"]);
    writer.write_record(&heading)?;
    for run in runs {
        let Some(samples) = run.outcome.samples() else { continue };
        let Some(cell) = cells.get(run.cell as usize) else { continue };
        let mut start = vec![run.cell.to_string()];
        start.extend(factors.iter().map(|name| cell.factor_text(name)));
        start.push(run.run.to_string());
        for (metric, values) in samples {
            for (index, value) in values.iter().enumerate() {
                let mut line = start.clone();
                line.extend([metric.clone(), index.to_string(), value.to_string()]);
                writer.write_record(&line)?;
            }
        }
    }
    writer.flush()
}
