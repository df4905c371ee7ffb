//! The schedule of messages: determined in advance by the seed, independent of the protocol.

use std::time::Duration;

use trackbed_core::{Rng, Seed};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intervals {
    Periodic,
    /// Exponential and independent: a Poisson process.
    Poisson,
    /// Each message at its periodic time or up to this much later, uniformly.
    Jittered(Duration),
}

/// The times of a phone's messages since the start, in ascending order, without end.
pub(super) struct Schedule {
    intervals: Intervals,
    period: Duration,
    /// The time of the next message, in nanoseconds since the start.
    turn: u128,
    rng: Rng,
}

impl Schedule {
    /// Messages every `period` on average. A phone that is `alone` begins at the start; several
    /// begin at different times within the first period.
    pub(super) fn new(
        intervals: Intervals,
        period: Duration,
        seed: &Seed,
        (phone, alone): (u32, bool),
    ) -> Schedule {
        let mut rng = seed.stream(&format!("workload/telemetry/intervals/{phone}"));
        let turn = match intervals {
            Intervals::Poisson => exponential(&mut rng, period),
            Intervals::Periodic | Intervals::Jittered(_) if alone => 0,
            Intervals::Periodic | Intervals::Jittered(_) => {
                let mut phases = seed.stream(&format!("workload/telemetry/phase/{phone}"));
                phases.span(Duration::ZERO, period).as_nanos()
            }
        };
        Schedule { intervals, period, turn, rng }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let turn = self.turn;
        let (offset, interval) = match self.intervals {
            Intervals::Periodic => (0, self.period.as_nanos()),
            Intervals::Poisson => (0, exponential(&mut self.rng, self.period)),
            Intervals::Jittered(most) => {
                (self.rng.span(Duration::ZERO, most).as_nanos(), self.period.as_nanos())
            }
        };
        self.turn += interval;
        Some(Duration::from_nanos(u64::try_from(turn + offset).unwrap_or(u64::MAX)))
    }
}

/// An exponential time of the given mean, in nanoseconds.
fn exponential(rng: &mut Rng, mean: Duration) -> u128 {
    (rng.exponential() * mean.as_nanos() as f64).round() as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(10);

    fn times(intervals: Intervals, phone: u32, alone: bool, count: usize) -> Vec<Duration> {
        Schedule::new(intervals, PERIOD, &Seed::of_run(5, 0), (phone, alone)).take(count).collect()
    }

    fn gaps(times: &[Duration]) -> Vec<f64> {
        times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect()
    }

    #[test]
    fn a_phone_that_is_alone_keeps_to_the_beat() {
        let expected: Vec<_> = (0..100).map(|k| PERIOD * k).collect();
        assert_eq!(times(Intervals::Periodic, 0, true, 100), expected);
    }

    /// The phases of 10,000 phones fill the period evenly: a tenth of them in each tenth of it,
    /// within five standard deviations of a binomial count, 30.
    #[test]
    fn several_phones_are_out_of_step() {
        let mut tenths = [0; 10];
        for phone in 0..10_000 {
            let [first, second] = times(Intervals::Periodic, phone, false, 2)[..] else { panic!() };
            assert!(first < PERIOD && second - first == PERIOD, "{first:?} {second:?}");
            tenths[(first.as_nanos() * 10 / PERIOD.as_nanos()) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (850..=1_150).contains(count)), "{tenths:?}");
    }

    /// Exponential gaps of mean m have the variance m², and 1 - 1/e of them are shorter than m.
    /// Over 200,000 the estimates have standard errors of 0.2 %, 0.6 % and 0.1 %; five of these are
    /// allowed.
    #[test]
    fn poisson_gaps_are_exponential() {
        let gaps = gaps(&times(Intervals::Poisson, 0, true, 200_001));
        let (n, mean) = (gaps.len() as f64, PERIOD.as_secs_f64());
        let average = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - average).powi(2)).sum::<f64>() / n;
        let short = gaps.iter().filter(|gap| **gap < mean).count() as f64 / n;
        assert!((average / mean - 1.0).abs() < 0.012, "{average}");
        assert!((variance / mean.powi(2) - 1.0).abs() < 0.032, "{variance}");
        assert!((short - (1.0 - (-1.0_f64).exp())).abs() < 0.006, "{short}");
    }

    /// The number of arrivals in windows of ten periods has mean and variance 10: that
    /// distinguishes a Poisson process from other renewal processes. 20,000 windows: five standard
    /// errors.
    #[test]
    fn poisson_counts_have_their_mean_as_variance() {
        let all = times(Intervals::Poisson, 0, true, 200_000);
        let window = (PERIOD * 10).as_nanos();
        let windows = (all[all.len() - 1].as_nanos() / window) as usize;
        let mut counts = vec![0.0_f64; windows];
        for time in &all {
            if let Some(count) = counts.get_mut((time.as_nanos() / window) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / windows as f64;
        assert!((mean - 10.0).abs() < 0.12, "{mean}");
        assert!((variance - 10.0).abs() < 0.55, "{variance}");
    }

    /// Uniform delays of up to j have the mean j/2, and no message overtakes another.
    #[test]
    fn jittered_messages_stay_within_their_turns() {
        let most = Duration::from_millis(10);
        let times = times(Intervals::Jittered(most), 0, true, 100_000);
        let behind: Vec<f64> = (0..)
            .zip(&times)
            .map(|(k, time)| (*time - PERIOD * k).as_secs_f64() / most.as_secs_f64())
            .collect();
        assert!(behind.iter().all(|share| (0.0..=1.0).contains(share)));
        let mean = behind.iter().sum::<f64>() / behind.len() as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!(times.is_sorted());
    }

    #[test]
    fn the_seed_decides_and_phones_differ() {
        let of = |phone| times(Intervals::Poisson, phone, false, 50);
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }
}
