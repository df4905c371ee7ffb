//! What the study printed beside what was measured here.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Observation, Observations, Setting, devices, published};

/// A quantity in a setting, as the study printed it and as it was observed here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// Where.
    pub setting: Setting,
    /// The metric, as results call it.
    pub metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub statistic: String,
    /// What the study printed, for each of its devices that has it.
    pub printed: Vec<Printed>,
    /// The value here.
    pub here: f64,
    /// The ends of its 95 % interval; `None` where it is open.
    pub ci95: [Option<f64>; 2],
}

/// A figure of the study: a range where its text gives no more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Printed {
    /// Of which device.
    pub device: String,
    /// The lower end.
    pub low: f64,
    /// The upper end; the same where it is a value.
    pub high: f64,
}

/// The figures of the study that have a counterpart among `observations`, in its order.
pub fn figures(observations: &Observations) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for device in devices() {
        for theirs in published(&device).all {
            let (Some(low), Some(high)) = (theirs.low, theirs.high) else { continue };
            let printed = Printed { device: device.clone(), low, high };
            let is_known = |figure: &&mut Figure| {
                figure.setting == theirs.setting
                    && figure.metric == theirs.metric
                    && figure.statistic == theirs.statistic
            };
            match figures.iter_mut().find(is_known) {
                Some(figure) => figure.printed.push(printed),
                None => figures.extend(figure(&theirs, printed, observations)),
            }
        }
    }
    figures
}

fn figure(
    theirs: &Observation,
    printed: Printed,
    Observations { all, .. }: &Observations,
) -> Option<Figure> {
    let Observation { setting, metric, statistic, .. } = theirs;
    let ours = all.iter().find(|ours| {
        ours.setting == *setting && ours.metric == *metric && ours.statistic == *statistic
    })?;
    Some(Figure {
        setting: setting.clone(),
        metric: metric.clone(),
        statistic: statistic.clone(),
        printed: vec![printed],
        here: ours.value?,
        ci95: [ours.low, ours.high],
    })
}
