//! Controlled Delay, RFC 8289: drops or marks when packets have waited too long for too long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::packet::Ecn;
use trackbed_core::{Arguments, ByteSize, Packet, Rng, Time, parameters};

use super::{Queue, QueueEntry, QueueModel};
use crate::link::{Alteration, DropReason, Outlet, Waiting};
use crate::spec::SpecError;

pub(crate) static ENTRY: QueueEntry = QueueEntry {
    name: "codel",
    summary: "Controlled Delay (RFC 8289): drops or marks packets while the queueing delay stays \
              above a target",
    parameters: parameters! {
        "queue_packets": Count { min: 0 } = "1000" =>
            "the maximum number of queued packets, without the one being sent";
        "queue_bytes": Size, optional =>
            "the maximum number of queued bytes, IP headers included; default: no limit";
        "codel_target": Time = "5 ms" => "the acceptable standing queueing delay";
        "codel_interval": Time = "100 ms" =>
            "how long the queueing delay may exceed the target; about the largest usual round-trip \
             time";
        "codel_ecn": Flag = "true" =>
            "mark packets of ECN-capable transports instead of dropping them";
    },
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn QueueModel>, SpecError> {
    Ok(Arc::new(Codel::read(arguments, ["codel_target", "codel_interval", "codel_ecn"])?))
}

/// A Controlled Delay queue (RFC 8289). The defaults are those of RFC 8289 section 4.3 and 4.4,
/// with room for 1,000 packets and ECN marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// The maximum number of queued packets, without the one being sent.
    pub packets: u64,
    /// The maximum number of queued bytes; `None` for no limit.
    pub bytes: Option<ByteSize>,
    /// The acceptable standing queueing delay.
    pub target: Duration,
    /// How long the queueing delay may exceed the target before a packet is dropped.
    pub interval: Duration,
    /// Mark packets of ECN-capable transports instead of dropping them.
    pub ecn: bool,
}

impl Default for Codel {
    fn default() -> Codel {
        Codel {
            packets: 1000,
            bytes: None,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: true,
        }
    }
}

impl Codel {
    /// With the parameters that the queue calls by these names.
    pub(super) fn read(
        arguments: &Arguments,
        [target, interval, ecn]: [&str; 3],
    ) -> Result<Codel, SpecError> {
        let codel = Codel {
            packets: arguments.need("queue_packets"),
            bytes: arguments.get("queue_bytes"),
            target: arguments.need(target),
            interval: arguments.need(interval),
            ecn: arguments.need(ecn),
        };
        if codel.interval.is_zero() {
            let why = format!("{interval}: 0 would drop everything; write \"100 ms\"");
            return Err(SpecError::new(why));
        }
        Ok(codel)
    }

    pub(super) fn without_limits(self) -> CodelQueue {
        let model = Codel { packets: u64::MAX, bytes: None, ..self };
        CodelQueue { model, ..CodelQueue::default() }
    }
}

impl QueueModel for Codel {
    fn build(&self, _rng: Rng) -> Box<dyn Queue> {
        Box::new(CodelQueue { model: *self, ..CodelQueue::default() })
    }
}

/// The state of RFC 8289 section 5, under its names.
#[derive(Debug, Default)]
pub(super) struct CodelQueue {
    model: Codel,
    waiting: VecDeque<(Time, Packet)>,
    waiting_bytes: u64,
    /// The largest packet seen, in place of the MTU.
    largest: u64,
    /// When the waiting time will have been above the target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    /// The time of the next drop while dropping; of the one after the last one afterwards.
    drop_next: Time,
    /// Packets dropped since dropping began.
    count: u32,
    last_count: u32,
}

impl Queue for CodelQueue {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        let len = packet.len() as u64;
        let bytes = self.waiting_bytes + len;
        let byte_limit = self.model.bytes.map_or(u64::MAX, ByteSize::as_bytes);
        if self.waiting.len() as u64 >= self.model.packets || bytes > byte_limit {
            return out.drop(now, packet, DropReason::QueueFull);
        }
        self.largest = self.largest.max(len);
        self.waiting_bytes = bytes;
        self.waiting.push_back((now, packet));
    }

    /// RFC 8289 section 5.6.
    fn pop(&mut self, now: Time, out: &mut dyn Outlet) -> Option<Packet> {
        let (mut packet, mut may_drop) = self.take(now);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                match self.signal(now, packet?, out) {
                    Some(marked) => {
                        self.drop_next = self.control_law(self.drop_next);
                        return Some(marked);
                    }
                    None => (packet, may_drop) = self.take(now),
                }
                match may_drop {
                    true => self.drop_next = self.control_law(self.drop_next),
                    false => self.dropping = false,
                }
            }
        } else if may_drop {
            let marked = self.signal(now, packet?, out);
            packet = if marked.is_some() { marked } else { self.take(now).0 };
            self.dropping = true;
            // If the last dropping state ended not long ago, its drop rate is a good start.
            let delta = self.count - self.last_count;
            let recent = now.since(self.drop_next) < self.model.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = self.control_law(now);
        }
        packet
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) {
        for (_, packet) in which.take(&mut self.waiting, |(_, packet)| packet) {
            self.waiting_bytes -= packet.len() as u64;
            out.drop(now, packet, DropReason::Flushed);
        }
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}

impl CodelQueue {
    pub(super) fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Removes the first packet and the time since when it waits, whatever the control law says.
    pub(super) fn remove(&mut self) -> Option<(Time, Packet)> {
        let (since, packet) = self.waiting.pop_front()?;
        self.waiting_bytes -= packet.len() as u64;
        Some((since, packet))
    }

    /// Takes the first packet, and returns whether it may be dropped: RFC 8289 section 5.5.
    fn take(&mut self, now: Time) -> (Option<Packet>, bool) {
        let Some((since, packet)) = self.remove() else {
            self.first_above = None;
            return (None, false);
        };
        if now - since < self.model.target || self.waiting_bytes <= self.largest {
            self.first_above = None;
            return (Some(packet), false);
        }
        let first_above = *self.first_above.get_or_insert(now + self.model.interval);
        (Some(packet), now >= first_above)
    }

    /// Marks the packet and returns it if it may be marked; drops it otherwise (RFC 8289 section
    /// 3.2 leaves the choice; RFC 3168 section 5 defines which packets may be marked).
    fn signal(&self, now: Time, packet: Packet, out: &mut dyn Outlet) -> Option<Packet> {
        if self.model.ecn && packet.ecn() != Ecn::NotCapable {
            let packet = packet.with_congestion_experienced();
            out.altered(now, &packet, Alteration::Marked);
            return Some(packet);
        }
        out.drop(now, packet, DropReason::QueueManagement);
        None
    }

    /// The time of the next drop after `time`: an interval divided by the square root of the
    /// number of drops so far. (Square roots are exact in IEEE 754, so alike on all machines.)
    fn control_law(&self, time: Time) -> Time {
        let nanos = self.model.interval.as_nanos() as f64 / f64::from(self.count).sqrt();
        time + Duration::from_nanos(nanos as u64)
    }
}
