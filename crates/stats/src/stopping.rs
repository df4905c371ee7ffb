//! Decides when a cell has enough runs.
//!
//! Checking after every run and stopping at the first narrow interval would stop at lucky ones: the
//! probability of error adds up over looks. So there are few looks, after numbers of runs fixed
//! beforehand ([`Looks`]) that grow by a factor, and the first look waits for enough runs (Y. S.
//! Chow and H. Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals
//! for the mean", Ann. Math. Statist. 36, 1965; A. M. Law and W. D. Kelton, "Confidence intervals
//! for steady-state simulations", Oper. Res. 31, 1983).

use crate::{Runs, Statistic, StatsError};

/// The numbers of complete runs after which to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    runs_min: usize,
    runs_max: usize,
    /// Each look comes after this part more than the one before.
    part: usize,
}

/// A precision goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// The statistic over the runs.
    pub statistic: Statistic,
    /// The allowed width of its 95 % confidence interval.
    pub precision: Precision,
}

/// The allowed half width of a 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// As a share of the statistic's magnitude: 0.05 for ± 5 %.
    Relative(f64),
    /// In the values' unit.
    Absolute(f64),
}

impl Looks {
    /// Looks from `runs_min` complete runs on, each after a quarter more than the one before, up to
    /// `runs_max`.
    ///
    /// # Errors
    /// [`StatsError::BadSchedule`] if `runs_min` is below [`MIN_PAIRS`](crate::MIN_PAIRS) or above
    /// `runs_max`. 30 is a good start: with fewer, skewed values stop too early too often.
    pub fn new(runs_min: usize, runs_max: usize) -> Result<Looks, StatsError> {
        match runs_min >= crate::MIN_PAIRS && runs_min <= runs_max {
            true => Ok(Looks { runs_min, runs_max, part: GROWTH_PART }),
            false => Err(StatsError::BadSchedule { runs_min, runs_max }),
        }
    }

    /// The same limits, with looks each after half as many more, for
    /// [`look_error`](crate::look_error).
    pub fn by_halves(self) -> Looks {
        Looks { part: 2, ..self }
    }

    /// All looks, in ascending order; the last is the limit.
    pub fn counts(&self) -> impl Iterator<Item = usize> {
        let Looks { runs_max: last, part, .. } = *self;
        let next = move |count: &usize| {
            (*count < last).then(|| count.saturating_add(count.div_ceil(part)).min(last))
        };
        std::iter::successors(Some(self.runs_min), next)
    }
}

impl Criterion {
    /// Whether these runs are enough, by the intervals of [`Runs::estimate`]. An interval with an
    /// open end is never narrow enough; one of zero width always is. With fewer than
    /// [`MIN_PAIRS`](crate::MIN_PAIRS) runs that have values the answer is no.
    ///
    /// # Errors
    /// [`StatsError::BadTarget`], [`StatsError::OutOfRange`] for a value that is not finite,
    /// [`StatsError::BadProbability`] for the quantile.
    pub fn is_met<'a>(
        &self,
        runs: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<bool, StatsError> {
        let (Precision::Relative(target) | Precision::Absolute(target)) = self.precision;
        if !(target > 0.0 && target <= crate::MAX_MAGNITUDE) {
            return Err(StatsError::BadTarget(target));
        }
        let found = match Runs::new(runs) {
            Ok(runs) if runs.len() >= crate::MIN_PAIRS => runs.estimate(self.statistic)?,
            Ok(_) | Err(StatsError::Empty) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some([low, high]) = found.interval.closed() else { return Ok(false) };
        let half_width_max = match self.precision {
            Precision::Absolute(width) => width,
            Precision::Relative(share) => share * found.value.abs(),
        };
        Ok(0.5 * (high - low) <= half_width_max)
    }
}

/// The number of runs grows by a quarter from look to look: on average a cell makes a tenth more
/// runs than it needs, and ten times as many runs take ten looks.
const GROWTH_PART: usize = 4;

#[cfg(test)]
mod tests;
