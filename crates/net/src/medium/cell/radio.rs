//! The signal of a station in one direction: fading, what the base station knows of it, and which
//! blocks fail.

use std::f64::consts::FRAC_PI_2;

use trackbed_core::{Ratio, Rng, Seed, Time};

use super::Settings;

/// Bits per resource element of the indices 1 to 15 (TS 36.213 Table 7.2.3-1, which TS 38.214 Table
/// 5.2.2.1-2 repeats).
const EFFICIENCY: [f64; 15] = [
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

/// The share of first transmissions that an index may lose (TS 36.213 7.2.3).
const TARGET: f64 = 0.1;

/// The outer loop of link adaptation: an error costs this many dB, a success gives back as much as
/// makes the target the balance.
const STEP: f64 = 0.5;

/// How far the outer loop goes; above the report there is little to gain.
const OFFSETS: (f64, f64) = (-15.0, 2.0);

/// Reports are 5 ms apart (TS 36.213 Table 7.2.2-1A) and in use 5 ms later.
const REPORT_NANOS: u64 = 5_000_000;

/// One direction of one station.
#[derive(Debug)]
pub(super) struct Channel {
    mean: f64,
    fading: f64,
    coherence_nanos: u64,
    /// The constant error rate, if there is one.
    bler: Option<Ratio>,
    fades: Rng,
    errors: Rng,
    offset: f64,
    /// The last fades drawn, with their numbers.
    drawn: [Option<(u64, f64)>; 4],
}

impl Channel {
    pub(super) fn new(settings: &Settings, mean: f64, seed: &Seed) -> Channel {
        Channel {
            mean,
            fading: settings.fading,
            coherence_nanos: settings.coherence.as_nanos() as u64,
            bler: settings.bler,
            fades: seed.stream("fading"),
            errors: seed.stream("errors"),
            offset: 0.0,
            drawn: [None; 4],
        }
    }

    /// The signal-to-noise ratio in dB. Between independent normal numbers, one each coherence time,
    /// it turns from one into the next so that the variance stays. Nothing depends on who asks when.
    fn snr(&mut self, at: u64) -> f64 {
        if self.fading == 0.0 {
            return self.mean;
        }
        let (number, rest) = (at / self.coherence_nanos, at % self.coherence_nanos);
        let angle = FRAC_PI_2 * rest as f64 / self.coherence_nanos as f64;
        let (from, to) = (self.draw(number), self.draw(number + 1));
        self.mean + self.fading * (from * libm::cos(angle) + to * libm::sin(angle))
    }

    fn draw(&mut self, number: u64) -> f64 {
        let place = (number % 4) as usize;
        match self.drawn[place] {
            Some((of, fade)) if of == number => fade,
            _ => {
                let fade = self.fades.numbered(number + 1).normal();
                self.drawn[place] = Some((number, fade));
                fade
            }
        }
    }

    /// The index, from 0, that the base station chooses now, from an old report.
    pub(super) fn index(&mut self, now: Time) -> usize {
        let report = (now.as_nanos() / REPORT_NANOS).saturating_sub(1);
        let known = self.snr(report * REPORT_NANOS) + self.offset;
        (1..EFFICIENCY.len()).rev().find(|index| threshold(*index) <= known).unwrap_or(0)
    }

    /// Bytes per resource element.
    pub(super) fn efficiency(index: usize) -> f64 {
        EFFICIENCY[index] / 8.0
    }

    /// Whether a block fails. Draws once. The receiver adds up the transmissions of a block, so n of
    /// them have n times the signal.
    pub(super) fn fails(&mut self, now: Time, index: usize, transmission: u32) -> bool {
        if let Some(bler) = self.bler {
            return self.errors.chance(bler);
        }
        let gain = 10.0 * libm::log10(f64::from(transmission.max(1)));
        let above = self.snr(now.as_nanos()) + gain - threshold(index);
        let odds = TARGET / (1.0 - TARGET) * libm::exp(-SLOPE * above);
        let fails = self.errors.unit() * (1.0 + odds) < odds || odds.is_infinite();
        if transmission == 1 {
            let change = match fails {
                true => -STEP,
                // A success at the best index says nothing about better ones.
                false if index + 1 == EFFICIENCY.len() => 0.0,
                false => STEP * TARGET / (1.0 - TARGET),
            };
            self.offset = (self.offset + change).clamp(OFFSETS.0, OFFSETS.1);
        }
        fails
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::parameter::Kind;

    use super::*;

    /// A block each millisecond. The error rate is that of first transmissions.
    fn error_rate(mean: f64, fading: &str, coherence: &str) -> f64 {
        let keys = [("fading", Kind::Number, fading), ("coherence", Kind::Time, coherence)];
        let given = keys.map(|(name, kind, text)| (name, kind.parse(text).unwrap()));
        let settings = super::super::settings(&given).unwrap();
        let mut channel = Channel::new(&settings, mean, &Seed::of_run(1, 0));
        let mut failed = 0;
        for millis in 0..100_000 {
            let now = Time::from_millis(millis);
            let index = channel.index(now);
            failed += u32::from(channel.fails(now, index, 1));
        }
        f64::from(failed) / 1e5
    }

    #[test]
    fn link_adaptation_keeps_errors_at_its_target_in_fading() {
        for (mean, fading, coherence) in
            [(10.0, "4", "50 ms"), (10.0, "4", "5 ms"), (5.0, "8", "20 ms"), (13.0, "0.01", "1 s")]
        {
            let rate = error_rate(mean, fading, coherence);
            assert!((0.08..0.12).contains(&rate), "{mean} dB, {fading} dB, {coherence}: {rate}");
        }
        assert!(error_rate(40.0, "0.01", "1 s") < 0.001, "the best index is good enough");
    }

    #[test]
    fn fading_has_its_deviation_and_forgets() {
        let given = [("fading", Kind::Number.parse("4").unwrap())];
        let settings = super::super::settings(&given).unwrap();
        let mut channel = Channel::new(&settings, 10.0, &Seed::of_run(1, 0));
        let values: Vec<f64> = (0..200_000).map(|n| channel.snr(n * 12_500_000) - 10.0).collect();
        // Steps of a quarter of the 50 ms of coherence; two of them apart nothing is shared.
        let product = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]).map(|(a, b)| a * b);
            pairs.sum::<f64>() / (values.len() - lag) as f64
        };
        assert!((product(0).sqrt() / 4.0 - 1.0).abs() < 0.02, "{}", product(0).sqrt());
        assert!(product(1) / product(0) > 0.8, "{}", product(1));
        assert!((product(8) / product(0)).abs() < 0.02, "{}", product(8));
        assert_eq!(channel.snr(12_500_000) - 10.0, values[1], "whoever asks when");
    }
}
