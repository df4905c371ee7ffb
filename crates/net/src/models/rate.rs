//! Serialisation at a constant rate, with a queue in front.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Arguments, Bitrate, Packet, Rng, Time, parameters};

use crate::link::{Change, Link, Outlet, Waiting};
use crate::queue::{Queue, QueueEntry, QueueModel};
use crate::spec::{Model, ModelEntry, SpecError, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "rate",
    summary: "sends packets one at a time at a constant rate; the others wait in a queue",
    parameters: parameters! {
        "rate": Rate, required => "bits per second of IP packets, without lower layers";
    },
    has_queue: true,
    example: &[("rate", "50 Mbit/s"), ("queue_packets", "100")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    let rate: Bitrate = arguments.need("rate");
    if rate.as_bps() == 0 {
        return Err(SpecError::new(
            "rate: a rate of 0 sends nothing; write a positive rate, or an outage",
        ));
    }
    Ok(Arc::new(Rate { rate, queue: QueueEntry::model(arguments)? }))
}

/// Sends one packet after the other, each for as long as its bytes (IP header included, nothing
/// below IP) take at the rate, rounded up to a nanosecond. The others wait in a queue. A packet
/// is passed on when its last bit is sent.
#[derive(Clone, Debug)]
pub struct Rate {
    /// The rate; zero holds everything until it is changed.
    pub rate: Bitrate,
    /// The queue for waiting packets.
    pub queue: Arc<dyn QueueModel>,
}

impl Rate {
    /// Sends at `rate` behind `queue`.
    pub fn new(rate: Bitrate, queue: impl QueueModel + 'static) -> Rate {
        Rate { rate, queue: Arc::new(queue) }
    }
}

impl Model for Rate {
    fn stage(&self) -> Stage {
        Stage::Queue
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(RateLink {
            rate: self.rate,
            paused: false,
            queue: self.queue.build(rng),
            sending: None,
            inner,
        })
    }
}

#[derive(Debug)]
struct RateLink {
    rate: Bitrate,
    paused: bool,
    queue: Box<dyn Queue>,
    sending: Option<Sending>,
    inner: Box<dyn Link>,
}

#[derive(Debug)]
struct Sending {
    packet: Packet,
    /// When the present rate began to work on it.
    since: Time,
    /// What was left to do then, in bits times 10^9: divided by a rate it gives nanoseconds.
    work: u128,
    /// When its last bit is sent; `Time::MAX` if never at the present rate.
    departure: Time,
}

impl Sending {
    fn is_sent(&self, now: Time) -> bool {
        self.departure <= now && self.departure < Time::MAX
    }
}

impl RateLink {
    fn catch_up(&mut self, now: Time, out: &mut dyn Outlet) {
        while let Some(sent) = self.sending.take_if(|s| s.is_sent(now)) {
            self.inner.advance(sent.departure, out);
            self.inner.push(sent.departure, sent.packet, out);
            if let Some(packet) = self.queue.pop(sent.departure, out) {
                self.start(sent.departure, packet);
            }
        }
    }

    fn start(&mut self, now: Time, packet: Packet) {
        let work = packet.len() as u128 * 8 * NANOS_PER_SECOND;
        let departure = now + time_for(work, self.present_rate());
        self.sending = Some(Sending { packet, since: now, work, departure });
    }

    /// How late the wake for a departure may be without a visible effect. A queue that may drop or
    /// mark on removal must be called in time.
    fn wake_slack(&self) -> Duration {
        match self.queue.pops_quietly() || self.queue.is_empty() {
            true => self.inner.least_delay(),
            false => Duration::ZERO,
        }
    }

    /// Zero while sending is paused.
    fn present_rate(&self) -> Bitrate {
        if self.paused { Bitrate::from_bps(0) } else { self.rate }
    }

    /// Continues the packet that is being sent at another rate.
    fn reschedule(&mut self, now: Time, old: Bitrate) {
        let rate = self.present_rate();
        if let Some(sending) = &mut self.sending {
            let done = u128::from(old.as_bps()) * (now - sending.since).as_nanos();
            sending.work = sending.work.saturating_sub(done);
            sending.since = now;
            sending.departure = now + time_for(sending.work, rate);
        }
    }
}

impl Link for RateLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.catch_up(now, out);
        match self.sending {
            None => self.start(now, packet),
            Some(_) => self.queue.push(now, packet, out),
        }
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.catch_up(now, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        let departure = self.sending.as_ref().map(|s| s.departure).filter(|at| *at < Time::MAX);
        let beyond = departure.map(|at| at + self.wake_slack());
        [beyond, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.queue.len() + usize::from(self.sending.is_some()) + self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        let old = self.present_rate();
        match *change {
            Change::Rate(rate) => self.rate = rate,
            Change::Paused(paused) => self.paused = paused,
            Change::Delay(_) | Change::Loss(_) => return self.inner.change(now, change),
        }
        self.reschedule(now, old);
        true
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.queue.flush(now, which, out);
        true
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

fn time_for(work: u128, rate: Bitrate) -> Duration {
    let nanos = match (u64::try_from(work), rate.as_bps()) {
        (_, 0) => return Duration::MAX,
        // The usual case, in which a division is much cheaper.
        (Ok(work), bps) => work.div_ceil(bps),
        (Err(_), bps) => u64::try_from(work.div_ceil(bps.into())).unwrap_or(u64::MAX),
    };
    Duration::from_nanos(nanos)
}
