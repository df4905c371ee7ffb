//! What to send next (RFC 9293 section 3.8).

use bytes::Bytes;
use trackbed_core::packet::Ecn;
use trackbed_core::{Packet, Time};

use super::block::{Batch, Reason};
use super::open::TIMESTAMPS_LEN;
use super::{Phase, State, Streams, Subflow};
use crate::recovery::scoreboard::{Id, Sent};
use crate::segment::{Flags, MAX_OPTIONS_LEN, Options, SackBlocks, Segment, Timestamps};
use crate::sequence::Seq;

impl Subflow {
    /// The next packet; to be called until it returns `None`.
    pub(crate) fn poll_transmit(&mut self, now: Time, streams: &mut dyn Streams) -> Option<Packet> {
        let segment = self.next_segment(now, streams)?;
        self.counters.segments_sent += 1;
        Some(segment.emit())
    }

    fn next_segment(&mut self, now: Time, streams: &mut dyn Streams) -> Option<Segment> {
        if let Some(sequence) = self.due.stray_reset.take() {
            return Some(Segment { sequence, flags: Flags::RST, ..self.blank() });
        }
        if std::mem::take(&mut self.due.reset) {
            let (sequence, acknowledgment) = (self.send.next, self.receive.next);
            let flags = Flags::RST.with(Flags::ACK);
            let options = Options { multipath: streams.reset_options(), ..Options::default() };
            return Some(Segment { sequence, acknowledgment, flags, options, ..self.blank() });
        }
        if std::mem::take(&mut self.due.syn) {
            return Some(self.syn_segment(now, streams));
        }
        if matches!(self.state, State::SynSent | State::SynReceived | State::Closed) {
            return None;
        }
        if let Some(id) = self.due.forced.take()
            && let Some(segment) = self.retransmit(now, id, streams)
        {
            return Some(segment);
        }
        if let Some(segment) = self.next_data(now, streams) {
            return Some(segment);
        }
        if std::mem::take(&mut self.due.window_probe) {
            return Some(self.window_probe(now, streams));
        }
        if self.due.ack || streams.has_notice() {
            return Some(self.acknowledgment(now, streams));
        }
        None
    }

    /// Lost data, then new data; in the second step of F-RTO the other way round.
    fn next_data(&mut self, now: Time, streams: &mut dyn Streams) -> Option<Segment> {
        if self.due.retransmit
            && !self.due.new_first
            && let Some(segment) = self.retransmit_lost(now, streams)
        {
            return Some(segment);
        }
        if let Some(segment) = self.send_new(now, streams) {
            self.due.burst += 1;
            return Some(segment);
        }
        self.end_burst(now, streams);
        // What the window kept back waits until an acknowledgment or a timer asks for it again.
        self.due.retransmit = false;
        if std::mem::take(&mut self.due.new_first) {
            if self.send.next.after(self.loss.high) {
                return None;
            }
            self.loss.frto = false;
            let segment = self.retransmit_lost(now, streams);
            self.due.retransmit = segment.is_some();
            return segment;
        }
        None
    }

    fn retransmit_lost(&mut self, now: Time, streams: &mut dyn Streams) -> Option<Segment> {
        let id = self.board.next_waiting()?;
        if self.board.in_flight() >= self.window.cwnd {
            return None;
        }
        let restart = id == self.board.first_id()
            && !matches!(self.timers.transmit, Some((Reason::Reordering, _)));
        let segment = self.retransmit(now, id, streams)?;
        if matches!(self.loss.phase, Phase::Reduced | Phase::Recovery) {
            self.loss.prr.sent();
        }
        if restart {
            self.set_transmit(Reason::Retransmit, now, self.rtt.backed_off(self.loss.backoff));
        }
        Some(segment)
    }

    /// Sends a segment again, unless the peer's window has shrunk below it.
    fn retransmit(&mut self, now: Time, id: Id, streams: &mut dyn Streams) -> Option<Segment> {
        let sent = self.board.get(id)?;
        let window_end = self.send.una + self.send.window;
        if !sent.start.before(window_end) && sent.start != self.send.una {
            return None;
        }
        let (start, payload, fin) = (sent.start, sent.payload.clone(), sent.fin);
        // A tail loss probe is not counted as in flight (RFC 8985 section 7.3), nor is it a
        // retransmission that might be undone.
        let counts = sent.lost;
        self.board.mark_retransmitted(id, now, self.send.delivered, counts);
        if counts {
            self.loss.undo.retransmitted(self.timestamp(now));
        }
        self.counters.retransmissions += 1;
        self.send.last_sent_at = now;
        Some(self.data_segment(now, start, payload, fin, streams))
    }

