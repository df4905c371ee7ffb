//! Axes of pictures.

use std::fmt::{self, Write as _};

use trackbed_outward::printable_line;

use crate::number::short;

/// A linear axis, or a logarithmic one if values are positive and far apart.
pub(crate) struct Axis {
    pub low: f64,
    pub high: f64,
    is_log: bool,
    /// Positions of the ends in the picture.
    ends: [f64; 2],
}

impl Axis {
    /// With room for all finite `values`, and for zero unless it is logarithmic.
    pub fn of(values: impl Iterator<Item = f64>, is_difference: bool, ends: [f64; 2]) -> Axis {
        let (least, most) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
        let is_log = !is_difference && least > 0.0 && most / least > LOG_FROM;
        if is_log {
            return Axis { low: least / 1.5, high: most * 1.5, is_log, ends };
        }
        let (least, most) = (least.min(0.0), most.max(0.0));
        let room = ((most - least) * 0.08).max(1e-9);
        let low = if least < 0.0 { least - room } else { 0.0 };
        Axis { low, high: most + room, is_log, ends }
    }

    /// A linear axis from zero.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, ends: [f64; 2]) -> Axis {
        let high = values.filter(|value| value.is_finite()).fold(1e-9, f64::max);
        Axis { low: 0.0, high: high * 1.02, is_log: false, ends }
    }

    /// Draws a line from `left` to `right` at each tick of a vertical axis, with its number.
    pub(crate) fn write_grid(&self, [left, right]: [f64; 2], out: &mut String) -> fmt::Result {
        self.ticks().into_iter().try_for_each(|tick| {
            let at = self.place(tick);
            writeln!(
                out,
                "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                left - 6.0,
                at + 4.0,
                short(tick)
            )
        })
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

    /// Powers of ten, or four to ten values that are 1, 2 or 5 times a power of ten.
    pub fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let decades = self.low.log10().ceil() as i32..=self.high.log10().floor() as i32;
            let steps: &[f64] = if decades.clone().count() < 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let below = self.low.log10().floor() as i32;
            let all = (below..=*decades.end())
                .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
            return all.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        let span = self.high - self.low;
        let power = 10_f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= 8.0).unwrap_or(span);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|k| k as f64 * step).take_while(|tick| *tick <= self.high).collect()
    }
}

/// From this ratio of the largest to the smallest value, an axis is logarithmic.
const LOG_FROM: f64 = 30.0;

/// Writes a text at a place; `anchor` is the part of the text that stands there.
pub(crate) fn write_label(
    [x, y]: [f64; 2],
    anchor: &str,
    text: &str,
    out: &mut String,
) -> fmt::Result {
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
}

pub(crate) fn escaped(text: &str) -> String {
    printable_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_ticks() {
        let axis = |low, high, is_log| Axis { low, high, is_log, ends: [0.0, 1.0] };
        assert_eq!(axis(-16.2, 1.2, false).ticks(), [-15.0, -10.0, -5.0, 0.0]);
        assert_eq!(axis(0.0, 216.0, false).ticks(), [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(axis(0.7, 1_500.0, true).ticks(), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(axis(1.5, 60.0, true).ticks(), [2.0, 5.0, 10.0, 20.0, 50.0]);
    }
}
