//! The signal of a station in one direction: fading, what the base station knows of it, and which
//! blocks fail.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Ratio, Rng, Seed, Time};

use crate::medium::Course;

/// Bits per resource element of the indices 1 to 15 (TS 36.213 Table 7.2.3-1, which TS 38.214 Table
/// 5.2.2.1-2 repeats).
pub(super) const EFFICIENCY: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];

/// The signal at which 10 % of the blocks of an index fail: evenly from -7 to 20 dB. This line is used
/// for the curves of a link-level simulator without fading, as in the planning tool RaPlaT.
fn threshold(index: usize) -> f64 {
    -7.0 + 27.0 / 14.0 * index as f64
}

/// How fast errors vanish above the threshold: from 90 % to 1 % within 1 dB.
const SLOPE: f64 = 6.8;
/// First transmissions that fail for each that arrives: an index may lose 10 % (TS 36.213 7.2.3).
const ODDS: f64 = 0.1 / 0.9;
/// The outer loop of link adaptation: an error costs this many dB, a success gives back as much as
/// makes the target the balance. And how far it goes.
const STEP: f64 = 0.5;
const OFFSETS: (f64, f64) = (-15.0, 2.0);
/// Reports are 5 ms apart (TS 36.213 Table 7.2.2-1A) and in use 5 ms later.
const REPORT_NANOS: u64 = 5_000_000;

#[derive(Debug)]
pub(super) struct Channel {
    mean: f64,
    /// Has the mean, if the station moves.
    course: Option<Arc<Course>>,
    fading: f64,
    coherence_nanos: u64,
    /// The constant error rate, if there is one.
    bler: Option<Ratio>,
    fades: Rng,
    errors: Rng,
    offset: f64,
    /// The last fades drawn, with their numbers.
    drawn: [(u64, f64); 4],
}

impl Channel {
    /// With this mean, unless there is a course, and this standard deviation in dB.
    pub(super) fn new(
        (mean, fading): (f64, f64),
        course: Option<Arc<Course>>,
        coherence: Duration,
        bler: Option<Ratio>,
        seed: &Seed,
    ) -> Channel {
        let (fades, errors) = (seed.stream("fading"), seed.stream("errors"));
        let coherence_nanos = coherence.as_nanos() as u64;
        let (offset, drawn) = (0.0, [(u64::MAX, 0.0); 4]);
        Channel { mean, course, fading, coherence_nanos, bler, fades, errors, offset, drawn }
    }

    /// The signal-to-noise ratio in dB. Between independent normal numbers, one each coherence time,
    /// it turns from one into the next so that the variance stays, however often it is read.
    fn snr(&mut self, at: u64) -> f64 {
        let course = self.course.as_ref();
        let mean = course.map_or(self.mean, |course| course.snr_at(Time::from_nanos(at)));
        if self.fading == 0.0 {
            return mean;
        }
        let (number, rest) = (at / self.coherence_nanos, at % self.coherence_nanos);
        let angle = FRAC_PI_2 * rest as f64 / self.coherence_nanos as f64;
        let (from, to) = (self.draw(number), self.draw(number + 1));
        mean + self.fading * (from * libm::cos(angle) + to * libm::sin(angle))
    }

    fn draw(&mut self, number: u64) -> f64 {
        let kept = &mut self.drawn[(number % 4) as usize];
        if kept.0 != number {
            *kept = (number, self.fades.numbered(number + 1).normal());
        }
        kept.1
    }

    /// The index, from 0, that the base station chooses now, from an old report.
    pub(super) fn index(&mut self, now: Time) -> usize {
        let report = (now.as_nanos() / REPORT_NANOS).saturating_sub(1);
        let known = self.snr(report * REPORT_NANOS) + self.offset;
        (1..EFFICIENCY.len()).rev().find(|index| threshold(*index) <= known).unwrap_or(0)
    }

    /// Whether a block fails. Draws once. The receiver adds up the transmissions of a block, so n of
    /// them have n times the signal.
    pub(super) fn fails(&mut self, now: Time, index: usize, transmission: u32) -> bool {
        if let Some(bler) = self.bler {
            return self.errors.chance(bler);
        }
        let gain = 10.0 * libm::log10(f64::from(transmission));
        let above = self.snr(now.as_nanos()) + gain - threshold(index);
        let fails = self.errors.unit() < 1.0 / (1.0 + libm::exp(SLOPE * above) / ODDS);
        // A success at the best index says nothing about better ones.
        if transmission == 1 && (fails || index + 1 < EFFICIENCY.len()) {
            let change = if fails { -STEP } else { STEP * ODDS };
            self.offset = (self.offset + change).clamp(OFFSETS.0, OFFSETS.1);
        }
        fails
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_PI;

    use super::*;

    fn channel(mean: f64, fading: f64, coherence_ms: u64) -> Channel {
        let (coherence, seed) = (Duration::from_millis(coherence_ms), Seed::of_run(1, 0));
        Channel::new((mean, fading), None, coherence, None, &seed)
    }

    #[test]
    fn link_adaptation_keeps_errors_at_its_target() {
        for (mean, fading, coherence_ms, least, most) in [
            (10.0, 4.0, 50, 0.08, 0.12),
            (10.0, 4.0, 5, 0.08, 0.12),
            (5.0, 8.0, 20, 0.08, 0.12),
            (13.0, 0.0, 1, 0.08, 0.12),
            // The best index is good enough.
            (40.0, 0.0, 1, 0.0, 0.0),
        ] {
            let mut channel = channel(mean, fading, coherence_ms);
            let fails = |now: &Time| {
                let index = channel.index(*now);
                channel.fails(*now, index, 1)
            };
            let rate = (0..100_000).map(Time::from_millis).filter(fails).count() as f64 / 1e5;
            assert!((least..=most).contains(&rate), "{mean}, {fading} dB, {coherence_ms}: {rate}");
        }
    }

    #[test]
    fn fading_has_its_deviation_and_forgets() {
        let mut channel = channel(0.0, 4.0, 50);
        let values: Vec<f64> = (0..200_000).map(|n| channel.snr(n * 12_500_000)).collect();
        // In quarters of the coherence time. At a whole one 1 / pi is shared, at two nothing.
        for (lag, share, slack) in [(0, 1.0, 0.03), (4, FRAC_1_PI, 0.02), (8, 0.0, 0.02)] {
            let pairs = values.iter().zip(&values[lag..]).map(|(a, b)| a * b / 16.0);
            let mean = pairs.sum::<f64>() / (values.len() - lag) as f64;
            assert!((mean - share).abs() < slack, "{lag}: {mean}");
        }
    }
}
