//! The quantities that a comparison is asked for.

use trackbed_measure::metrics;
use trackbed_measure::results::RunResult;
use trackbed_stats::{Center, Statistic};

use super::CompareError;
use crate::advise::{Names, Need, words};
use crate::aggregate::{run_means, run_medians, run_values};
use crate::significance::center;

/// What is compared: a metric, or a statistic of each run's values.
#[derive(Clone)]
pub(super) struct Asked {
    /// `rtt_ms`, `p99 rtt_ms`
    pub label: String,
    pub metric: String,
    /// What the values of a run come to, unless that follows from the center: the quantile at this
    /// probability.
    quantile: Option<f64>,
    pub center: Center,
}

impl Asked {
    pub fn plain(metric: &str) -> Asked {
        let (label, center) = (metric.to_owned(), center(metric));
        Asked { label, metric: metric.to_owned(), quantile: None, center }
    }

    pub fn parse(text: &str) -> Result<Asked, CompareError> {
        let none = || CompareError::NoMetric(text.to_owned());
        if metrics::find(text).is_some() {
            return Ok(Asked::plain(text));
        }
        let names = Names::new(metrics::registry().iter().map(|it| it.name), [""; 0]);
        let (statistic, metric) = Need::quantity(text, &names).map_err(|_| none())?;
        let plain = Asked::plain(&metric);
        let named = |quantile| Asked {
            label: format!("{} {metric}", words::statistic(statistic)),
            quantile,
            ..plain.clone()
        };
        match statistic {
            _ if !text.trim().contains(' ') => Ok(plain),
            Statistic::Mean => Ok(Asked { center: Center::Mean, ..named(None) }),
            Statistic::Quantile(p) => Ok(named(Some(p))),
            Statistic::Min | Statistic::Max => Err(none()),
        }
    }

    pub fn of_runs(&self, runs: &[RunResult], count: u32) -> Vec<Option<f64>> {
        match (self.quantile, self.center) {
            (Some(p), _) => run_values(runs, &self.metric, count, |it| it.quantile(p).ok()),
            (None, Center::Mean) => run_means(runs, &self.metric, count),
            (None, Center::Median) => run_medians(runs, &self.metric, count),
        }
    }

    /// A run with fewer values has no such quantile: its largest one would be taken for it.
    pub fn too_few(&self, runs: &[Vec<RunResult>; 2]) -> Option<CompareError> {
        let p = self.quantile?;
        let needed = (1.0 / p.min(1.0 - p) - 1e-9).ceil() as usize;
        let samples = runs.iter().flatten().filter_map(|run| run.outcome.samples());
        let least = samples.filter_map(|it| it.get(&self.metric)).map(Vec::len).min()?;
        (least < needed && needed > 2).then(|| CompareError::FewSamples {
            label: self.label.clone(),
            least,
            needed,
        })
    }
}
