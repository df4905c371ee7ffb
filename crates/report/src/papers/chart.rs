//! A study's figure with our curves added.

use trackbed_analysis::paper::{Chart, Curve};
use trackbed_measure::lists::distinct;
use trackbed_measure::results::FactorKind;

use crate::page::words;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// Points of a curve that are marked; more would merge into the line.
const POINTS_MAX: usize = 40;

pub(crate) fn plot(chart: &Chart) -> Plot {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let names = distinct(points().map(|point| point.x.clone()));
    // Transfers of a run are counted, not measured.
    let is_counted = chart.x == "sample";
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let numbers = numbers.filter(|_| !is_counted);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN_POSITIVE, f64::max);
    let x_most = most(&mut numbers.iter().flatten().copied());
    let factor = FactorKind::named(if is_counted { "transfer" } else { &chart.x });
    let unit = if factor.kind == "share" { SHARE } else { &factor.unit };
    let (x_times, x_name) = readable(&factor.title, unit, x_most);
    let scale = match &numbers {
        Some(_) => Scale::Ends(-0.04 * x_most * x_times, 1.04 * x_most * x_times),
        None => Scale::Names(names.clone()),
    };
    let (y_times, y_name) = match chart.metric.strip_suffix(", % more") {
        Some(metric) => (1.0, format!("gain in {} (%)", words::name_and_unit(metric).0)),
        None => {
            let (name, unit) = words::name_and_unit(&chart.metric);
            readable(&name, unit, most(&mut points().filter_map(|point| point.ours)))
        }
    };
    let (mut keys, mut marks) = (Vec::new(), Vec::new());
    for (number, curve) in chart.curves.iter().enumerate() {
        let look = Look::series(number);
        let is_marked = curve.points.len() <= POINTS_MAX;
        // In a category, curves stand side by side, so that equal values do not hide one another.
        let aside = (number as f64 - (chart.curves.len() - 1) as f64 / 2.0) * ASIDE;
        let place = |x: &str| match &numbers {
            Some(_) => x.parse().map_or(f64::NAN, |x: f64| x * x_times),
            None => {
                names.iter().position(|name| name == x).map_or(f64::NAN, |at| at as f64 + aside)
            }
        };
        let is_joined = numbers.is_some();
        keys.push(if is_joined {
            Key::curve(look, is_marked, &curve.name)
        } else {
            Key::dot(look, Fill::Full, &curve.name)
        });
        let marked = Marked { look, is_marked, is_joined, times: y_times };
        marked.add(curve, place, &mut marks);
    }
    if marks.iter().any(|mark| matches!(mark, Mark::Whisker(..))) {
        keys.push(Key::interval(Look::INK, true, "95 % confidence interval"));
    }
    if points().any(|point| point.study.is_some()) {
        keys.push(Key::dot(Look::INK, Fill::White, "from the study"));
    }
    let (x, y) = (Axis::new(x_name, scale), Axis::new(y_name, Scale::Zero));
    let panels = vec![Panel { title: String::new(), x, y, marks }];
    Plot { keys, panels, aspect: 0.5, panel_width_min: 1.0, ..Plot::default() }
}

/// The distance of curves in a category, whose width is 1.
const ASIDE: f64 = 0.12;
const SHARE: &str = "share";

/// The number that a quantity with values up to `most` is multiplied with to be read, and what its axis is called.
fn readable(name: &str, unit: &str, most: f64) -> (f64, String) {
    let name =
        ["workload ", "environment "].iter().find_map(|key| name.strip_prefix(key)).unwrap_or(name);
    match unit {
        "" => (1.0, name.to_owned()),
        "ms" if most >= 10_000.0 => (1e-3, format!("{name} (s)")),
        SHARE => (100.0, format!("{name} (%)")),
        unit => (1.0, format!("{name} ({unit})")),
    }
}

struct Marked {
    look: Look,
    is_marked: bool,
    /// Whether its points are joined by a line.
    is_joined: bool,
    times: f64,
}

impl Marked {
    fn add(&self, curve: &Curve, place: impl Fn(&str) -> f64, marks: &mut Vec<Mark>) {
        let Marked { look, times, .. } = *self;
        if self.is_joined {
            let ours = curve.points.iter();
            let ours = ours.filter_map(|point| Some([place(&point.x), point.ours? * times]));
            marks.push(Mark::Line(look, ours.collect()));
        }
        for point in &curve.points {
            let x = place(&point.x);
            if let Some([low, high]) = point.ci95.filter(|[low, high]| low < high) {
                marks.push(Mark::Whisker(look, [x, low * times], [x, high * times]));
            }
            let dots = [(point.ours, Fill::Full), (point.study, Fill::White)];
            let dots = dots.into_iter().filter(|_| self.is_marked);
            marks.extend(dots.filter_map(|(y, fill)| Some(Mark::Dot(look, [x, y? * times], fill))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::tests::held;
    use super::*;

    #[test]
    fn points_are_at_their_values_and_every_mark_is_in_the_legend() {
        let plot = plot(&held().charts[0]);
        let [panel] = &plot.panels[..] else { panic!("{plot:?}") };
        let [tcp, quic] = [0, 1].map(Look::series);
        for mark in [
            Mark::Line(tcp, vec![[0.0, 10.0], [10.0, 20.0]]),
            Mark::Dot(tcp, [10.0, 20.0], Fill::Full),
            Mark::Whisker(quic, [10.0, 11.0], [10.0, 13.0]),
            Mark::Dot(quic, [0.0, 9.0], Fill::White),
        ] {
            assert!(panel.marks.contains(&mark), "{mark:?} in {panel:?}");
        }
        let texts: Vec<&str> = plot.keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(texts, ["tcp", "quic", "95 % confidence interval", "from the study"]);
        assert_eq!([&*panel.x.name, &*panel.y.name], ["loss (%)", "completion (ms)"]);
    }

    #[test]
    fn categories_have_no_line_and_long_times_are_in_seconds() {
        let mut chart = held().charts.remove(0);
        chart.x = "scheduler".to_owned();
        for point in chart.curves.iter_mut().flat_map(|curve| &mut curve.points) {
            point.x = format!("at {}", point.x);
            point.ours = point.ours.map(|ms| ms * 1e4);
        }
        let panel = plot(&chart).panels.remove(0);
        assert!(!panel.marks.iter().any(|mark| matches!(mark, Mark::Line(..))), "{panel:?}");
        let quic = Mark::Dot(Look::series(1), [1.0 + ASIDE / 2.0, 120.0], Fill::Full);
        assert!(panel.marks.contains(&quic), "{panel:?}");
        assert_eq!(panel.y.name, "completion (s)");
    }
}
