//! The round-trip time and the retransmission timeout (RFC 6298), estimated as Linux does.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::time::nanos;

use crate::config::RtoBounds;
use crate::sequence::Seq;
use crate::tick::Tick;

#[derive(Debug, Default)]
pub(crate) struct RttEstimator {
    bounds: RtoBounds,
    srtt_ns: u64,
    deviation_ns: u64,
    /// Largest mean deviation of the current round trip.
    deviation_max_ns: u64,
    /// Four mean deviations, kept as a maximum that decays once a round trip.
    variance_ns: u64,
    round_end: Seq,
    min: WindowedMin,
    /// The latest sample; zero before the first one.
    pub latest: Duration,
    /// The timeout before back-off.
    pub rto: Duration,
    /// Linux counts the timeout in ticks.
    tick: Option<Tick>,
}

impl RttEstimator {
    pub(crate) fn new(bounds: RtoBounds, tick: Option<Tick>) -> RttEstimator {
        RttEstimator { bounds, rto: bounds.initial, tick, ..RttEstimator::default() }
    }

    /// Takes a sample that Karn's algorithm allows. `una` and `next` delimit the round trips.
    pub(crate) fn sample(&mut self, rtt: Duration, una: Seq, next: Seq) {
        self.latest = rtt;
        let rtt = nanos(rtt).max(1);
        let least = nanos(self.bounds.min);
        if self.srtt_ns == 0 {
            // RFC 6298 (2.2).
            self.srtt_ns = rtt;
            self.deviation_ns = rtt / 2;
            self.variance_ns = (4 * self.deviation_ns).max(least);
            self.deviation_max_ns = self.variance_ns;
            self.round_end = next;
        } else {
            self.update(rtt);
            if una.after(self.round_end) {
                self.end_round(least);
                self.round_end = next;
            }
        }
        let rto = Duration::from_nanos(self.srtt_ns + self.variance_ns);
        self.rto = self.bound(self.tick.map_or(rto, |tick| tick.rounded_up(rto)));
    }

    /// RFC 6298 (2.3), with a finer gain while the round-trip time falls: a fall is no reason to
    /// wait longer.
    fn update(&mut self, rtt: u64) {
        let error = rtt as i64 - self.srtt_ns as i64;
        self.srtt_ns = (self.srtt_ns as i64 + error / 8).max(1) as u64;
        let mut correction = error.abs() - self.deviation_ns as i64;
        if error < 0 && correction > 0 {
            correction /= 8;
        }
        self.deviation_ns = (self.deviation_ns as i64 + correction / 4).max(0) as u64;
        self.deviation_max_ns = self.deviation_max_ns.max(4 * self.deviation_ns);
        self.variance_ns = self.variance_ns.max(self.deviation_max_ns);
    }

    fn end_round(&mut self, least: u64) {
        if self.deviation_max_ns < self.variance_ns {
            self.variance_ns -= (self.variance_ns - self.deviation_max_ns) / 4;
        }
        self.deviation_max_ns = least;
    }

    /// Takes a sample for the minimum, which also looks at the latest segment acknowledged.
    pub(crate) fn sample_min(&mut self, rtt: Duration, now: Time) {
        self.min.sample(rtt, now);
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt_ns > 0).then(|| Duration::from_nanos(self.srtt_ns))
    }

    /// The smallest round-trip time of the last five minutes.
    pub(crate) fn min(&self) -> Option<Duration> {
        self.min.best()
    }

    /// The mean deviation (RTTVAR).
    pub(crate) fn deviation(&self) -> Duration {
        Duration::from_nanos(self.deviation_ns)
    }

    /// The timeout after `backoff` doublings (RFC 6298 (5.5)).
    pub(crate) fn backed_off(&self, backoff: u32) -> Duration {
        self.bound(self.rto.saturating_mul(1 << backoff.min(30)))
    }

    /// The least allowance above the round-trip time.
    pub(crate) fn least_allowance(&self) -> Duration {
        self.bounds.min
    }

    fn bound(&self, rto: Duration) -> Duration {
        rto.min(self.bounds.max)
    }
}

