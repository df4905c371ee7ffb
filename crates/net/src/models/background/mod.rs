//! Background: the packets of others, which take their part of a link's queue and rate and come from no stack.

pub(crate) mod patterns;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::packet::{Ecn, UdpDatagram};
use trackbed_core::{Packet, Rng, Time};

use crate::link::{Alteration, Change, DropReason, Link, Outlet, Waiting};
use crate::spec::{Model, Stage};
use patterns::{Pattern, Sender};

/// Packets of others. They wait in the queue of the link and take its rate as all do, and vanish when they are
/// sent: no tap, counter or model behind the rate sees them, so the losses and delays of other packets are the same
/// with and without them. They come in batches: nothing is done while no other packet is in the link.
#[derive(Clone, Debug)]
pub struct Background {
    pattern: Pattern,
    /// One for each flow, or for each length of a capture.
    packets: Arc<[Packet]>,
    /// Whether packets of the background go no further.
    is_end: bool,
}

impl Background {
    /// Where packets of the background vanish.
    pub(crate) fn end() -> Background {
        Background { pattern: Pattern::default(), packets: [].into(), is_end: true }
    }
}

impl Model for Background {
    fn stage(&self) -> Stage {
        Stage::Background
    }

    fn wrap(&self, mut rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let senders = self.pattern.senders(self.packets.len(), &mut rng);
        let due = (0..).zip(&senders).map(|(number, sender)| Reverse((sender.due(), number)));
        let due = due.collect();
        Box::new(BackgroundLink { model: self.clone(), senders, due, rng, others: 0, inner })
    }
}

#[derive(Debug)]
struct BackgroundLink {
    model: Background,
    senders: Vec<Sender>,
    /// When each of them sends its next packet.
    due: BinaryHeap<Reverse<(Time, usize)>>,
    rng: Rng,
    /// The number of packets inside that are not of the background.
    others: usize,
    inner: Box<dyn Link>,
}

impl BackgroundLink {
    /// Makes up for everything until `now`, in order of time.
    fn catch_up(&mut self, now: Time, out: &mut dyn Outlet) {
        let mut sieve = Sieve { now, others: &mut self.others, out };
        let advance = |inner: &mut Box<dyn Link>, until: Time, sieve: &mut Sieve<'_>| {
            while let Some(wake) = inner.next_wake().filter(|wake| *wake <= until) {
                inner.advance(wake, sieve);
            }
        };
        while let Some(mut next) = self.due.peek_mut()
            && next.0.0 <= now
        {
            let Reverse((at, number)) = *next;
            advance(&mut self.inner, at, &mut sieve);
            let sender = &mut self.senders[number];
            let packet = self.model.pattern.next(sender, number, &mut self.rng);
            *next = Reverse((sender.due(), number));
            self.inner.push(at, self.model.packets[packet].clone(), &mut sieve);
        }
        advance(&mut self.inner, now, &mut sieve);
    }
}

impl Link for BackgroundLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        let is_background = is_background(&packet);
        if is_background && self.model.is_end {
            return;
        }
        self.catch_up(now, out);
        self.others += usize::from(!is_background);
        self.inner.push(now, packet, &mut Sieve { now, others: &mut self.others, out });
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.catch_up(now, out);
    }

    /// What arrives in the meantime does not change when the first of the other packets leaves.
    fn next_wake(&self) -> Option<Time> {
        self.inner.next_wake().filter(|_| self.others > 0)
    }

    fn held(&self) -> usize {
        self.others
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.inner.change(now, change)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, &mut Sieve { now, others: &mut self.others, out })
    }

    fn least_delay(&self) -> Duration {
        self.inner.least_delay()
    }
}

/// Keeps back what is said about packets of the background, and counts the others that leave.
struct Sieve<'a> {
    now: Time,
    others: &'a mut usize,
    out: &'a mut dyn Outlet,
}

impl Outlet for Sieve<'_> {
    fn deliver(&mut self, at: Time, packet: Packet) {
        *self.others -= 1;
        self.out.deliver(at, packet);
    }

    fn drop(&mut self, at: Time, packet: Packet, why: DropReason) {
        if !is_background(&packet) {
            *self.others -= 1;
            // What the background pushes out of a full queue is lost when the next packet leaves.
            let at = if why == DropReason::QueueFull { self.now } else { at };
            self.out.drop(at, packet, why);
        }
    }

    fn altered(&mut self, at: Time, packet: &Packet, what: Alteration) {
        if !is_background(packet) {
            *self.others += usize::from(what == Alteration::Duplicated);
            self.out.altered(at, packet, what);
        }
    }
}

/// A packet of `len` bytes of flow number `flow`, from an address that no host has (RFC 1112 section 4).
fn packet(flow: u16, len: u64) -> Packet {
    let [source, destination] = ENDS.map(|end| SocketAddr::from((end, flow)));
    UdpDatagram::emit(
        source,
        destination,
        Ecn::NotCapable,
        &vec![0; len.saturating_sub(HEADERS) as usize],
    )
}

fn is_background(packet: &Packet) -> bool {
    let bytes = packet.bytes();
    bytes[0] >> 4 == 4 && bytes[12..20] == *ENDS.as_flattened()
}

const ENDS: [[u8; 4]; 2] = [[240, 0, 0, 1], [240, 0, 0, 2]];
/// Those of IPv4 and UDP, in bytes.
const HEADERS: u64 = 28;
