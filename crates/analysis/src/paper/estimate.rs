//! Numbers that statements are about, from the runs of cells.

use trackbed_archive::{Counted, DirectoryError};
use trackbed_stats::{Runs, Statistic, paired, scaled_difference};

use super::reference::{ReferenceStatement, Selector};
use super::verdict::Found;
use crate::aggregate::run_means;

pub(super) struct Ours<'a> {
    pub counted: Counted<'a>,
}

/// The samples of a metric in each run of a cell; none where the run failed.
type Samples = Vec<Option<Vec<f64>>>;
/// The mean of a metric in each run of a cell.
type Means = Vec<Option<f64>>;

impl Ours<'_> {
    /// What the runs give for a statement; none where a cell was not run.
    pub fn found(&self, statement: &ReferenceStatement) -> Result<Option<Found>, DirectoryError> {
        let Some(metric) = &statement.metric else { return Ok(None) };
        let statistic = statement.statistic.statistic();
        let Some(against) = &statement.against else {
            let samples = match statement.over.as_slice() {
                [] => self.samples(&statement.cell, metric)?,
                places => self.of_all(places, &statement.cell, metric)?,
            };
            return Ok(samples.and_then(|samples| value(&samples, statistic)));
        };
        let sides = Sides {
            ours: self,
            cell: (&statement.cell, metric),
            against: (against, statement.against_metric.as_ref().unwrap_or(metric)),
        };
        match (&statement.beyond, statement.over.as_slice()) {
            (Some(place), _) => sides.widening(place),
            (None, [_, ..]) => sides.on_the_whole(&statement.over),
            (None, []) if statistic != Statistic::Mean => sides.difference_of(statistic),
            (None, []) if statement.direction.is_some() => sides.direction(),
            (None, []) => sides.difference(),
        }
    }

    /// By how much the mean of a cell is more than that of another, in percent.
    pub fn difference(
        &self,
        metric: &String,
        cell: &Selector,
        against: &Selector,
    ) -> Result<Option<Found>, DirectoryError> {
        Sides { ours: self, cell: (cell, metric), against: (against, metric) }.difference()
    }

    /// The samples of a metric in the runs of the first cell that fits.
    pub fn samples(
        &self,
        selector: &Selector,
        metric: &str,
    ) -> Result<Option<Samples>, DirectoryError> {
        let Some(index) = selector.find_planned(&self.counted.plan.cells) else { return Ok(None) };
        let mut samples = vec![None; self.counted.plan.runs as usize];
        for run in &self.counted.of(index as u32)?.0 {
            let values = run.outcome.samples().and_then(|samples| samples.get(metric));
            if let Some(slot) = samples.get_mut(run.run as usize) {
                *slot = values.filter(|values| !values.is_empty()).cloned();
            }
        }
        Ok(Some(samples))
    }

    /// The means of a metric in the runs of the cells at all of `places`, as samples of one run.
    fn of_all(
        &self,
        places: &[Selector],
        cell: &Selector,
        metric: &str,
    ) -> Result<Option<Samples>, DirectoryError> {
        let of = |place: &Selector| self.means(&cell.with(place), metric);
        let means: Option<Vec<Means>> = places.iter().map(of).collect::<Result<_, _>>()?;
        let of_run = |means: &[Means], run: usize| means.iter().map(|it| *it.get(run)?).collect();
        let runs = 0..self.counted.plan.runs as usize;
        Ok(means.map(|means| runs.map(|run| of_run(&means, run)).collect()))
    }

    fn means(&self, selector: &Selector, metric: &str) -> Result<Option<Means>, DirectoryError> {
        let Some(index) = selector.find_planned(&self.counted.plan.cells) else { return Ok(None) };
        let (runs, _) = self.counted.of(index as u32)?;
        Ok(Some(run_means(&runs, metric, self.counted.plan.runs)))
    }
}

/// A statistic of samples that are grouped in runs.
pub(super) fn value(samples: &[Option<Vec<f64>>], statistic: Statistic) -> Option<Found> {
    let runs = Runs::new(samples.iter().flatten().map(Vec::as_slice)).ok()?;
    let estimate = runs.estimate(statistic).ok()?;
    Some(Found { value: estimate.value, ci95: estimate.interval.closed(), runs: estimate.runs })
}

/// With at least this number of pairs, a direction is judged by means, which the studies print; with
/// fewer, by quotients.
pub const MANY: usize = 120;

/// Two cells, each with its metric.
struct Sides<'a> {
    ours: &'a Ours<'a>,
    cell: (&'a Selector, &'a String),
    against: (&'a Selector, &'a String),
}