    /// The next new segment, if both windows and Nagle's algorithm allow it.
    fn send_new(&mut self, now: Time, streams: &mut dyn Streams) -> Option<Segment> {
        let waiting = streams.waiting();
        if !self.has_more(streams) {
            self.due.probe_with_data = false;
            return None;
        }
        let probe = std::mem::take(&mut self.due.probe_with_data);
        if self.board.is_empty() && self.due.burst == 0 {
            self.restart_after_idle(now);
        }
        if self.board.in_flight() >= self.window.cwnd && !probe {
            self.due.limited = true;
            return None;
        }
        let len = self.sendable(waiting);
        let fin = self.may_finish(len, streams);
        if len == 0 && !fin {
            return None;
        }
        if !probe && !self.continue_batch(now, waiting) {
            return None;
        }
        // In the middle of a queue a small segment has nothing to gain from waiting. The second step of
        // F-RTO wants any segment.
        let waits = !fin && !probe && !self.due.new_first;
        if waits && streams.is_tail(len) && self.held_back(len) {
            return None;
        }
        let payload = streams.take(len);
        let segment = self.send_first_time(now, payload, fin, streams);
        if probe {
            self.probe_sent(now);
        }
        Some(segment)
    }

    fn send_first_time(
        &mut self,
        now: Time,
        payload: Bytes,
        fin: bool,
        streams: &mut dyn Streams,
    ) -> Segment {
        let start = self.send.next;
        let first = self.board.is_empty();
        let mut sent = Sent::new(start, payload.clone(), fin);
        sent.sent_at = now;
        sent.delivered = self.send.delivered;
        self.send.next = sent.end();
        self.board.push(sent);
        self.send.fin |= fin;
        if payload.len() < self.send.mss as usize {
            self.send.small_end = Some(self.send.next);
        }
        self.counters.bytes_sent += payload.len() as u64;
        if matches!(self.loss.phase, Phase::Reduced | Phase::Recovery) {
            self.loss.prr.sent();
        }
        if first || matches!(self.timers.transmit, Some((Reason::TailLoss, _))) {
            self.restart_retransmission(now);
        }
        self.send.last_sent_at = now;
        self.receive.acker.data_sent(now);
        let mut segment = self.data_segment(now, start, payload, fin, streams);
        // RFC 9293 section 3.9.1.2: PSH at the end of what there is to send (MUST-60).
        if streams.is_drained() || self.due.batch.is_complete() {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if self.receive.agreed.ecn {
            segment.ecn = Ecn::Ect0;
            if std::mem::take(&mut self.send.cwr) {
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
        segment
    }

    /// Nothing more can be sent now.
    fn end_burst(&mut self, now: Time, streams: &mut dyn Streams) {
        let sent = std::mem::take(&mut self.due.burst);
        self.due.batch = Batch::default();
        let full = self.board.in_flight() >= self.window.cwnd;
        let limited = std::mem::take(&mut self.due.limited) || (sent > 0 && full);
        if sent > 0 && !std::mem::take(&mut self.due.probed) {
            self.schedule_probe(now, false);
        }
        if sent > 0 || limited {
            self.note_usage(now, limited);
        }
        if !full {
            streams.starved(self.window.cwnd, self.send.mss);
        }
        if self.board.is_empty() && self.has_more(streams) {
            self.start_persist(now);
        }
    }

    /// True if there is something that was never sent: data, or a FIN.
    pub(super) fn has_more(&self, streams: &dyn Streams) -> bool {
        let closes = streams.is_finished() && self.sends_fin();
        !self.send.fin && (streams.waiting() > 0 || closes)
    }

    /// True if a FIN goes with the next `len` bytes: they are the last, and the peer's window has
    /// room for it, too (RFC 9293 section 3.4: it takes a sequence number).
    pub(super) fn may_finish(&self, len: usize, streams: &dyn Streams) -> bool {
        let end = self.send.next + len as u32;
        streams.is_finished()
            && self.sends_fin()
            && len == streams.waiting()
            && end.before(self.send.una + self.send.window)
    }

    /// How much of the waiting data the peer's window lets go in a segment: a whole one, or half
    /// of the largest window that the peer ever offered (RFC 9293 section 3.8.6.2.1), without
    /// which a peer whose window is less than a segment would get its data from probes only.
    pub(super) fn sendable(&self, waiting: usize) -> usize {
        let len = waiting.min(self.send.mss as usize) as u32;
        let room = (self.send.una + self.send.window).since(self.send.next);
        let enough = len <= room || (room > 0 && room >= self.send.window_max.div_ceil(2));
        if enough { len.min(room) as usize } else { 0 }
    }

    /// Nagle's algorithm in Minshall's variant: one small segment in flight at a time
    /// (RFC 9293 section 3.7.4).
    fn held_back(&self, len: usize) -> bool {
        let small_in_flight = self.send.small_end.is_some_and(|end| end.after(self.send.una));
        self.config.nagle
            && len < self.send.mss as usize
            && !self.board.is_empty()
            && small_in_flight
    }

    fn sends_fin(&self) -> bool {
        matches!(self.state, State::FinWait1 | State::Closing | State::LastAck)
    }

    /// RFC 9293 section 3.8.4 and 3.8.6.1: a segment that the peer must answer.
    fn window_probe(&mut self, now: Time, streams: &mut dyn Streams) -> Segment {
        let room = (self.send.una + self.send.window).since(self.send.next) as usize;
        let waiting = streams.waiting();
        let len = room.min(waiting).min(self.send.mss as usize);
        if len > 0 && !self.send.fin {
            // The window is open, but less than a segment: use what there is of it.
            let payload = streams.take(len);
            let fin = self.may_finish(len, streams);
            return self.send_first_time(now, payload, fin, streams);
        }
        let sequence = self.send.una - 1;
        Segment { sequence, ..self.acknowledgment(now, streams) }
    }

    fn acknowledgment(&mut self, now: Time, streams: &mut dyn Streams) -> Segment {
        self.data_segment(now, self.send.next, Bytes::new(), false, streams)
    }

    /// A segment with everything that goes along with data: acknowledgment, window, options.
    fn data_segment(
        &mut self,
        now: Time,
        sequence: Seq,
        payload: Bytes,
        fin: bool,
        streams: &mut dyn Streams,
    ) -> Segment {
        let window = self.choose_window(streams);
        let agreed = self.receive.agreed;
        let timestamps = agreed
            .timestamps
            .then(|| Timestamps { value: self.timestamp(now), echo: self.receive.ts_recent });
        let taken = if agreed.timestamps { TIMESTAMPS_LEN } else { 0 } as usize;
        let multipath = streams.options(now, sequence, &payload, MAX_OPTIONS_LEN - taken);
        let taken = taken + multipath.as_ref().map_or(0, |options| options.wire_len());
        let sack = self.sack_blocks(payload.is_empty(), MAX_OPTIONS_LEN - taken);
        let mut flags = Flags::ACK;
        if fin {
            flags = flags.with(Flags::FIN);
        }
        if self.receive.echo_congestion {
            flags = flags.with(Flags::ECE);
        }
        self.receive.acknowledged = self.receive.next;
        self.receive.acker.acknowledged();
        let acknowledgment = self.receive.next;
        let options = Options { timestamps, sack, multipath, ..Options::default() };
        Segment { sequence, acknowledgment, flags, window, options, payload, ..self.blank() }
    }

    /// What to report selectively. Full segments have no room for it: then the acknowledgment that
    /// is due follows by itself.
    fn sack_blocks(&mut self, bare: bool, room: usize) -> SackBlocks {
        let agreed = self.receive.agreed;
        let report = self.receive.duplicate.is_some() || !self.receive.reassembly.is_empty();
        if !agreed.sack || !report {
            self.due.ack = false;
            return SackBlocks::default();
        }
        if !bare {
            return SackBlocks::default();
        }
        self.due.ack = false;
        let most = room.saturating_sub(4) / 8;
        let duplicate = self.receive.duplicate.take();
        self.receive.reassembly.blocks(duplicate, most)
    }

    /// The window field, and what it stands for. The right edge never moves back (RFC 9293
    /// section 3.8.6, SHLD-14).
    fn choose_window(&mut self, streams: &mut dyn Streams) -> u16 {
        let unit = 1u32 << self.receive.scale;
        if let Some(field) = streams.shared_window(unit) {
            // What was offered for this subflow's own sequence space stays acceptable.
            self.receive.window = (u32::from(field) * unit).max(self.offered_window());
            return field;
        }
        let wanted = self.receive.tuner.window(self.used(streams));
        let window = wanted.max(self.offered_window());
        let field = window.div_ceil(unit).min(u16::MAX.into());
        self.receive.window = field * unit;
        field as u16
    }

    pub(super) fn blank(&self) -> Segment {
        Segment { sequence: self.send.next, ..Segment::empty(self.local, self.remote) }
    }
}
