//! When the packets of the background are sent.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Arguments, Bitrate, ByteSize, Rng, Time, parameters};

use super::{Background, HEADERS, packet};
use crate::models::schedule::parse_rows;
use crate::spec::{Model, ModelEntry, SpecError};

pub(crate) static STREAM: ModelEntry = ModelEntry {
    name: "background-stream",
    summary: "traffic of others without stacks: packets of one length at a mean rate",
    parameters: parameters! {
        "rate": Rate, required => "mean bits per second of IP packets; 0 for none";
        "law": Choice(&["poisson", "constant", "on-off"]) = "poisson" =>
            "random gaps as of many independent users, equal gaps, or bursts and pauses with heavy \
             tails, whose sum over many flows is self-similar (Willinger et al. 1997)";
        "size": Size = "1500 B" => "length of a packet, IP header included, from 28 B to 65535 B";
        "flows": Count { min: 1 } = "1" =>
            "independent senders that share the rate evenly, each a flow to the queue, at most 1000";
        "on": Time = "100 ms" => "mean length of a burst, in which packets follow at equal gaps";
        "off": Time = "400 ms" => "mean length of a pause";
        "shape": Number = "1.5" =>
            "shape of Pareto's law for bursts and pauses, at least 1.05; below 2 Hurst's parameter \
             of the sum is (3 - shape) / 2";
    },
    has_queue: false,
    example: &[("rate", "5 Mbit/s")],
    read: stream,
};

pub(crate) static CAPTURE: ModelEntry = ModelEntry {
    name: "background-capture",
    summary: "traffic of others without stacks: times and lengths of a capture, again and again",
    parameters: parameters! {
        "file": File, required =>
            "a capture (pcap, pcapng), or a text with one line per packet: its time, a comma and \
             its length with the IP header, as in \"0.25 s, 1500 B\"";
    },
    has_queue: false,
    example: &[("file", "0 s, 1500 B\n0.1 s, 40 B\n")],
    read: capture,
};

/// Times are in nanoseconds, with fractions, so that mean rates are exact.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    /// The mean gap between packets of a sender, in a burst if there are bursts.
    gap: f64,
    is_random: bool,
    on: f64,
    /// 0 without bursts.
    off: f64,
    shape: f64,
    /// The gap before each packet of a capture, and which packet it is.
    rows: Arc<[(f64, usize)]>,
}

fn stream(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    let (rate, size): (Bitrate, ByteSize) = (arguments.need("rate"), arguments.need("size"));
    let (flows, shape): (u64, f64) = (arguments.need("flows"), arguments.need("shape"));
    let [on, off] = ["on", "off"].map(|name| arguments.need::<Duration>(name).as_nanos() as f64);
    let law: &str = arguments.need("law");
    let (has_bursts, is_none) = (law == "on-off", rate.as_bps() == 0);
    let share = if has_bursts { on / (on + off) } else { 1.0 };
    let gap = size.as_bytes() as f64 * 8e9 * flows as f64 / rate.as_bps() as f64 * share;
    let problem = match size.as_bytes() {
        ..HEADERS | 65_536.. => "size: no packet has this length; write 28 B to 65535 B",
        _ if flows > 1_000 => "flows: too many; write at most 1000",
        _ if has_bursts && shape < 1.05 => "shape: means are too uncertain; write at least 1.05",
        _ if has_bursts && on == 0.0 => "on: nothing is ever sent; write \"100 ms\"",
        _ if has_bursts && gap > on && !is_none => {
            "on: a burst is shorter than a packet's turn; write more, or fewer flows"
        }
        _ if gap < GAP_NANOS_MIN * flows as f64 => {
            "rate: more than 100 million packets/s; write less, or longer packets"
        }
        bytes => {
            let flows = if is_none { 0 } else { flows as u16 };
            let packets = (0..flows).map(|flow| packet(flow, bytes)).collect();
            let off = if has_bursts { off } else { 0.0 };
            let is_random = law == "poisson";
            let pattern = Pattern { gap, is_random, on, off, shape, ..Pattern::default() };
            return Ok(Arc::new(Background { pattern, packets, is_end: false }));
        }
    };
    Err(SpecError::new(problem))
}

