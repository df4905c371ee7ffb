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
}

/// Decides for one cell when it has enough runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopping {
    looks: Looks,
    /// The last look that was not successful.
    passed: usize,
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

/// Whether a cell has enough runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Continue until this number of runs is complete, then ask again.
    Continue {
        /// The number of runs at the next look.
        until: usize,
    },
    /// Every criterion was met after this number of runs; later ones must be left out.
    Reached {
        /// The number of runs that count.
        runs: usize,
    },
    /// The limit was reached without meeting all criteria.
    Exhausted {
        /// The number of runs that count: the limit.
        runs: usize,
    },
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
            true => Ok(Looks { runs_min, runs_max }),
            false => Err(StatsError::BadSchedule { runs_min, runs_max }),
        }
    }

    /// The first look after more than `runs` complete runs; `None` once the limit is reached.
    pub fn after(&self, runs: usize) -> Option<usize> {
        self.counts().find(|count| *count > runs)
    }

    /// All looks, in ascending order; the last is the limit.
    pub fn counts(&self) -> impl Iterator<Item = usize> {
        let last = self.runs_max;
        let next = move |count: &usize| {
            (*count < last).then(|| count.saturating_add(count.div_ceil(GROWTH_PART)).min(last))
        };
        std::iter::successors(Some(self.runs_min), next)
    }
}

impl Criterion {
    /// Whether these runs are enough, by the intervals of [`Runs::estimate`]. An interval with an
    /// open end is never narrow enough; one of zero width always is. Runs without values do not
    /// count; with fewer than [`MIN_PAIRS`](crate::MIN_PAIRS) others the answer is no.
    ///
    /// # Errors
    /// [`StatsError::BadTarget`], [`StatsError::OutOfRange`] for a value that is not finite,
    /// [`StatsError::BadProbability`] for the quantile.
    pub fn is_met(&self, runs: &[Option<&[f64]>]) -> Result<bool, StatsError> {
        self.check()?;
        let found = match Runs::new(runs.iter().flatten().copied()) {
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

    fn check(&self) -> Result<(), StatsError> {
        let (Precision::Relative(target) | Precision::Absolute(target)) = self.precision;
        match target > 0.0 && target <= crate::MAX_MAGNITUDE {
            true => Ok(()),
            false => Err(StatsError::BadTarget(target)),
        }
    }
}

impl Stopping {
    /// No look has been taken yet.
    pub fn new(looks: Looks) -> Stopping {
        Stopping { looks, passed: 0 }
    }

    /// Whether the complete runs are enough: whether at some look all `criteria` are met. Each
    /// criterion comes with the values of its metric: entry k is run k, or `None` if it failed. All
    /// lists have one entry per complete run, from the first on. Without criteria the first look is
    /// enough.
    ///
    /// The answer depends only on the values: asking late, with more runs than the next look needs,
    /// gives the same answer as asking in time. Criteria and earlier runs must stay the same from
    /// one call to the next, because looks are not repeated.
    ///
    /// # Errors
    /// As [`Criterion::is_met`], and [`StatsError::LengthMismatch`] if lists differ in length.
    pub fn decide(
        &mut self,
        criteria: &[(Criterion, &[Option<&[f64]>])],
    ) -> Result<Decision, StatsError> {
        let Some((_, first)) = criteria.first() else {
            return Ok(Decision::Reached { runs: self.looks.runs_min });
        };
        let complete = first.len();
        for (criterion, runs) in criteria {
            criterion.check()?;
            if runs.len() != complete {
                return Err(StatsError::LengthMismatch { first: complete, second: runs.len() });
            }
        }
        while let Some(count) = self.looks.after(self.passed) {
            if count > complete {
                return Ok(Decision::Continue { until: count });
            }
            let mut met = true;
            for (criterion, runs) in criteria {
                met = met && criterion.is_met(&runs[..count])?;
            }
            if met {
                return Ok(Decision::Reached { runs: count });
            }
            self.passed = count;
        }
        Ok(Decision::Exhausted { runs: self.looks.runs_max })
    }
}

/// The number of runs grows by a quarter from look to look: on average a cell makes a tenth more
/// runs than it needs, and ten times as many runs take ten looks.
const GROWTH_PART: usize = 4;

#[cfg(test)]
mod tests;
