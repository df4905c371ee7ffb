//! Whether this machine kept up: how late packets were released, and which were lost outside the
//! link models.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use trackbed_core::named;
use trackbed_core::time::nanos;

/// A report of an emulation about its accuracy.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// How late each packet was released, in nanoseconds.
    lateness: Histogram<u64>,
    /// Packets that were lost because a ring or a socket was full, not by a link model.
    pub overflow: u64,
    /// Processor time of the emulating thread.
    pub processor: Duration,
    /// How long it ran.
    pub elapsed: Duration,
}

named! {
    /// The verdict on an emulation.
    #[derive(PartialOrd, Ord)]
    pub enum Verdict {
        /// The machine kept up.
        Valid = "valid",
        /// The machine was occasionally late: medians are valid, tails may not be.
        Suspect = "suspect",
        /// The machine did not keep up: the results reflect the machine.
        Invalid = "invalid",
    }
}

impl Default for Certificate {
    fn default() -> Certificate {
        Certificate {
            lateness: Histogram::new_with_max(LONGEST, 2)
                .expect("the histogram's bounds are valid"),
            overflow: 0,
            processor: Duration::ZERO,
            elapsed: Duration::ZERO,
        }
    }
}

impl Certificate {
    /// Notes that this number of packets was released this late.
    pub fn note(&mut self, late: Duration, packets: u64) {
        self.lateness.saturating_record_n(nanos(late), packets);
    }

    /// The number of packets released.
    pub fn packets(&self) -> u64 {
        self.lateness.len()
    }

    /// The quantile `q` of the packets' lateness.
    pub fn lateness(&self, q: f64) -> Duration {
        Duration::from_nanos(self.lateness.value_at_quantile(q))
    }

    /// The share of packets that were more than [`LATE`] late.
    pub fn late_share(&self) -> f64 {
        match self.lateness.len() {
            0 => 0.0,
            all => {
                let late = nanos(LATE);
                let in_time = self.lateness.count_between(0, late);
                all.saturating_sub(in_time) as f64 / all as f64
            }
        }
    }

    /// The histogram: upper bounds of lateness and the packets up to each, bounds doubling.
    pub fn histogram(&self) -> Vec<(Duration, u64)> {
        let steps = self.lateness.iter_log(1_000, 2.0);
        let step = |step: hdrhistogram::iterators::IterationValue<u64>| {
            (Duration::from_nanos(step.value_iterated_to()), step.count_since_last_iteration())
        };
        steps.map(step).collect()
    }

    /// The verdict.
    ///
    /// - *Invalid*: packets overflowed, more than 1 % were over 1 ms late, or half of them over
    ///   0.3 ms.
    /// - *Suspect*: more than 0.1 % were over 1 ms late, or half of them over 0.1 ms.
    /// - *Valid*: otherwise.
    pub fn verdict(&self) -> Verdict {
        let (late, median) = (self.late_share(), self.lateness(0.5));
        if self.overflow > 0 || late > LATE_SHARE_INVALID || median > MEDIAN_INVALID {
            Verdict::Invalid
        } else if late > LATE_SHARE_SUSPECT || median > MEDIAN_SUSPECT {
            Verdict::Suspect
        } else {
            Verdict::Valid
        }
    }
}

/// One line for a person.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |q: f64| self.lateness(q).as_secs_f64() * 1e6;
        write!(
            f,
            "{}: {} packets released {:.0} us late in the median, {:.0} us at p99, {:.0} us at \
             most; {:.3} % more than {} ms; {} overflowed",
            self.verdict().name(),
            self.packets(),
            micros(0.5),
            micros(0.99),
            micros(1.0),
            self.late_share() * 100.0,
            LATE.as_millis(),
            self.overflow,
        )
    }
}

/// A packet this late affects a protocol on a path of 10 ms.
pub const LATE: Duration = Duration::from_millis(1);

const LATE_SHARE_INVALID: f64 = 0.01;
const LATE_SHARE_SUSPECT: f64 = 0.001;
const MEDIAN_INVALID: Duration = Duration::from_micros(300);
/// With this median its tails may not be right.
pub const MEDIAN_SUSPECT: Duration = Duration::from_micros(100);

/// Anything later than a minute counts as a minute.
const LONGEST: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(micros: &[(u64, u64)]) -> Certificate {
        let mut certificate = Certificate::default();
        for (late, packets) in micros {
            certificate.note(Duration::from_micros(*late), *packets);
        }
        certificate
    }

    #[test]
    fn late_packets_make_a_run_suspect_and_then_invalid() {
        assert_eq!(certificate(&[(20, 10_000)]).verdict(), Verdict::Valid);
        assert_eq!(certificate(&[(20, 10_000), (2_000, 9)]).verdict(), Verdict::Valid);
        assert_eq!(certificate(&[(20, 10_000), (2_000, 50)]).verdict(), Verdict::Suspect);
        assert_eq!(certificate(&[(20, 10_000), (2_000, 200)]).verdict(), Verdict::Invalid);
        assert_eq!(certificate(&[(150, 100)]).verdict(), Verdict::Suspect);
        assert_eq!(certificate(&[(400, 100)]).verdict(), Verdict::Invalid);
        let overflowed = Certificate { overflow: 1, ..certificate(&[(20, 100)]) };
        assert_eq!(overflowed.verdict(), Verdict::Invalid);
        assert_eq!(Certificate::default().verdict(), Verdict::Valid, "nothing was late");
    }

    #[test]
    fn the_histogram_holds_every_packet() {
        let certificate = certificate(&[(1, 3), (100, 5), (5_000, 2)]);
        let held: u64 = certificate.histogram().iter().map(|(_, packets)| packets).sum();
        assert_eq!((held, certificate.packets()), (10, 10));
        assert!((certificate.late_share() - 0.2).abs() < 1e-12);
    }
}
