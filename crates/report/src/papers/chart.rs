//! A study's figure with our curves added.

use trackbed_analysis::paper::{Chart, Curve};
use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;

use crate::page::words;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// Points of a curve that are marked; more would merge into the line.
const POINTS_MAX: usize = 40;

/// The picture.
pub(crate) fn plot(chart: &Chart) -> Plot {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let names = distinct(points().map(|point| point.x.clone()));
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let place = |x: &str| match &numbers {
        Some(_) => x.parse().unwrap_or(f64::NAN),
        None => names.iter().position(|name| name == x).map_or(f64::NAN, |at| at as f64),
    };
    let scale = match &numbers {
        Some(numbers) => {
            let most = numbers.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            Scale::Ends(-0.04 * most, 1.04 * most)
        }
        None => Scale::Names(names.clone()),
    };
    let y = metrics::find(&chart.metric).map(|metric| words::metric(metric.name));
    let (mut keys, mut marks) = (Vec::new(), Vec::new());
    for (number, curve) in chart.curves.iter().enumerate() {
        let look = Look::series(number);
        let is_marked = curve.points.len() <= POINTS_MAX;
        keys.push(Key::curve(look, is_marked, &curve.name));
        add(curve, look, is_marked, place, &mut marks);
    }
    if marks.iter().any(|mark| matches!(mark, Mark::Whisker(..))) {
        keys.push(Key::interval(Look::INK, true, "95 % confidence interval"));
    }
    if points().any(|point| point.study.is_some()) {
        keys.push(Key::dot(Look::INK, Fill::White, "from the study"));
    }
    let y = Axis::new(y.unwrap_or_else(|| chart.metric.clone()), Scale::Zero);
    let x = Axis::new(chart.x.replace('_', " "), scale);
    let panels = vec![Panel { title: String::new(), x, y, marks }];
    Plot { keys, panels, aspect: 0.5, panel_width_min: 1.0, ..Plot::default() }
}

/// Adds the marks of a curve.
fn add(
    curve: &Curve,
    look: Look,
    is_marked: bool,
    place: impl Fn(&str) -> f64,
    marks: &mut Vec<Mark>,
) {
    let ours = curve.points.iter().filter_map(|point| Some([place(&point.x), point.ours?]));
    marks.push(Mark::Line(look, ours.collect()));
    for point in &curve.points {
        let x = place(&point.x);
        if let Some([low, high]) = point.ci95.filter(|[low, high]| low < high) {
            marks.push(Mark::Whisker(look, [x, low], [x, high]));
        }
        let dots = [(point.ours, Fill::Full), (point.study, Fill::White)];
        let dots = dots.into_iter().filter(|_| is_marked);
        marks.extend(dots.filter_map(|(y, fill)| Some(Mark::Dot(look, [x, y?], fill))));
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
            Mark::Line(tcp, vec![[0.0, 10.0], [0.1, 20.0]]),
            Mark::Dot(tcp, [0.1, 20.0], Fill::Full),
            Mark::Whisker(quic, [0.1, 11.0], [0.1, 13.0]),
            Mark::Dot(quic, [0.0, 9.0], Fill::White),
        ] {
            assert!(panel.marks.contains(&mark), "{mark:?} in {panel:?}");
        }
        let texts: Vec<&str> = plot.keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(texts, ["tcp", "quic", "95 % confidence interval", "from the study"]);
        assert_eq!(panel.y.name, "completion (ms)");
    }
}
