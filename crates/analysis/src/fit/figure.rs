//! Figures that runs should give, and how far they are from them.

use std::fmt;
use std::str::FromStr;

use trackbed_measure::metrics;
use trackbed_scenario::Cell;
use trackbed_stats::{Runs, Sample, Statistic};

use crate::advise::{Bound, Names, Need};

/// A figure that runs should give: `median rtt[protocol=quic] = 23 ms +- 5 %`.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// As it was written.
    pub text: String,
    statistic: Statistic,
    /// The metric.
    pub metric: String,
    /// Factors and values of the cells; the figure is the mean over all cells that have them.
    pub cells: Vec<(String, String)>,
    /// The wanted value, in the unit of the metric.
    pub value: f64,
    /// How far off it may be.
    pub tolerance: f64,
}

/// What runs gave for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Given {
    /// The value.
    pub value: f64,
    /// The standard error of its mean over runs; 0 for one run.
    pub standard_error: f64,
}

impl FromStr for Figure {
    type Err = String;

    /// Reads `[STATISTIC] METRIC[[FACTOR=VALUE, ...]] = VALUE +- TOLERANCE`. The tolerance is in percent of the
    /// value, or in its unit.
    fn from_str(text: &str) -> Result<Figure, String> {
        let refuse = |why: &str| format!("\"{text}\" {why}; {HELP}");
        let (stated, tolerance) = ["+-", "+/-", "±"]
            .into_iter()
            .find_map(|sign| text.split_once(sign))
            .ok_or_else(|| refuse("has no tolerance"))?;
        let (quantity, cells, value) = parts(stated).ok_or_else(|| refuse("is not a figure"))?;
        let names = Names::new(metrics::registry().iter().map(|metric| metric.name), [""; 0]);
        let (statistic, metric) = Need::quantity(quantity, &names)
            .map_err(|why| format!("\"{text}\": {}; {HELP}", why.message()))?;
        let number = |value: &str| {
            let value = value.trim();
            if let Ok(number) = value.parse::<f64>() {
                return Ok(number);
            }
            let need = Need::parse(&format!("{metric} = {value}"), &names);
            match need.map_err(|why| format!("\"{text}\": {}; {HELP}", why.message()))? {
                Need::Compare(one) if let Bound::Value(value) = one.bound => Ok(value),
                _ => Err(refuse("compares with no number")),
            }
        };
        let value = number(value)?;
        let tolerance = match tolerance.trim().strip_suffix('%') {
            Some(percent) => {
                let percent: f64 =
                    percent.trim().parse().map_err(|_| refuse("has no tolerance"))?;
                value.abs() * percent / 100.0
            }
            None => number(tolerance)?,
        };
        if !(value.is_finite() && tolerance.is_finite() && tolerance > 0.0) {
            return Err(refuse("has a tolerance of zero, which no run can meet"));
        }
        let cells = cells.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| refuse("has a factor without value"))?;
            Ok((name.trim().replace('-', "_"), value.trim().to_owned()))
        };
        let cells = cells.map(pair).collect::<Result<_, String>>()?;
        Ok(Figure { text: text.trim().to_owned(), statistic, metric, cells, value, tolerance })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The quantity, the cells in brackets, and the value.
fn parts(stated: &str) -> Option<(&str, &str, &str)> {
    match stated.split_once('[') {
        None => stated.split_once('=').map(|(quantity, value)| (quantity, "", value)),
        Some((quantity, rest)) => {
            let (cells, value) = rest.split_once(']')?;
            Some((quantity, cells, value.trim_start().strip_prefix('=')?))
        }
    }
}

const HELP: &str = "write for example \"goodput[protocol=tcp] = 2.4 Mbit/s +- 10 %\"";

impl Figure {
    /// The cells that the figure is about.
    ///
    /// # Errors
    /// If there are none, with what there is.
    pub fn find(&self, cells: &[Cell]) -> Result<Vec<usize>, String> {
        let has = |cell: &Cell, name: &str, value: &str| {
            cell.factors.iter().any(|(own, is)| own == name && is.to_string() == value)
        };
        let fits = |(_, cell): &(usize, &Cell)| {
            self.cells.iter().all(|(name, value)| has(cell, name, value))
        };
        let found: Vec<usize> =
            cells.iter().enumerate().filter(fits).map(|(index, _)| index).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let lacking = self
            .cells
            .iter()
            .find(|(name, value)| !cells.iter().any(|cell| has(cell, name, value)));
        let Some((name, value)) = lacking else {
            return Err(format!("{self}: no cell has all of these factors at once"));
        };
        let values = cells.iter().flat_map(|cell| &cell.factors);
        let values = values.filter(|(own, _)| own == name).map(|(_, value)| value.to_string());
        let values = trackbed_measure::lists::distinct(values);
        Err(match values.as_slice() {
            [] => {
                let names =
                    cells.iter().flat_map(|cell| cell.factors.iter().map(|(name, _)| name.clone()));
                let names = trackbed_measure::lists::distinct(names).join(", ");
                format!("{self}: the scenario has no factor {name:?}; it has {names}")
            }
            values => {
                format!("{self}: no cell has {name} {value}; there are {}", values.join(", "))
            }
        })
    }

