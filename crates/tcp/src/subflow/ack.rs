//! Arriving acknowledgments (RFC 9293 section 3.10.7.4, fifth; RFC 5681; RFC 7323).

use std::time::Duration;

use trackbed_core::Time;

use super::{Phase, Streams, Subflow};
use crate::recovery::prr::Progress;
use crate::recovery::scoreboard::Sent;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sequence::Seq;

#[derive(Debug, Default)]
pub(super) struct Event {
    /// SND.UNA before it.
    pub prior_una: Seq,
    /// The end of the highest segment that was acknowledged selectively before it, or SND.UNA.
    prior_highest: Seq,
    /// The cumulative acknowledgment moved.
    pub advanced: bool,
    /// It is certainly no duplicate: it carries data, or changes the window.
    pub not_duplicate: bool,
    /// Segments were acknowledged cumulatively.
    pub data_acked: bool,
    /// A segment that was sent again was among them.
    pub retransmitted_acked: bool,
    /// Segments were acknowledged selectively.
    pub sacked: bool,
    /// A segment that was never sent again, from before the recovery, arrived.
    pub original_acked: bool,
    /// A duplicate was reported.
    pub duplicate: bool,
    /// The duplicate is that of the tail loss probe.
    pub duplicate_of_probe: bool,
    /// The peer echoes congestion (ECN).
    pub echo: bool,
    /// A retransmission was found lost.
    pub retransmission_lost: bool,
    /// The retransmission or probe timer must be restarted.
    pub set_timer: bool,
    /// The first segment is one that the peer had reported, and no longer has.
    pub reneged: bool,
    /// The lowest segment that arrived late.
    pub late: Option<Seq>,
    /// The timestamp that is echoed.
    pub stamp: Option<u32>,
    pub first_acked_at: Option<Time>,
    pub last_acked_at: Option<Time>,
    pub first_sacked_at: Option<Time>,
    pub last_sacked_at: Option<Time>,
    /// Segments delivered when the latest acknowledged one was sent, and when that was.
    pub rate_sample: Option<(Time, u64)>,
    segments: u32,
}

