//! The spread of samples as a line of text.

use trackbed_measure::results::MetricSummary;

/// The shared scale of a column of spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// From the smallest sample of all to the largest; logarithmic if a few large ones would
    /// compress the others. `None` if all samples are equal.
    pub fn of<'a>(summaries: impl Iterator<Item = &'a MetricSummary> + Clone) -> Option<Scale> {
        let low = summaries.clone().map(|summary| summary.min).fold(f64::INFINITY, f64::min);
        let high = summaries.map(|summary| summary.max).fold(f64::NEG_INFINITY, f64::max);
        let is_logarithmic = low > 0.0 && high > LOGARITHMIC_FROM * low;
        (low < high).then_some(Scale { low, high, is_logarithmic })
    }

    /// The title of a column on this scale.
    pub fn title(self) -> String {
        let scale = if self.is_logarithmic { ", log" } else { "" };
        format!("min to p95 to max{scale}")
    }

    /// A thin line from the smallest sample to the largest, thick from the median to the 95th
    /// percentile.
    pub fn draw(self, summary: &MetricSummary) -> String {
        let [min, p50, p95, max] =
            [summary.min, summary.p50, summary.p95, summary.max].map(|value| self.place(value));
        let mark = |place: usize| match place {
            _ if place == p50 => '┃',
            _ if (p50..=p95).contains(&place) => '━',
            _ if (min..=max).contains(&place) => '─',
            _ => ' ',
        };
        (0..PLACES).map(mark).collect::<String>().trim_end().to_owned()
    }

    fn place(self, value: f64) -> usize {
        let scaled = |value: f64| if self.is_logarithmic { value.ln() } else { value };
        let [low, high, value] = [self.low, self.high, value].map(scaled);
        let share = (value - low) / (high - low);
        ((share * PLACES as f64) as usize).min(PLACES - 1)
    }
}

/// Characters per line.
const PLACES: usize = 24;
/// Ratio of the largest to the smallest sample from which the scale is logarithmic.
const LOGARITHMIC_FROM: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn summary([min, p50, p95, max]: [f64; 4]) -> MetricSummary {
        MetricSummary { min, p50, p95, max, ..MetricSummary::default() }
    }

    #[test]
    fn lines_stand_where_the_samples_do() {
        let all = [summary([0.0, 6.0, 12.0, 18.0]), summary([12.0, 12.0, 12.0, 24.0])];
        let scale = Scale::of(all.iter()).unwrap();
        assert_eq!(scale.draw(&all[0]), "──────┃━━━━━━──────");
        assert_eq!(scale.draw(&all[1]), "            ┃───────────");
        assert_eq!(scale.title(), "min to p95 to max");
    }

    #[test]
    fn a_wide_range_is_drawn_by_powers() {
        let all = [summary([1.0, 10.0, 100.0, 10_000.0])];
        let scale = Scale::of(all.iter()).unwrap();
        assert_eq!(scale.title(), "min to p95 to max, log");
        assert_eq!(scale.draw(&all[0]), "──────┃━━━━━━───────────");
    }

    #[test]
    fn what_does_not_spread_has_no_scale() {
        assert_eq!(Scale::of([summary([5.0; 4])].iter()), None);
        assert_eq!(Scale::of([].iter()), None);
    }
}
