//! The measured kernel, and the same conditions run with the engine.

use super::{Fate, Link, Track, request, tcp};
use crate::track::*;

/// One condition of the measurements, with all its repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub rate_mbps: u64,
    pub delay_ms: u64,
    pub loss: Ratio,
    pub queue: usize,
    pub size: usize,
    pub congestion: String,
    /// Completion in milliseconds and retransmitted segments, where they were counted.
    pub samples: Vec<(f64, Option<f64>)>,
}

/// What one run of the engine gave.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub completion_ms: f64,
    pub retransmissions: f64,
}

/// The measurements in `csv`, whose completion column counts units of `unit_ms`.
fn read(csv: &str, unit_ms: f64) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = Vec::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().expect("a number");
        let completion = fields[fields.len() - 2].parse::<f64>().expect("a number") * unit_ms;
        let sample = (completion, fields[fields.len() - 1].parse().ok());
        let condition = Condition {
            rate_mbps: number(0),
            delay_ms: number(1),
            loss: fields[2].parse().expect("a share"),
            queue: number(3) as usize,
            size: number(4) as usize,
            congestion: fields[5].to_owned(),
            samples: Vec::new(),
        };
        let known = conditions
            .iter_mut()
            .find(|known| Condition { samples: Vec::new(), ..(*known).clone() } == condition);
        match known {
            Some(known) => known.samples.push(sample),
            None => conditions.push(Condition { samples: vec![sample], ..condition }),
        }
    }
    conditions
        .sort_by_key(|c| (c.rate_mbps, c.delay_ms, c.queue, c.loss, c.size, c.congestion.clone()));
    conditions
}

/// All measured conditions.
pub fn conditions() -> Vec<Condition> {
    let mut all = read(include_str!("../../data/kernel-tcp.csv"), 1.0);
    all.extend(read(include_str!("../../data/kernel-tcp-100mb.csv"), 1000.0));
    all
}

impl Condition {
    pub fn is_lossless(&self) -> bool {
        self.loss.is_zero()
    }

    /// The kernel's mean completion time.
    pub fn mean(&self) -> f64 {
        self.samples.iter().map(|sample| sample.0).sum::<f64>() / self.samples.len() as f64
    }

    /// The kernel's fastest and slowest repetition.
    pub fn range(&self) -> (f64, f64) {
        let times = self.samples.iter().map(|sample| sample.0);
        (times.clone().fold(f64::MAX, f64::min), times.fold(0.0, f64::max))
    }

    /// The kernel's mean number of retransmitted segments.
    pub fn retransmissions(&self) -> f64 {
        let counts: Vec<f64> = self.samples.iter().filter_map(|sample| sample.1).collect();
        counts.iter().sum::<f64>() / counts.len() as f64
    }

    /// The deviation from the mean that still counts as agreement: 3 %, or the spread of the
    /// kernel's own repetitions where that is larger.
    pub fn tolerance(&self) -> f64 {
        let (low, high) = self.range();
        (high - low).max(0.03 * self.mean())
    }

    /// How much longer the engine took than the kernel, start included, in milliseconds.
    pub fn deviation(&self, ours: Outcome) -> f64 {
        ours.completion_ms + START_COST_MS - self.mean()
    }

    pub fn agrees(&self, ours: Outcome) -> bool {
        self.deviation(ours).abs() <= self.tolerance()
    }

    /// The mean over runs in which only the phases of the timestamp clocks differ, as they do
    /// between two repetitions of the kernel.
    pub fn run_without_loss(&self) -> Outcome {
        const RUNS: u64 = 20;
        let runs: Vec<Outcome> = (0..RUNS).map(|seed| self.run(seed, Duration::ZERO)).collect();
        let mean = |of: fn(&Outcome) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
        Outcome {
            completion_ms: mean(|run| run.completion_ms),
            retransmissions: mean(|run| run.retransmissions),
        }
    }

    /// Runs the condition. With `jitter`, each packet is taken off the link later by up to that
    /// much, as a machine does that is not infinitely fast.
    pub fn run(&self, seed: u64, jitter: Duration) -> Outcome {
        let config = tcp(&self.congestion);
        let seed = Seed::of_run(1, seed);
        let link = |name: &str| {
            let mut link = Link::new(self.rate_mbps, self.delay_ms, self.queue);
            if !jitter.is_zero() {
                link.jitter = Some((jitter, Box::new(seed.child(name).stream("jitter"))));
            }
            link
        };
        let loss = Fate::Random(self.loss, Box::new(seed.stream("loss")));
        let mut track = Track::alike(config, [link("up"), link("down").with_fate(loss)]);
        let mut sequence_numbers = seed.stream("sequence numbers");
        track.isns = [(); 2].map(|()| sequence_numbers.next_u64() as u32);
        let completion_ms = request(&mut track, self.size).as_millis_f64();
        let retransmissions = track.server().stats().retransmissions as f64;
        Outcome { completion_ms, retransmissions }
    }
}

/// The cost of starting a transfer on a real machine: the median by which measured transfers take
/// longer than ours without losses and with identical packets, at any round-trip time.
const START_COST_MS: f64 = 2.6;