impl Subflow {
    /// Handles the acknowledgment of a segment; false if the segment must be dropped.
    pub(super) fn handle_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        streams: &mut dyn Streams,
    ) -> bool {
        let ack = segment.acknowledgment;
        if ack.after(self.send.next) || self.is_ancient(ack) {
            // RFC 5961 section 5.2.
            self.challenge(now);
            return false;
        }
        let mut event = Event {
            prior_una: self.send.una,
            advanced: ack.after(self.send.una),
            stamp: self.echo_of(segment),
            ..Event::default()
        };
        let before = (self.send.delivered, self.board.lost_total);
        self.note_timestamp(now, segment);
        if ack.before(self.send.una) {
            self.handle_late_sack(now, segment, &mut event);
            return true;
        }
        // Before SACK is taken: what this acknowledgment reports together did not overtake itself.
        event.prior_highest = self.board.highest_sacked().unwrap_or(event.prior_una);
        let had_flight = !self.board.is_empty();
        let window_max = self.send.window_max;
        self.update_window(segment, &mut event);
        if self.send.window_max != window_max {
            streams.set_block(self.block_len());
        }
        self.send.una = ack;
        if event.advanced {
            self.loss.timeouts = 0;
        }
        self.take_sack(now, segment, &mut event);
        event.echo = self.receive.agreed.ecn && segment.has(Flags::ECE);
        self.timers.unanswered = 0;
        if had_flight {
            self.take_flight(now, &mut event, before, streams);
        } else {
            self.take_without_flight(now, &mut event, streams);
        }
        if self.send.fin && self.send.una == self.send.next && event.advanced {
            self.fin_acknowledged(now);
        }
        true
    }

    /// An acknowledgment while segments are in flight.
    fn take_flight(
        &mut self,
        now: Time,
        event: &mut Event,
        before: (u64, u64),
        streams: &mut dyn Streams,
    ) {
        self.take_off(now, event, streams);
        self.measure(now, event);
        if let Some((_, delivered)) = event.rate_sample {
            self.loss.rack.adapt(delivered, self.send.delivered);
        }
        self.judge_probe(now, event);
        if self.is_dubious(event) {
            self.alert(now, event);
        }
        if event.set_timer {
            self.set_transmit_timer(now);
        }
        let progress = Progress {
            delivered: (self.send.delivered - before.0) as u32,
            lost: (self.board.lost_total - before.1) as u32,
            advanced: event.advanced,
        };
        let forward = event.data_acked || event.sacked;
        let orderly = self.loss.reordering <= super::MIN_REORDERING;
        self.adjust_window(now, progress, if orderly { event.data_acked } else { forward });
    }

    /// An acknowledgment while nothing is in flight: it may open the window.
    fn take_without_flight(&mut self, now: Time, event: &mut Event, streams: &mut dyn Streams) {
        if event.duplicate {
            self.alert(now, event);
        }
        let sendable = self.sendable(streams.waiting());
        if !self.has_more(streams) || sendable > 0 || self.may_finish(0, streams) {
            self.loss.backoff = 0;
            self.timers.transmit = None;
        }
        self.judge_probe(now, event);
    }

    /// An acknowledgment older than SND.UNA still carries SACK information.
    fn handle_late_sack(&mut self, now: Time, segment: &Segment, event: &mut Event) {
        if segment.options.sack.is_empty() {
            return;
        }
        event.not_duplicate = true;
        self.take_sack(now, segment, event);
        self.alert(now, event);
    }

    /// RFC 5961 section 5.2: further back than the largest window the peer ever offered.
    fn is_ancient(&self, ack: Seq) -> bool {
        ack.before(self.send.una - self.send.window_max)
    }

    pub(super) fn echo_of(&self, segment: &Segment) -> Option<u32> {
        self.stamps_of(segment).map(|stamps| stamps.echo).filter(|echo| *echo != 0)
    }

    /// The timestamps of a segment, if both sides use them.
    pub(super) fn stamps_of(&self, segment: &Segment) -> Option<Timestamps> {
        segment.options.timestamps.filter(|_| self.receive.agreed.timestamps)
    }

    /// RFC 7323 section 4.3: TS.Recent follows segments that do not begin after the last
    /// acknowledgment.
    fn note_timestamp(&mut self, now: Time, segment: &Segment) {
        let Some(stamps) = self.stamps_of(segment) else { return };
        let newer = (stamps.value.wrapping_sub(self.receive.ts_recent) as i32) >= 0;
        if newer && !segment.sequence.after(self.receive.acknowledged) {
            self.receive.ts_recent = stamps.value;
            self.receive.ts_recent_at = now;
        }
    }

    /// RFC 9293 section 3.10.7.4: SND.WND, WL1 and WL2.
    fn update_window(&mut self, segment: &Segment, event: &mut Event) {
        event.not_duplicate |= segment.sequence_len() > 0;
        let window = u32::from(segment.window) << self.send.scale;
        let since = self.send.window_update_seq;
        let newer = event.advanced
            || segment.sequence.after(since)
            || (segment.sequence == since && (window > self.send.window || window == 0));
        if newer {
            event.not_duplicate = true;
            self.send.window_update_seq = segment.sequence;
            self.send.window = window;
            self.send.window_max = self.send.window_max.max(window);
        }
    }

    /// Takes the segments off the scoreboard that are acknowledged cumulatively.
    fn take_off(&mut self, now: Time, event: &mut Event, streams: &mut dyn Streams) {
        let una = self.send.una;
        let sack = self.receive.agreed.sack;
        let mut acked_bytes = 0;
        while self.board.front().is_some_and(|sent| !sent.end().after(una)) {
            let Some(sent) = self.board.pop_front() else { break };
            acked_bytes += sent.payload.len();
            event.segments += 1;
            event.data_acked = true;
            if sent.ever_retransmitted {
                event.retransmitted_acked = true;
            } else if !sent.sacked {
                event.last_acked_at = Some(sent.sent_at);
                event.first_acked_at.get_or_insert(sent.sent_at);
                event.note_late(sent.start);
                event.original_acked |= !sent.end().after(self.loss.high);
            }
            if !sent.sacked && sack {
                self.send.delivered += 1;
                if !answers_original(&sent, self.timestamp(sent.sent_at), event.stamp) {
                    self.loss.rack.delivered(&sent, now, self.min_rtt());
                }
            }
            event.note_delivery(sent.sent_at, sent.delivered);
        }
        self.board.forget_acknowledged();
        acked_bytes += self.board.trim_front(una) as usize;
        if acked_bytes > 0 {
            self.counters.bytes_acknowledged += acked_bytes as u64;
            streams.acknowledged(acked_bytes);
        }
        event.reneged = self.board.front().is_some_and(|sent| sent.sacked);
        if event.data_acked {
            event.set_timer = true;
            if !sack {
                let (delivered, beyond) = self.board.remove_dupacks(event.segments);
                self.send.delivered += u64::from(delivered);
                if beyond {
                    self.note_dupacks_beyond(event.segments);
                }
                event.original_acked &= !event.retransmitted_acked;
            } else if let Some(late) = event.late.filter(|late| late.before(event.prior_highest)) {
                self.note_reordering(late);
            }
        }
    }

    /// Takes the round-trip time (RFC 6298 section 3, RFC 7323 section 4.1).
    fn measure(&mut self, now: Time, event: &mut Event) {
        let usable = !event.retransmitted_acked;
        let mut rtt = event.first_acked_at.filter(|_| usable).map(|at| now - at);
        let mut latest = event.last_acked_at.filter(|_| usable).map(|at| now - at);
        let sack_rtt = event.first_sacked_at.map(|at| now - at);
        latest = event.last_sacked_at.map(|at| now - at).or(latest);
        rtt = rtt.or(sack_rtt);
        if rtt.is_none() && event.data_acked {
            rtt = event.stamp.map(|stamp| {
                let millis = self.timestamp(now).wrapping_sub(stamp).clamp(1, MAX_STAMP_RTT_MS);
                Duration::from_millis(millis.into())
            });
            latest = rtt;
        }
        if let Some(rtt) = rtt {
            self.rtt.sample_min(latest.unwrap_or(rtt), now);
            self.rtt.sample(rtt, self.send.una, self.send.next);
            self.loss.backoff = 0;
        }
        // A timer for the first segment restarts if the selectively acknowledged data was sent
        // before that segment.
        if let (false, Some(sack_rtt), Some(front)) =
            (event.data_acked, sack_rtt, self.board.front())
        {
            event.set_timer |= sack_rtt > now - front.sent_at;
        }
        if let Some(latest) = latest {
            let acked = self.acked(now, event.segments);
            self.congestion.on_rtt(&mut self.window, latest, &acked);
        }
    }

    fn is_dubious(&self, event: &Event) -> bool {
        let duplicate = !event.not_duplicate && !event.data_acked;
        duplicate || event.sacked || event.echo || event.duplicate || self.loss.phase != Phase::Open
    }
}

impl Event {
    /// The segment that begins at `start` arrived after some that follow it.
    pub(super) fn note_late(&mut self, start: Seq) {
        self.late = Some(self.late.map_or(start, |late| late.min(start)));
    }

    /// Remembers the latest sent of the segments that were delivered.
    pub(super) fn note_delivery(&mut self, sent_at: Time, delivered: u64) {
        if self.rate_sample.is_none_or(|(at, _)| sent_at >= at) {
            self.rate_sample = Some((sent_at, delivered));
        }
    }
}

/// True if the echoed timestamp shows that a transmission before the last one was acknowledged.
fn answers_original(sent: &Sent, stamped_at: u32, stamp: Option<u32>) -> bool {
    sent.ever_retransmitted
        && stamp.is_some_and(|stamp| (stamp.wrapping_sub(stamped_at) as i32) < 0)
}

/// An echoed timestamp that claims a longer round trip is cut to this.
const MAX_STAMP_RTT_MS: u32 = 300_000;