fn capture(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    let text: Arc<str> = arguments.need("file");
    let mut rows: Vec<(Time, ByteSize)> = parse_rows(&text, "0.25 s, 1500 B", None, str::parse)?;
    rows.sort_by_key(|(at, _)| *at);
    let ends = rows.first().zip(rows.last()).map(|(first, last)| (last.0 - first.0).as_nanos());
    let span = ends.unwrap_or_default() as f64;
    let lengths: BTreeSet<u64> = rows.iter().map(|(_, size)| size.as_bytes()).collect();
    let lengths: Vec<u64> = lengths.into_iter().collect();
    let is_too_long = lengths.last().is_some_and(|longest| *longest > 65_535);
    if is_too_long || span < GAP_NANOS_MIN * rows.len().max(1) as f64 {
        let why = "needs packets of at most 65535 B at two times, less than 100 million packets/s";
        return Err(SpecError::new(format!("file: {why}")));
    }
    // From the last packet to the first of the next round it takes a mean gap.
    let (mut before, mean) = (None, span / (rows.len() - 1) as f64);
    let row = |(at, size): (Time, ByteSize)| {
        let gap = before.replace(at).map_or(mean, |before| (at - before).as_nanos() as f64);
        (gap, lengths.partition_point(|length| *length < size.as_bytes()))
    };
    let rows = rows.into_iter().map(row).collect();
    let packets = lengths.iter().map(|length| packet(0, *length)).collect();
    let pattern = Pattern { rows, ..Pattern::default() };
    Ok(Arc::new(Background { pattern, packets, is_end: false }))
}

const GAP_NANOS_MIN: f64 = 10.0;

/// Who sends packets one after the other.
#[derive(Debug)]
pub(super) struct Sender {
    /// When the next one leaves.
    due: f64,
    /// How long the burst still lasts.
    left: f64,
    sent: usize,
}

impl Sender {
    pub fn due(&self) -> Time {
        Time::from_nanos(self.due as u64)
    }
}

impl Pattern {
    /// One for each packet, or one for the whole capture, in the middle of what they do.
    pub fn senders(&self, packets: usize, rng: &mut Rng) -> Vec<Sender> {
        let count = if self.rows.is_empty() { packets } else { 1 };
        let phase = rng.unit();
        let sender = |number: usize| {
            let mut sender = Sender { due: 0.0, left: f64::INFINITY, sent: 0 };
            if self.off > 0.0 && rng.unit() < self.on / (self.on + self.off) {
                sender.left = self.on * rest_of_pareto(self.shape, rng);
            } else if self.off > 0.0 {
                sender.due = self.off * rest_of_pareto(self.shape, rng);
                sender.left = self.on * pareto(self.shape, rng);
            }
            self.go_on(&mut sender, (number as f64 + phase) / count as f64, rng);
            sender
        };
        (0..count).map(sender).collect()
    }

    /// The number of the packet that is sent now.
    pub fn next(&self, sender: &mut Sender, number: usize, rng: &mut Rng) -> usize {
        let row = self.rows.get(sender.sent);
        sender.sent = if sender.sent + 1 < self.rows.len() { sender.sent + 1 } else { 0 };
        self.go_on(sender, 1.0, rng);
        row.map_or(number, |(_, packet)| *packet)
    }

    /// Determines when the next packet is sent: a gap later, or this part of one.
    fn go_on(&self, sender: &mut Sender, part: f64, rng: &mut Rng) {
        let part = if self.is_random { rng.exponential() } else { part };
        let mut gap = self.rows.get(sender.sent).map_or(self.gap * part, |(gap, _)| *gap);
        // Gaps go on in the next burst, so that the mean rate is met.
        while gap > sender.left {
            gap -= sender.left;
            sender.due += sender.left + self.off * pareto(self.shape, rng);
            sender.left = self.on * pareto(self.shape, rng);
        }
        sender.left -= gap;
        sender.due += gap;
    }
}

/// A number by Pareto's law with mean 1.
fn pareto(shape: f64, rng: &mut Rng) -> f64 {
    (shape - 1.0) / shape * libm::pow(1.0 - rng.unit(), -1.0 / shape)
}

/// What is left of such a length at any moment within one.
fn rest_of_pareto(shape: f64, rng: &mut Rng) -> f64 {
    let (least, share) = ((shape - 1.0) / shape, rng.unit());
    match share < least {
        true => share,
        false => least * libm::pow(shape * (1.0 - share), -1.0 / (shape - 1.0)),
    }
}
