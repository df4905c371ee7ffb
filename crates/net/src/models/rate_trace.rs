//! Serialisation by a trace of delivery opportunities, in the format of Mahimahi.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::text::lines;
use trackbed_core::time::nanos;
use trackbed_core::{Arguments, Packet, Rng, Time, parameters};

use crate::link::{Change, Link, Outlet, Waiting};
use crate::queue::{Queue, QueueEntry, QueueModel};
use crate::spec::{Model, ModelEntry, SpecError, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "rate-trace",
    summary: "sends packets at the times given by a trace in Mahimahi's format; the others wait in \
              a queue",
    parameters: parameters! {
        "trace": File, required =>
            "a file with one time per line, in milliseconds, at which 1,500 bytes can be sent; it \
             repeats after the last line; empty lines and those that begin with # are skipped";
    },
    has_queue: true,
    example: &[("trace", "1\n2\n2\n5\n"), ("queue_packets", "100")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    if arguments.get("queue_packets") == Some(0u64) {
        return Err(SpecError::new(
            "queue_packets: with 0 no packet gets through, because every packet waits for a \
             sending opportunity; write 1 or more",
        ));
    }
    let text: Arc<str> = arguments.need("trace");
    Ok(Arc::new(RateTrace { trace: Trace::parse(&text)?, queue: QueueEntry::model(arguments)? }))
}

/// Sends packets at the opportunities of a trace, as Mahimahi's `mm-link` does: each opportunity
/// carries 1,500 bytes of IP packets. Several small packets share one; a packet that does not fit
/// into the rest of one continues in the next; unused opportunities are lost. A packet is passed on
/// at the opportunity that carries its last byte. A packet is in the queue until an opportunity
/// begins to carry it, also when the link was idle; one that arrives at the very time of an
/// opportunity waits for the next.
#[derive(Clone, Debug)]
pub struct RateTrace {
    /// The opportunities.
    pub trace: Trace,
    /// Where packets wait.
    pub queue: Arc<dyn QueueModel>,
}

impl RateTrace {
    /// Sends by `trace` behind `queue`.
    pub fn new(trace: Trace, queue: impl QueueModel + 'static) -> RateTrace {
        RateTrace { trace, queue: Arc::new(queue) }
    }
}

/// Times at which 1,500 bytes can be sent. After the last one the trace repeats, with that time as
/// zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Arc<[u64]>,
}

impl Trace {
    /// Reads Mahimahi's format: a whole number of milliseconds on each line, none smaller than the
    /// one before; a number repeated on several lines means that many opportunities.
    ///
    /// # Errors
    /// If a line is not such a number, there is none, or all are zero; the message names the line.
    pub fn parse(text: &str) -> Result<Trace, SpecError> {
        let mut millis: Vec<u64> = Vec::new();
        for (number, line) in lines(text) {
            let refuse =
                |why: &str| Err(SpecError::new(format!("line {number} of the rate trace {why}")));
            let Ok(time) = line.parse::<u64>() else {
                return refuse(
                    "is not a whole number of milliseconds, such as \"17\"; a table of times and rates is \
                     rate = { timetable = { rates = FILE } }, below a heading such as time_s,rate_Mbit/s",
                );
            };
            if time > MILLIS_MAX {
                return refuse("is more than a hundred years; write a smaller number");
            }
            if millis.last().is_some_and(|last| *last > time) {
                return refuse("is earlier than the line before; give the times in order");
            }
            millis.push(time);
        }
        match millis.last() {
            None => Err(SpecError::new("the rate trace is empty; give at least one time")),
            Some(0) => Err(SpecError::new(
                "the rate trace ends at 0 ms and would repeat without end; make it last longer",
            )),
            Some(_) => Ok(Trace { millis: millis.into() }),
        }
    }

    /// How long the trace lasts, rounded up.
    pub fn seconds(&self) -> u64 {
        self.millis.last().map_or(0, |last| last.div_ceil(1_000))
    }

    /// The rate of each second, in bits per second.
    pub fn rates_bps(&self) -> Vec<f64> {
        let mut rates = vec![0.0; self.seconds() as usize];
        let second = |at: &u64| (at.saturating_sub(1) / 1_000) as usize;
        self.millis.iter().for_each(|at| rates[second(at)] += 8.0 * OPPORTUNITY_BYTES as f64);
        // The last second may end early.
        let part = self.millis.last().map_or(0, |last| last % 1_000);
        if let Some(rate) = rates.last_mut().filter(|_| part > 0) {
            *rate *= 1_000.0 / part as f64;
        }
        rates
    }

