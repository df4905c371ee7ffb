//! The study's guidance as claims that any results can confirm or refute: a protocol, and sometimes
//! a cipher, for each of four purposes.

use trackbed_stats::Statistic;

use super::super::outcome::Verdict;
use super::figure::{Observation, Place};
use crate::advise::words;
use crate::number::{dash, short};

/// A recommendation, and the verdict of observations on it.
pub(super) struct Advice {
    pub(super) text: &'static str,
    /// How it is interpreted in terms of figures.
    pub(super) reading: &'static str,
    /// Comparisons in which the recommended setting is significantly better.
    pub(super) better: u32,
    /// Undecided comparisons.
    pub(super) undecided: u32,
    /// Comparisons in which the other setting is significantly better, in words.
    pub(super) against: Vec<String>,
}

/// Judges the four recommendations by `observations`: each recommended setting is compared with
/// every rival with the same load and cipher. It is significantly better if the two intervals do
/// not touch.
pub(super) fn judge(observations: &[Observation]) -> Vec<Advice> {
    GUIDANCE.iter().map(|advice| advice.judge(observations)).collect()
}

/// A recommendation, and the figures that decide it.
struct Guidance {
    text: &'static str,
    reading: &'static str,
    protocol: &'static str,
    /// The ciphers it refers to; each is compared separately.
    ciphers: &'static [&'static str],
    rivals: Rivals,
    claims: &'static [Claim],
}

enum Rivals {
    /// The other protocols, with the same cipher.
    Protocols,
    /// The same protocol with this cipher.
    Cipher(&'static str),
}

/// A quantity in which the recommended setting should be better than its rivals.
struct Claim {
    load: &'static str,
    metric: &'static str,
    statistic: Statistic,
    less_is_better: bool,
}

pub(super) const LOW: &str = "low";
pub(super) const HIGH: &str = "high";
const AES: &[&str] = &["aes128gcm", "aes256gcm"];
const ALL: &[&str] = &["aes128gcm", "aes256gcm", "chacha20"];

const fn rtt(load: &'static str, p: f64) -> Claim {
    Claim { load, metric: "rtt_ms", statistic: Statistic::Quantile(p), less_is_better: true }
}

const GUIDANCE: &[Guidance] = &[
    Guidance {
        text: "DTLS where frame rate and steady latency matter most",
        reading: "at high load, the highest frame rate and the lowest p99 of the round-trip time",
        protocol: "dtls",
        ciphers: ALL,
        rivals: Rivals::Protocols,
        claims: &[
            Claim { load: HIGH, metric: "fps", statistic: Statistic::Mean, less_is_better: false },
            rtt(HIGH, 0.99),
        ],
    },
    Guidance {
        text: "HTTP/3 with AES-GCM where round-trip time matters most",
        reading: "at either load, the lowest median of the round-trip time",
        protocol: "http3",
        ciphers: AES,
        rivals: Rivals::Protocols,
        claims: &[rtt(LOW, 0.5), rtt(HIGH, 0.5)],
    },
    Guidance {
        text: "MQTT over TLS for light telemetry",
        reading: "at low load, the least processor time",
        protocol: "mqtt",
        ciphers: ALL,
        rivals: Rivals::Protocols,
        claims: &[Claim {
            load: LOW,
            metric: "cpu_percent",
            statistic: Statistic::Mean,
            less_is_better: true,
        }],
    },
    Guidance {
        text: "HTTPS with AES-GCM where compatibility matters",
        reading: "compatibility is no figure; of HTTPS's ciphers, AES-GCM has the lower p99 of the \
                  round-trip time than ChaCha20, at either load",
        protocol: "https",
        ciphers: AES,
        rivals: Rivals::Cipher("chacha20"),
        claims: &[rtt(LOW, 0.99), rtt(HIGH, 0.99)],
    },
];

impl Guidance {
    fn judge(&self, observations: &[Observation]) -> Advice {
        let Guidance { text, reading, .. } = *self;
        let mut advice = Advice { text, reading, better: 0, undecided: 0, against: Vec::new() };
        for claim in self.claims {
            for cipher in self.ciphers {
                let own = claim.find(observations, |place| {
                    place.protocol == self.protocol && place.cipher == *cipher
                });
                let rivals = claim.find(observations, |place| match self.rivals {
                    Rivals::Protocols => place.protocol != self.protocol && place.cipher == *cipher,
                    Rivals::Cipher(other) => {
                        place.protocol == self.protocol && place.cipher == other
                    }
                });
                for (own, rival) in own.iter().flat_map(|own| rivals.iter().map(move |r| (own, r)))
                {
                    match claim.is_better(own, rival) {
                        true => advice.better += 1,
                        false if claim.is_better(rival, own) => {
                            advice.against.push(claim.words(rival, own))
                        }
                        false => advice.undecided += 1,
                    }
                }
            }
        }
        advice
    }
}

impl Advice {
    pub(super) fn verdict(&self) -> Verdict {
        match (self.better, self.undecided, self.against.len()) {
            (0, 0, 0) => Verdict::NotRun,
            (_, 0, 0) => Verdict::Holds,
            (_, _, 0) => Verdict::Undecided,
            _ => Verdict::Contradicted,
        }
    }

    /// `12 comparisons in favour, 0 against, 6 undecided`
    pub(super) fn counts(&self) -> String {
        let Advice { better, undecided, against, .. } = self;
        let against = against.len();
        format!("{better} comparisons in favour, {against} against, {undecided} undecided")
    }
}

impl Claim {
    fn find<'a>(
        &self,
        observations: &'a [Observation],
        wanted: impl Fn(&Place) -> bool,
    ) -> Vec<&'a Observation> {
        let statistic = words::statistic(self.statistic);
        let fits = |observation: &&Observation| {
            observation.metric == self.metric
                && observation.statistic == statistic
                && observation.place.load == self.load
                && wanted(&observation.place)
        };
        observations.iter().filter(fits).collect()
    }

    fn is_better(&self, one: &Observation, other: &Observation) -> bool {
        let (less, more) = if self.less_is_better { (one, other) } else { (other, one) };
        less.high.zip(more.low).is_some_and(|(high, low)| high < low)
    }

    /// A sentence that the first is better: `p50 rtt_ms at high load: 5.96 with mqtt, ...`.
    fn words(&self, one: &Observation, other: &Observation) -> String {
        let side = |observation: &Observation| {
            let Place { protocol, cipher, .. } = &observation.place;
            let end = |end: Option<f64>| end.map_or_else(dash, short);
            let (low, high) = (end(observation.low), end(observation.high));
            let range = if low == high { low } else { format!("[{low}, {high}]") };
            format!("{range} with {protocol} {cipher}")
        };
        let Claim { load, metric, .. } = self;
        let statistic = words::statistic(self.statistic);
        format!("{statistic} {metric} at {load} load: {}, {}", side(one), side(other))
    }
}