impl Sides<'_> {
    /// By how much the mean of `cell` is more than that of `against`, in percent.
    fn difference(&self) -> Result<Option<Found>, DirectoryError> {
        let Some([cell, against]) = self.means(&Selector::default())? else { return Ok(None) };
        Ok(relative(&cell, &against))
    }

    /// By how much `cell` is more than `against`. For few pairs of runs, this is the mean of the logarithms of
    /// their quotients: if all pairs have the same sign, it is significant even if the runs of one side vary
    /// widely. For many pairs, and where a value is zero and has no logarithm, the means are compared.
    fn direction(&self) -> Result<Option<Found>, DirectoryError> {
        let Some(sides) = self.means(&Selector::default())? else { return Ok(None) };
        let has_nothing = sides.iter().flatten().flatten().any(|value| *value <= 0.0);
        match has_nothing || sides[0].iter().flatten().count() >= MANY {
            true => self.difference(),
            false => self.on_the_whole(&[Selector::default()]),
        }
    }

    /// The same of another statistic. The interval is that of the difference, in percent of what `against`
    /// has: the uncertainty of the latter alone is left out.
    fn difference_of(&self, statistic: Statistic) -> Result<Option<Found>, DirectoryError> {
        let cell = self.ours.samples(self.cell.0, self.cell.1)?;
        let against = self.ours.samples(self.against.0, self.against.1)?;
        let (Some(cell), Some(against)) = (cell, against) else { return Ok(None) };
        let first: Vec<Option<&[f64]>> = cell.iter().map(Option::as_deref).collect();
        let second: Vec<Option<&[f64]>> = against.iter().map(Option::as_deref).collect();
        let Some(base) = value(&against, statistic).filter(|base| base.value > 0.0) else {
            return Ok(None);
        };
        let found = scaled_difference(&first, &second, statistic, 1.0).ok().map(|estimate| {
            let percent = |difference: f64| difference / base.value * 100.0;
            let ci95 = estimate.interval.closed().map(|ends| ends.map(percent));
            Found { value: percent(estimate.value), ci95, runs: estimate.runs }
        });
        Ok(found)
    }

    /// By how much the quotient of the two is larger than at `place`.
    fn widening(&self, place: &Selector) -> Result<Option<Found>, DirectoryError> {
        let (Some(there), Some(here)) =
            (self.logarithm(&Selector::default())?, self.logarithm(place)?)
        else {
            return Ok(None);
        };
        Ok(change(&here, &there))
    }

    /// The mean of the quotient's logarithm over places.
    fn on_the_whole(&self, places: &[Selector]) -> Result<Option<Found>, DirectoryError> {
        let mut sum: Option<Means> = None;
        for place in places {
            let Some(logarithms) = self.logarithm(place)? else { return Ok(None) };
            let add = |(sum, more): (Option<f64>, &Option<f64>)| Some(sum? + (*more)?);
            sum = Some(match sum {
                None => logarithms,
                Some(sum) => sum.into_iter().zip(&logarithms).map(add).collect(),
            });
        }
        let count = places.len() as f64;
        let mean: Means = sum.unwrap_or_default().into_iter().map(|s| Some(s? / count)).collect();
        let nothing: Means = mean.iter().map(|mean| mean.map(|_| 0.0)).collect();
        Ok(change(&nothing, &mean))
    }

    /// The logarithm of the quotient of the two at a place, run by run.
    fn logarithm(&self, place: &Selector) -> Result<Option<Means>, DirectoryError> {
        let Some([cell, against]) = self.means(place)? else { return Ok(None) };
        let logarithm = |value: f64| (value > 0.0).then(|| libm::log(value));
        let quotient = |(cell, against): (&Option<f64>, &Option<f64>)| {
            Some(logarithm((*cell)?)? - logarithm((*against)?)?)
        };
        Ok(Some(cell.iter().zip(&against).map(quotient).collect()))
    }

    fn means(&self, place: &Selector) -> Result<Option<[Means; 2]>, DirectoryError> {
        let cell = self.ours.means(&self.cell.0.with(place), self.cell.1)?;
        let against = self.ours.means(&self.against.0.with(place), self.against.1)?;
        Ok(cell.zip(against).map(|(cell, against)| [cell, against]))
    }
}

/// By how much the mean of `cell` is more than that of `against`, in percent.
fn relative(cell: &Means, against: &Means) -> Option<Found> {
    let pairs = paired(against, cell).ok()?;
    let relative = pairs.relative()?;
    let ci95 = Some(relative.interval.map(|end| end * 100.0));
    Some(Found { value: relative.mean * 100.0, ci95, runs: pairs.n[0] })
}

/// By how many percent a quotient changes from one to the other, of their logarithms.
fn change(from: &Means, to: &Means) -> Option<Found> {
    let pairs = paired(from, to).ok()?;
    let percent = |logarithm: f64| (libm::exp(logarithm) - 1.0) * 100.0;
    let ci95 = Some(pairs.difference_interval.map(percent));
    Some(Found { value: percent(pairs.difference), ci95, runs: pairs.n[0] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half as much without loss, a quarter with it: the quotient halves.
    #[test]
    fn a_gap_widens_by_the_change_of_the_quotient() {
        let logarithms = |quotient: f64| -> Means { vec![Some(quotient.ln()); 6] };
        let found = change(&logarithms(0.5), &logarithms(0.25)).unwrap();
        assert!((found.value + 50.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.runs, 6);
    }

    #[test]
    fn a_difference_is_in_percent_of_the_other_cell() {
        let runs =
            |factor: f64| -> Means { (1..=6).map(|k| Some(f64::from(k) * factor)).collect() };
        let found = relative(&runs(3.0), &runs(4.0)).unwrap();
        assert!((found.value + 25.0).abs() < 1e-9, "{found:?}");
    }

    /// Nine runs of ten take 100 ms, one 1,100: the median does not notice, the mean does.
    #[test]
    fn the_median_leaves_the_tail_out() {
        let samples: Vec<Option<Vec<f64>>> =
            (0..40).map(|k| Some(vec![if k % 10 == 0 { 1_100.0 } else { 100.0 }])).collect();
        let median = value(&samples, Statistic::Quantile(0.5)).unwrap();
        assert_eq!((median.value, median.ci95), (100.0, Some([100.0, 100.0])));
        assert_eq!(value(&samples, Statistic::Mean).unwrap().value, 200.0);
    }
}
