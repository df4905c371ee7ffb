//! Delay: every packet is delayed. Each kind of law has its own file.

pub(crate) mod random;
pub(crate) mod timetable;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::Arguments;
use trackbed_core::{Packet, Rng, Time, parameters};

use super::gate::PacketRng;
use crate::in_flight::InFlight;
use crate::link::{Change, Link, Outlet, Waiting};
use crate::spec::{Model, ModelEntry, Stage};

pub use random::{Normal, Pareto, Uniform};
pub use timetable::{Timetable, parse_delay_trace};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay",
    summary: "the same delay for every packet",
    parameters: parameters! { "delay": Time, required => "the one-way delay of a packet"; },
    has_queue: false,
    example: &[("delay", "10 ms")],
    read: |arguments| Ok(Arc::new(Delay::fixed(arguments.need("delay")))),
};

/// Delays every packet by a time from a law.
#[derive(Clone, Debug)]
pub struct Delay {
    law: Arc<dyn DelayLaw>,
    keep_order: bool,
}

impl Delay {
    /// A delay by `law`. A packet that would overtake its predecessor leaves right after it, at the
    /// same time.
    pub fn new(law: impl DelayLaw + 'static) -> Delay {
        Delay { law: Arc::new(law), keep_order: true }
    }

    /// The same for every packet.
    pub fn fixed(delay: Duration) -> Delay {
        Delay::new(Fixed(delay))
    }

    /// The same delay, but packets may overtake one another.
    pub fn with_overtaking(self) -> Delay {
        Delay { keep_order: false, ..self }
    }
}

/// The same delay for every packet: propagation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed(pub Duration);

impl DelayLaw for Fixed {
    fn draw(&self, _now: Time, _rng: &mut Rng) -> Duration {
        self.0
    }

    fn least(&self) -> Duration {
        self.0
    }

    fn is_the_same_at_once(&self) -> bool {
        true
    }
}

/// A law that gives each packet its delay.
pub trait DelayLaw: fmt::Debug + Send + Sync {
    /// The delay of a packet that is sent at `now`. A law makes the same number of draws for every
    /// packet.
    fn draw(&self, now: Time, rng: &mut Rng) -> Duration;

    /// A bound below which no delay ever falls.
    fn least(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether packets sent at the same time have the same delay.
    fn is_the_same_at_once(&self) -> bool {
        false
    }
}

impl Model for Delay {
    fn stage(&self) -> Stage {
        Stage::Delay
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let in_flight = InFlight::new(self.keep_order);
        Box::new(DelayLink {
            law: Arc::clone(&self.law),
            rng: PacketRng::new(rng),
            in_flight,
            inner,
        })
    }
}

#[derive(Debug)]
struct DelayLink {
    law: Arc<dyn DelayLaw>,
    rng: PacketRng,
    in_flight: InFlight,
    inner: Box<dyn Link>,
}

impl Link for DelayLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.in_flight.release(now, &mut *self.inner, out);
        let due = now + self.law.draw(now, self.rng.of(packet.len()));
        self.in_flight.insert(due, packet);
        if due <= now {
            self.in_flight.release(now, &mut *self.inner, out);
        }
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.in_flight.release(now, &mut *self.inner, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        let due = self.in_flight.next_due().map(|at| at + self.inner.least_delay());
        [due, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.in_flight.len() + self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        match *change {
            Change::Delay(delay) => self.law = Arc::new(Fixed(delay)),
            Change::Rate(_) | Change::Loss(_) | Change::Paused(_) => {
                return self.inner.change(now, change);
            }
        }
        true
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, out)
    }

    fn least_delay(&self) -> Duration {
        self.law.least() + self.inner.least_delay()
    }

    fn takes_super_packets(&self) -> bool {
        self.law.is_the_same_at_once() && self.inner.takes_super_packets()
    }
}

/// The help of the parameter of every delay that can vary.
const OVERTAKING: &str = "whether packets may overtake one another; if false, such a packet \
    leaves right after the one before it";

fn delay_with_order(law: impl DelayLaw + 'static, arguments: &Arguments) -> Delay {
    if arguments.need("overtaking") { Delay::new(law).with_overtaking() } else { Delay::new(law) }
}

/// `span` times a factor that is not negative, to the nearest nanosecond; at most 584 years.
fn scaled(span: Duration, factor: f64) -> Duration {
    // A conversion from float to integer saturates at the ends.
    Duration::from_nanos((span.as_nanos() as f64 * factor).round() as u64)
}
