//! Figures of a study that show a single run.

use std::collections::BTreeMap;

use trackbed_measure::results::CellResult;
use trackbed_measure::timeline::{self, Timeline};

use super::reference::{OverTime, ReferenceCurve};
use super::statement::{Chart, Curve, Point};

pub(super) const SECONDS: &str = "time_s";

/// The charts, without the curves of missing cells.
pub(super) fn charts(
    figures: Vec<OverTime>,
    cells: &[CellResult],
    repeat: impl Fn(usize, u32) -> Option<Timeline>,
) -> Vec<Chart> {
    let mut repeated: BTreeMap<(usize, u32), Timeline> = BTreeMap::new();
    let mut chart = |figure: OverTime| {
        let mut curves = Vec::new();
        for ReferenceCurve { name, cell, of } in figure.curve {
            let Some(index) = cell.find(cells) else { continue };
            let key = (index, figure.run);
            if !repeated.contains_key(&key) {
                repeated.extend(repeat(index, figure.run).map(|timeline| (key, timeline)));
            }
            let Some(timeline) = repeated.get(&key) else { continue };
            curves.push(Curve { name, points: each_second(timeline, &of) });
        }
        Chart {
            number: figure.number,
            title: figure.title,
            x: SECONDS.to_owned(),
            metric: "throughput_mbps".to_owned(),
            curves,
        }
    };
    figures.into_iter().map(&mut chart).filter(|chart| !chart.curves.is_empty()).collect()
}

/// The mean throughput in each second, summed over all curves in `names`.
fn each_second(timeline: &Timeline, names: &[String]) -> Vec<Point> {
    let is_meant = |curve: &&timeline::Curve| {
        curve.chart == timeline::Chart::Throughput && names.contains(&curve.name)
    };
    let mut seconds: Vec<f64> = Vec::new();
    for curve in timeline.curves.iter().filter(is_meant) {
        for (second, mean) in means(&curve.points).into_iter().enumerate() {
            seconds.resize(seconds.len().max(second + 1), 0.0);
            seconds[second] += mean;
        }
    }
    let point = |(second, mbps): (usize, f64)| Point {
        x: second.to_string(),
        ours: Some(mbps),
        ci95: None,
        study: None,
    };
    seconds.into_iter().enumerate().map(point).collect()
}

/// The mean of the points in each second; points are evenly spaced.
fn means(points: &[(f64, f64)]) -> Vec<f64> {
    let of_second = |points: &[(f64, f64)]| {
        points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64
    };
    points.chunk_by(|a, b| a.0.floor() == b.0.floor()).map(of_second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of half a second: the mean of 2 and 4 is 3, plus 5 on the other path is 8.
    #[test]
    fn paths_are_added_second_by_second() {
        let curve = |name: &str, values: &[f64]| timeline::Curve {
            chart: timeline::Chart::Throughput,
            name: name.to_owned(),
            points: (0..).zip(values).map(|(k, value)| (f64::from(k) / 2.0, *value)).collect(),
        };
        let curves = vec![curve("down", &[2.0, 4.0, 1.0]), curve("second", &[5.0, 5.0])];
        let timeline = Timeline { curves, ..Timeline::default() };
        let points = each_second(&timeline, &["down".to_owned(), "second".to_owned()]);
        let found: Vec<_> = points.iter().map(|point| (point.x.as_str(), point.ours)).collect();
        assert_eq!(found, [("0", Some(8.0)), ("1", Some(1.0))]);
    }
}
