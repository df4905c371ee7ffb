//! Arriving data: in-order data goes to the stream, the rest to the reassembly; and when to
//! acknowledge.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::packet::Ecn;

use super::{State, Streams, Subflow};
use crate::receive::acker::Situation;
use crate::segment::{Flags, SackBlock, Segment};
use crate::sequence::Seq;

impl Subflow {
    /// RFC 9293 section 3.10.7.4, seventh and eighth.
    pub(super) fn handle_data(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        if segment.sequence_len() == 0 || self.state == State::Closed {
            return;
        }
        self.note_congestion(segment);
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            // The peer has sent its FIN; what it repeats is acknowledged again.
            self.report_duplicate(segment);
            self.due.ack = true;
            return;
        }
        let end = segment.sequence + segment.payload.len() as u32;
        if end.after(self.receive.next) && self.offered_window() == 0 {
            // RFC 9293 section 3.10.7.4, first: a shut window takes no data, however politely the
            // peer asks, but its acknowledgments count.
            self.receive.acker.enter_quick_mode(self.receive.window);
            self.due.ack = true;
            return;
        }
        if segment.has(Flags::FIN) {
            self.receive.fin_at = Some(end);
        }
        if segment.sequence.after(self.receive.next) {
            self.take_ahead(now, segment, streams);
        } else if end.after(self.receive.next) {
            self.take_in_order(now, segment, streams);
        } else if !segment.payload.is_empty() {
            self.receive.acker.enter_quick_mode(self.receive.window);
            self.report_duplicate(segment);
            self.due.ack = true;
        }
        if self.receive.fin_at == Some(self.receive.next) && !self.receive.fin {
            self.receive.next += 1;
            self.receive.fin = true;
            streams.finish();
            self.due.ack = true;
            self.fin_received(now);
        }
    }

    /// The application read `len` bytes: the window may open.
    pub(crate) fn data_read(&mut self, now: Time, len: usize, streams: &mut dyn Streams) {
        let hole = self.hole_span();
        self.receive.tuner.data_read(now, len, hole);
        if !self.is_synchronized() || self.receive.fin {
            return;
        }
        let grown = || self.receive.tuner.has_grown(self.offered_window(), self.used(streams));
        self.due.ack |= self.is_read_acknowledged(streams) || grown();
    }

    /// True if what waits to be acknowledged is due, now that the application has read.
    pub(super) fn is_read_acknowledged(&self, streams: &dyn Streams) -> bool {
        let acker = &self.receive.acker;
        let unacknowledged = self.receive.next.since(self.receive.acknowledged);
        acker.is_overdue(unacknowledged) || (streams.unread() == 0 && acker.drained())
    }

    fn take_in_order(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        let known = self.receive.next.since(segment.sequence);
        if known > 0 {
            let (start, end) = (segment.sequence, self.receive.next);
            self.receive.duplicate = Some(SackBlock { start, end });
            self.receive.acker.enter_quick_mode(self.receive.window);
        }
        // RFC 9293 section 3.10.7.4: what lies beyond the window is cut off.
        let room = (self.receive.acknowledged + self.receive.window).since(segment.sequence);
        let taken = segment.payload.len().min(room as usize);
        let data = segment.payload.slice(known as usize..taken);
        self.due.ack |= taken < segment.payload.len();
        self.receive.next += data.len() as u32;
        self.counters.bytes_received += data.len() as u64;
        streams.deliver(data);
        self.receive.acker.advanced();
        let len = segment.payload.len() as u32;
        let (window, rto) = (self.receive.window, self.rtt.rto);
        let data = (len, segment.has(Flags::PSH));
        self.receive.acker.data_arrived(now, data, window, rto);
        self.sample_receive_rtt(now, segment);
        self.open_window(len, streams);
        if !self.receive.reassembly.is_empty() {
            while let Some((end, chunks)) = self.receive.reassembly.pop(self.receive.next) {
                self.counters.bytes_received += u64::from(end.since(self.receive.next));
                self.receive.next = end;
                chunks.into_iter().for_each(|chunk| streams.deliver(chunk));
            }
            self.receive.reassembly.acknowledge(self.receive.next);
            // RFC 5681 section 4.2: a gap that is filled is acknowledged at once.
            self.due.ack |= self.receive.reassembly.is_empty();
        }
        self.decide_acknowledgment(now);
    }

    fn take_ahead(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        let window_end = self.receive.acknowledged + self.receive.window;
        let room = window_end.since(segment.sequence) as usize;
        let data = segment.payload.slice(..segment.payload.len().min(room));
        if data.is_empty() {
            self.due.ack = true;
            return;
        }
        self.receive.acker.schedule();
        let duplicate = self.receive.reassembly.insert(segment.sequence, &data);
        if duplicate.is_some() {
            self.receive.duplicate = duplicate;
            self.due.ack = true;
        }
        // Without SACK the window stays, or the acknowledgments would not count as duplicates.
        if self.receive.agreed.sack {
            self.open_window(data.len() as u32, streams);
        }
        self.decide_acknowledgment(now);
    }

    fn open_window(&mut self, len: u32, streams: &dyn Streams) {
        if self.receive.tuner.data_arrived(len, self.used(streams)) {
            self.receive.acker.window_grew();
        }
    }

    fn decide_acknowledgment(&mut self, now: Time) {
        let rtt = self.receive.tuner.rtt.unwrap_or(Duration::ZERO);
        let situation = Situation {
            unacknowledged: self.receive.next.since(self.receive.acknowledged),
            hole: !self.receive.reassembly.is_empty(),
            sack: self.receive.agreed.sack,
            rtt: self.rtt.srtt().map_or(rtt, |srtt| srtt.min(rtt)),
            srtt: self.rtt.srtt(),
        };
        let now_due = self.receive.acker.decide(now, situation);
        self.due.ack |= now_due || !self.config.delayed_ack;
    }

    /// The time from our acknowledgment to the data that echoes it (RFC 7323 section 4).
    fn sample_receive_rtt(&mut self, now: Time, segment: &Segment) {
        if let Some(echo) = self.echo_of(segment).filter(|echo| *echo != self.receive.last_echo) {
            self.receive.last_echo = echo;
            let millis = self.timestamp(now).wrapping_sub(echo);
            if segment.payload.len() as u32 >= self.send.mss && millis < MAX_RECEIVE_RTT_MS {
                self.receive.tuner.sample_rtt(Duration::from_millis(millis.into()));
            }
        }
    }

    /// RFC 3168 section 6.1.3: a mark is echoed until the peer says that it has reduced.
    fn note_congestion(&mut self, segment: &Segment) {
        if self.receive.agreed.ecn {
            if segment.has(Flags::CWR) {
                self.receive.echo_congestion = false;
            }
            if segment.ecn == Ecn::CongestionExperienced {
                self.receive.echo_congestion = true;
                self.due.ack = true;
            }
        }
    }

    /// Remembers a duplicate for the next acknowledgment (RFC 2883 section 4).
    pub(super) fn report_duplicate(&mut self, segment: &Segment) {
        let (start, end) = (segment.sequence, segment.end());
        if self.receive.agreed.sack && start.before(self.receive.next) && start != end {
            let end = end.min(self.receive.next);
            self.receive.duplicate = Some(SackBlock { start, end });
        }
    }

    /// Bytes that fill the receive buffer.
    pub(super) fn used(&self, streams: &dyn Streams) -> u32 {
        (streams.unread() + self.receive.reassembly.bytes).min(u32::MAX as usize) as u32
    }

    /// What is left of the window that was offered last.
    pub(super) fn offered_window(&self) -> u32 {
        (self.receive.acknowledged + self.receive.window).since(self.receive.next)
    }

    fn hole_span(&self) -> u32 {
        let end: Option<Seq> = self.receive.reassembly.end();
        end.map_or(0, |end| end.since(self.receive.next))
    }
}

/// An echo that claims a longer time is not of this connection.
const MAX_RECEIVE_RTT_MS: u32 = 300_000;
