//! Scales of axes: from values to places, with round numbers as ticks.

use super::model::{Axis, Mark, Panel, Point, Scale};

/// The scale of an axis, for its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scaled {
    pub low: f64,
    pub high: f64,
    is_log: bool,
    /// Places of the ends in the picture.
    pub ends: [f64; 2],
}

impl Scaled {
    /// For `values`, with some room around them. Ends of intervals make the axis at most twice as long; what
    /// is beyond is drawn as an arrowhead.
    pub fn new(scale: &Scale, values: &[f64], intervals: &[f64]) -> Scaled {
        let [least, most] = extent(values, [f64::INFINITY, f64::NEG_INFINITY]);
        let [least, most] =
            if least > most { extent(intervals, [0.0, 1.0]) } else { [least, most] };
        // A tail would press everything else together; an axis from zero shows ratios better.
        let is_log = least > 0.0
            && match scale {
                Scale::Data => most / least > LOG_FROM[0],
                Scale::Zero => most / least > LOG_FROM[1],
                Scale::Range(low, high) => *low > 0.0 && high / low > LOG_FROM[0],
                _ => false,
            };
        let has_zero = matches!(scale, Scale::Zero | Scale::Difference) && !is_log;
        let [least, most] = if has_zero { [least.min(0.0), most.max(0.0)] } else { [least, most] };
        let within = match is_log {
            true => [least / 2.0, most * 2.0],
            false if least < 0.0 => [2.0 * least - most, 2.0 * most - least],
            false => [(2.0 * least - most).max(0.0), 2.0 * most - least],
        };
        let intervals: Vec<f64> =
            intervals.iter().map(|end| end.clamp(within[0], within[1])).collect();
        let [least, most] = extent(&intervals, [least, most]);
        let [low, high] = match scale {
            Scale::Names(names) => [-0.5, names.len().max(1) as f64 - 0.5],
            Scale::Ends(low, high) | Scale::Range(low, high) => [*low, *high],
            _ if is_log => [least / 1.2, most * 1.2],
            // Zeros only.
            _ if least == 0.0 && most == 0.0 => [0.0, 1.0],
            Scale::Linear => [0.0, most.max(1e-9) * 1.04],
            Scale::Data => {
                let room = ((most - least) * 0.05).max(most.abs() * 1e-3).max(1e-9);
                [least - room, most + room]
            }
            Scale::Zero | Scale::Difference => {
                let room = ((most - least) * 0.08).max(1e-9);
                [if least < 0.0 { least - room } else { 0.0 }, most + room]
            }
        };
        Scaled { low, high, is_log, ends: [0.0, 1.0] }
    }

    /// The scale between these places in the picture.
    pub fn between(self, ends: [f64; 2]) -> Scaled {
        Scaled { ends, ..self }
    }

    /// Its values and places at both ends, and whether it is logarithmic, for a page's script.
    pub fn written(&self) -> String {
        let Scaled { low, high, is_log, ends: [from, to] } = self;
        format!("{low} {high} {from:.1} {to:.1} {}", u8::from(*is_log))
    }

    /// Values beyond an end are drawn at the end.
    pub fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.ends[0] + (self.ends[1] - self.ends[0]) * share
    }

    /// At most about `most` values that are 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, most: f64) -> Vec<f64> {
        let inside = |tick: &f64| (self.low..=self.high).contains(tick);
        if self.is_log {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let of = |steps: &[f64]| -> Vec<f64> {
                let all = decades.clone();
                let all = all.flat_map(|power| steps.iter().map(move |s| s * 10_f64.powi(power)));
                all.filter(inside).collect()
            };
            let all = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(of);
            let fitting = all.iter().find(|ticks| ticks.len() as f64 <= most);
            return fitting.or(all.last()).cloned().unwrap_or_default();
        }
        let span = self.high - self.low;
        let power = 10_f64.powf((span / most).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= most).unwrap_or(span);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|k| k as f64 * step).take_while(|tick| *tick <= self.high).collect()
    }
}