    /// The time of an opportunity, counted from zero over all repetitions.
    fn time(&self, opportunity: u64) -> Time {
        let count = self.millis.len() as u64;
        let (cycle, index) = (opportunity / count, opportunity % count);
        let period = nanos(self.period());
        let start = Time::from_nanos(period.saturating_mul(cycle));
        start + Duration::from_millis(self.millis[index as usize])
    }

    /// The number of the first opportunity after `now`.
    fn first_after(&self, now: Time) -> u64 {
        let period = nanos(self.period());
        let (cycle, rest) = (now.as_nanos() / period, now.as_nanos() % period);
        let past = self.millis.partition_point(|ms| Time::from_millis(*ms).as_nanos() <= rest);
        cycle.saturating_mul(self.millis.len() as u64).saturating_add(past as u64)
    }

    fn period(&self) -> Duration {
        Duration::from_millis(self.millis[self.millis.len() - 1])
    }
}

const OPPORTUNITY_BYTES: usize = 1500;

/// About a hundred years; keeps times within their range.
const MILLIS_MAX: u64 = 3_000_000_000_000;

impl Model for RateTrace {
    fn stage(&self) -> Stage {
        Stage::Queue
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(RateTraceLink {
            trace: self.trace.clone(),
            next: 0,
            paused: false,
            queue: self.queue.build(rng),
            sending: None,
            inner,
        })
    }
}

#[derive(Debug)]
struct RateTraceLink {
    trace: Trace,
    /// The next opportunity that has not been used or lost. While the link is idle or paused it
    /// lags behind and is brought up to date by the next packet.
    next: u64,
    /// Opportunities are lost while paused.
    paused: bool,
    queue: Box<dyn Queue>,
    /// A packet that has been sent in part, and the bytes of it that are left.
    sending: Option<(Packet, usize)>,
    inner: Box<dyn Link>,
}

impl RateTraceLink {
    fn is_idle(&self) -> bool {
        self.sending.is_none() && self.queue.is_empty()
    }

    /// Uses or loses every opportunity up to `now`.
    fn catch_up(&mut self, now: Time, out: &mut dyn Outlet) {
        while !self.paused && !self.is_idle() {
            let at = self.trace.time(self.next);
            if at > now {
                return;
            }
            self.next += 1;
            self.inner.advance(at, out);
            self.use_opportunity(at, out);
        }
        self.next = self.next.max(self.trace.first_after(now));
    }

    fn pop(&mut self, at: Time, out: &mut dyn Outlet) -> Option<(Packet, usize)> {
        let packet = self.queue.pop(at, out)?;
        let len = packet.len();
        Some((packet, len))
    }

    fn use_opportunity(&mut self, at: Time, out: &mut dyn Outlet) {
        let mut room = OPPORTUNITY_BYTES;
        while room > 0 {
            let Some((packet, left)) = self.sending.take().or_else(|| self.pop(at, out)) else {
                return;
            };
            if left > room {
                self.sending = Some((packet, left - room));
                return;
            }
            room -= left;
            self.inner.push(at, packet, out);
        }
    }
}

impl Link for RateTraceLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.catch_up(now, out);
        self.queue.push(now, packet, out);
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.catch_up(now, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        let slack = match self.queue.pops_quietly() {
            true => self.inner.least_delay(),
            false => Duration::ZERO,
        };
        let busy = !self.paused && !self.is_idle();
        let at = busy.then(|| self.trace.time(self.next) + slack);
        [at, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.queue.len() + usize::from(self.sending.is_some()) + self.inner.held()
    }

    /// Only a pause: the rate is the trace's.
    fn change(&mut self, now: Time, change: &Change) -> bool {
        match *change {
            Change::Paused(paused) => {
                self.paused = paused;
                self.next = self.next.max(self.trace.first_after(now));
                true
            }
            Change::Rate(_) | Change::Delay(_) | Change::Loss(_) => self.inner.change(now, change),
        }
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.queue.flush(now, which, out);
        true
    }
}