/// The minimum over a window that slides: the best sample, and the best ones after it.
#[derive(Debug, Default)]
struct WindowedMin {
    best: [Option<(Time, Duration)>; 3],
}

impl WindowedMin {
    fn best(&self) -> Option<Duration> {
        self.best[0].map(|(_, rtt)| rtt)
    }

    fn sample(&mut self, rtt: Duration, now: Time) {
        let entry = Some((now, rtt));
        let (Some(first), Some(second), Some(third)) = (self.best[0], self.best[1], self.best[2])
        else {
            self.best = [entry; 3];
            return;
        };
        if rtt <= first.1 || now - third.0 > MIN_WINDOW {
            self.best = [entry; 3];
            return;
        }
        if rtt <= second.1 {
            self.best[1] = entry;
            self.best[2] = entry;
        } else if rtt <= third.1 {
            self.best[2] = entry;
        }
        self.slide(entry, now);
    }

    /// Promotes the later candidates when the best one leaves the window, and renews them when
    /// they stem from the same part of it.
    fn slide(&mut self, entry: Option<(Time, Duration)>, now: Time) {
        let at = |slot: Option<(Time, Duration)>| slot.map_or(Time::ZERO, |(at, _)| at);
        let age = now - at(self.best[0]);
        if age > MIN_WINDOW {
            self.best = [self.best[1], self.best[2], entry];
            if now - at(self.best[0]) > MIN_WINDOW {
                self.best = [self.best[1], self.best[2], entry];
            }
        } else if at(self.best[1]) == at(self.best[0]) && age > MIN_WINDOW / 4 {
            self.best[1] = entry;
            self.best[2] = entry;
        } else if at(self.best[2]) == at(self.best[1]) && age > MIN_WINDOW / 2 {
            self.best[2] = entry;
        }
    }
}

/// How long a minimum counts.
const MIN_WINDOW: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// The same time in a hundred round trips.
    fn sample_for_long(rtt: &mut RttEstimator, sample: Duration) {
        (0..100).for_each(|round| rtt.sample(sample, Seq(round * 10 + 1), Seq(round * 10 + 10)));
    }

    #[test]
    fn the_timeout_is_the_round_trip_time_and_at_least_200_ms() {
        let mut rtt = RttEstimator::new(RtoBounds::default(), None);
        assert_eq!(rtt.rto, ms(1000));
        sample_for_long(&mut rtt, ms(50));
        assert_eq!((rtt.srtt(), rtt.rto), (Some(ms(50)), ms(250)));
        assert_eq!(rtt.backed_off(3), ms(2000));
        assert_eq!(rtt.backed_off(60), Duration::from_secs(120));
    }

    #[test]
    fn the_first_sample_counts_with_half_of_itself_as_deviation() {
        let mut rtt = RttEstimator::new(RtoBounds::default(), None);
        rtt.sample(ms(300), Seq(1), Seq(2));
        assert_eq!((rtt.srtt(), rtt.rto), (Some(ms(300)), ms(900)));
    }

    /// Then it doubles in whole ticks.
    #[test]
    fn the_timeout_is_in_whole_ticks_if_there_are_any() {
        let mut rtt = RttEstimator::new(RtoBounds::default(), Tick::new(ms(4), ms(0)));
        sample_for_long(&mut rtt, Duration::from_micros(36_700));
        assert_eq!((rtt.rto, rtt.backed_off(3)), (ms(240), ms(1_920)));
    }

    #[test]
    fn the_minimum_forgets_after_five_minutes() {
        let mut min = WindowedMin::default();
        min.sample(ms(10), Time::ZERO);
        for second in 1..=600 {
            min.sample(ms(20), Time::from_millis(second * 1000));
            let expected = if second <= 300 { 10 } else { 20 };
            assert_eq!(min.best(), Some(ms(expected)), "{second} s");
        }
    }
}