/// The smallest and the largest of the finite `values` and of these `ends`.
fn extent(values: &[f64], ends: [f64; 2]) -> [f64; 2] {
    let finite = values.iter().filter(|value| value.is_finite());
    finite.fold(ends, |[least, most], value| [least.min(*value), most.max(*value)])
}

/// The scales of both axes of `panels` together.
pub(super) fn scales(panels: &[Panel]) -> Option<[Scaled; 2]> {
    let first = panels.first()?;
    let marks = || panels.iter().flat_map(|panel| &panel.marks);
    Some([(&first.x, 0), (&first.y, 1)].map(|(axis, number): (&Axis, usize)| {
        let points = |mark: &Mark| -> Vec<Point> {
            match mark {
                Mark::Line(_, points) => points.clone(),
                Mark::Dot(_, at, _) => vec![*at],
                Mark::Area(_, one, other, _) | Mark::Whisker(_, one, other) => vec![*one, *other],
                Mark::Rule(at) => vec![*at],
                Mark::Value(..) => Vec::new(),
            }
        };
        let along = |is_end: bool| -> Vec<f64> {
            let wanted = marks().filter(|mark| matches!(mark, Mark::Whisker(..)) == is_end);
            wanted.flat_map(points).map(|point| point[number]).collect()
        };
        Scaled::new(&axis.scale, &along(false), &along(true))
    }))
}

/// From these ratios of the largest to the smallest value on, an axis is logarithmic: one that shows the data
/// alone, and one from zero.
const LOG_FROM: [f64; 2] = [8.0, 30.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_ticks() {
        let ticks =
            |low, high, is_log, most| Scaled { low, high, is_log, ends: [0.0, 1.0] }.ticks(most);
        assert_eq!(ticks(-16.2, 1.2, false, 8.0), [-15.0, -10.0, -5.0, 0.0]);
        assert_eq!(ticks(0.0, 216.0, false, 8.0), [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(ticks(0.0, 216.0, false, 3.0), [0.0, 100.0, 200.0]);
        assert_eq!(ticks(0.7, 1_500.0, true, 8.0), [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0]);
        assert_eq!(ticks(0.7, 1_500.0, true, 4.0), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(ticks(1.5, 60.0, true, 8.0), [2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn scales_leave_room_and_values_beyond_them_stay_at_the_end() {
        let ends = |scale: Scale, values: [f64; 2]| {
            let scaled = Scaled::new(&scale, &values, &[]);
            [scaled.low, scaled.high]
        };
        assert_eq!(ends(Scale::Zero, [50.0, 100.0]), [0.0, 108.0]);
        assert_eq!(ends(Scale::Data, [50.0, 100.0]), [47.5, 102.5]);
        assert_eq!(ends(Scale::Data, [1.0, 120.0]), [1.0 / 1.2, 144.0], "logarithmic");
        assert_eq!(ends(Scale::Linear, [1.0, 100.0]), [0.0, 104.0]);
        assert_eq!(ends(Scale::Difference, [-20.0, 5.0]), [-22.0, 7.0]);
        assert_eq!(ends(Scale::Data, [0.0, 0.0]), [0.0, 1.0]);
        assert_eq!(ends(Scale::Names(vec![String::new(); 3]), [0.0, 9.0]), [-0.5, 2.5]);
        // The end of the interval is as far from the values as they are from each other, and no farther.
        let scaled = Scaled::new(&Scale::Data, &[50.0, 100.0], &[60.0, 10_000.0]);
        assert_eq!([scaled.low, scaled.high], [45.0, 155.0]);
        let scaled = Scaled::new(&Scale::Ends(0.0, 10.0), &[], &[]);
        assert_eq!([-3.0, 5.0, 12.0].map(|value| scaled.place(value)), [0.0, 0.5, 1.0]);
        let scaled = Scaled::new(&Scale::Range(1.0, 100.0), &[2.0], &[]);
        assert_eq!([0.1, 10.0].map(|value| scaled.place(value)), [0.0, 0.5]);
    }
}