    /// What runs gave: for each cell, the samples of its runs. None if a cell has no value.
    pub fn given(&self, cells: &[Vec<&[f64]>]) -> Option<Given> {
        let one = |runs: &Vec<&[f64]>| match self.statistic {
            Statistic::Mean => {
                let means = runs.iter().filter_map(|run| Some(Sample::new(run).ok()?.mean()));
                Sample::new(&means.collect::<Vec<_>>()).ok().map(|means| means.mean())
            }
            statistic => of_all(&Sample::new(&runs.concat()).ok()?, statistic),
        };
        let values: Vec<f64> = cells.iter().map(one).collect::<Option<_>>()?;
        let mean = Sample::new(&values).ok()?.mean();
        let errors: Vec<f64> = cells.iter().map(|runs| self.standard_error(runs)).collect();
        let variance: f64 = errors.iter().map(|error| error * error).sum();
        Some(Given { value: mean, standard_error: variance.sqrt() / cells.len() as f64 })
    }

    /// The standard error over the runs of a cell; of a quantile, a quarter of its 95 % interval. 0 for one run.
    fn standard_error(&self, runs: &[&[f64]]) -> f64 {
        let estimate =
            Runs::new(runs.iter().copied()).ok().filter(|_| self.statistic != Statistic::Mean);
        let estimate = estimate.and_then(|runs| runs.estimate(self.statistic).ok());
        if let Some([low, high]) = estimate.and_then(|estimate| estimate.interval.closed()) {
            return (high - low) / 4.0;
        }
        let each = runs.iter().filter_map(|run| of_all(&Sample::new(run).ok()?, self.statistic));
        let each: Vec<f64> = each.collect();
        let deviation = Sample::new(&each).map_or(0.0, |each| each.standard_deviation());
        deviation / (each.len().max(1) as f64).sqrt()
    }

    /// How far a value is from the wanted one, in tolerances.
    pub fn distance(&self, given: Option<f64>) -> f64 {
        given.map_or(f64::INFINITY, |value| (value - self.value).abs() / self.tolerance)
    }
}

fn of_all(sample: &Sample, statistic: Statistic) -> Option<f64> {
    Some(match statistic {
        Statistic::Mean => sample.mean(),
        Statistic::Quantile(p) => sample.quantile(p).ok()?,
        Statistic::Min => sample.min(),
        Statistic::Max => sample.max(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_with_units_and_tolerances() {
        let figure: Figure =
            "median rtt [protocol=quic, handshake=new] = 0.2 s +- 5 %".parse().unwrap();
        assert_eq!(
            (figure.metric.as_str(), figure.value, figure.tolerance),
            ("rtt_ms", 200.0, 10.0)
        );
        assert_eq!(
            figure.cells,
            [("protocol".into(), "quic".into()), ("handshake".into(), "new".into())]
        );
        let figure: Figure = "goodput_mbps = 2.4 +- 100 kbit/s".parse().unwrap();
        assert!((figure.tolerance - 0.1).abs() < 1e-12 && figure.cells.is_empty());
        for (text, why) in [
            ("goodput = 2 Mbit/s", "has no tolerance"),
            ("goodput = 2 Mbit/s +- 0 %", "tolerance of zero"),
            ("goodput +- 3 %", "is not a figure"),
            ("goodput[protocol] = 2 Mbit/s +- 3 %", "factor without value"),
            ("goodness = 2 +- 3 %", "unknown metric"),
            ("goodput = 2 apples +- 3 %", "is not a unit of"),
        ] {
            let error = text.parse::<Figure>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_figure_is_the_mean_over_its_cells_and_scatters_over_runs() {
        let figure: Figure = "goodput = 2 Mbit/s +- 10 %".parse().unwrap();
        let cells = [vec![&[1.0][..], &[2.0]], vec![&[3.0], &[4.0]]];
        let given = figure.given(&cells).unwrap();
        assert_eq!(given.value, 2.5);
        // The mean of two means, each with a deviation of 0.707 over the root of two runs.
        assert!((given.standard_error - 0.125_f64.sqrt()).abs() < 1e-12, "{given:?}");
        assert!((figure.distance(Some(given.value)) - 2.5).abs() < 1e-12);
        assert_eq!(figure.given(&[vec![&[][..]]]), None);
        assert_eq!(figure.distance(None), f64::INFINITY);
    }
}
