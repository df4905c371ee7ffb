//! The streams of a subflow in a multipath connection: the seam of [`crate::stream`].

use bytes::Bytes;
use trackbed_core::Time;

use super::incoming::{Delivery, Range};
use super::link::{Link, Notice, Stage};
use super::shared::{Mode, Shared};
use crate::segment::{Capable, CapableKeys, MultipathOptions, ResetReason, Segment};
use crate::sequence::Seq;
use crate::stream::{Extension, SendBuffer, Sink, Source, Streams, Verdict};

#[derive(Debug)]
pub(super) struct Carrier<'a> {
    pub link: &'a mut Link,
    pub shared: &'a mut Shared,
}

impl Source for Carrier<'_> {
    fn waiting(&self) -> usize {
        self.link.outgoing.run
    }

    fn is_tail(&self, len: usize) -> bool {
        self.link.outgoing.queued <= len
    }

    fn take(&mut self, len: usize) -> Bytes {
        self.link.outgoing.take(len)
    }

    fn is_finished(&self) -> bool {
        let all = self.link.outgoing.run == self.link.outgoing.queued;
        match self.shared.mode {
            Mode::Plain => all && self.shared.send.fin_at().is_some(),
            Mode::Opening | Mode::Unconfirmed | Mode::Confirmed => all && self.link.closing,
        }
    }

    fn is_drained(&self) -> bool {
        let more = self.shared.send.unsent().min(self.shared.send.window_room());
        self.link.outgoing.queued == 0 && more == 0
    }

    fn acknowledged(&mut self, len: usize) {
        self.shared.events.stirred = true;
        let Some(offset) = self.link.outgoing.acknowledge(len) else { return };
        // Fallen back, the subflow's acknowledgment is that of the stream (section 3.7).
        if self.shared.mode == Mode::Plain && self.shared.send.acknowledge(offset) {
            self.shared.events.progress = true;
        }
    }

    fn established(&mut self, cwnd: u32, mss: u32) {
        self.shared.events.stirred = true;
        self.reserve(cwnd, mss);
    }

    fn set_block(&mut self, len: usize) {
        self.shared.send.buffer.set_block(len);
    }

    fn starved(&mut self, cwnd: u32, mss: u32) {
        if self.shared.send.buffer.is_full(self.shared.send.used()) {
            self.reserve(cwnd, mss);
        }
    }
}

impl Carrier<'_> {
    /// The send buffer has room for what every subflow wants.
    fn reserve(&mut self, cwnd: u32, mss: u32) {
        let wanted = SendBuffer::wanted(cwnd, mss).max(self.link.wanted);
        self.shared.wanted += wanted - self.link.wanted;
        self.link.wanted = wanted;
        self.shared.send.buffer.enlarge(self.shared.wanted);
    }
}

impl Sink for Carrier<'_> {
    fn deliver(&mut self, data: Bytes) {
        let (link, shared) = (&mut *self.link, &mut *self.shared);
        let mut damaged = None;
        link.incoming.deliver(data, |delivery| match delivery {
            Delivery::Data(offset, data) => shared.receive.deliver(offset, data),
            Delivery::Damaged(range, parts) => {
                shared.counters.checksum_failures += 1;
                if shared.live == 1 && shared.linear && damaged.is_none() {
                    // A middlebox rewrites the stream on the only path: from here on it is plain
                    // TCP, as rewritten (section 3.7).
                    let mut offset = range.offset;
                    for part in parts {
                        let len = part.len() as u64;
                        shared.receive.deliver(offset, part);
                        offset += len;
                    }
                }
                damaged.get_or_insert(range);
            }
        });
        if let Some(range) = damaged {
            self.damaged(range);
        }
    }

    fn finish(&mut self) {
        if self.shared.mode == Mode::Plain {
            let end = self.shared.receive.next;
            self.shared.receive.finish_at(end);
        } else {
            self.link.peer_closed = true;
        }
    }

    fn unread(&self) -> usize {
        self.shared.receive.stream.unread()
    }
}

impl Carrier<'_> {
    /// Data arrived altered (section 3.7).
    fn damaged(&mut self, range: Range) {
        let number = self.shared.peer_number(range.offset);
        if self.shared.live == 1 && self.shared.linear {
            self.link.notices.push_back(Notice::Fail(number));
            self.revert();
        } else {
            self.link.failed = Some(number);
            self.link.reset = Some(ResetReason::MIDDLEBOX);
        }
    }

    /// Falls back in the middle of the connection, by an infinite mapping in both directions.
    pub(super) fn revert(&mut self) {
        for part in self.link.incoming.release() {
            self.shared.receive.deliver(self.shared.receive.next, part);
        }
        self.shared.infinite = true;
        self.become_plain();
    }

    /// Falls back to plain TCP, because the path drops MPTCP options.
    pub(super) fn fall_back(&mut self) {
        if !self.shared.linear || !self.link.is_first() {
            self.shared.events.broken = true;
            return;
        }
        self.link.notices.clear();
        self.become_plain();
    }

    /// The subflow is the stream: both have the same byte at the same offset.
    fn become_plain(&mut self) {
        self.link.incoming.map_endlessly(self.shared.receive.next);
        self.shared.mode = Mode::Plain;
        self.shared.send.become_plain(self.link.outgoing.acknowledged);
        self.shared.events.stirred = true;
        self.shared.events.progress = true;
    }
}

impl Extension for Carrier<'_> {
    fn option_room(&self) -> u32 {
        if self.shared.mode == Mode::Plain { 0 } else { self.shared.option_room() }
    }

    fn syn_options(&mut self) -> Option<Box<MultipathOptions>> {
        if self.shared.mode == Mode::Plain {
            return None;
        }
        let mut options = Box::<MultipathOptions>::default();
        if self.link.is_first() {
            let key = self.shared.local_key.0;
            let initiator = self.shared.initiator;
            self.link.no_longer_capable = initiator && self.link.capable_syns > CAPABLE_RETRIES_MAX;
            if self.link.no_longer_capable {
                return None;
            }
            self.link.capable_syns += 1;
            let keys = if initiator { CapableKeys::Offer } else { CapableKeys::Answer(key) };
            let checksum = self.shared.checksum;
            options.capable = Some(Capable { checksum, no_join_here: false, keys });
        } else {
            options.join = self.link.join_option(self.shared);
        }
        Some(options)
    }

    fn judge_handshake(&mut self, now: Time, segment: &Segment) -> Verdict {
        if self.shared.mode == Mode::Plain {
            return Verdict::Accept;
        }
        let options = segment.options.multipath.as_deref();
        if self.link.is_first() {
            // Section 3.3.4: the window counts at the data level; that of a SYN is not scaled.
            self.shared.send.window_end = segment.window.into();
            self.shared.receive.begin(now);
            self.judge_capable(options)
        } else {
            self.judge_join(options)
        }
    }

    fn arrived(&mut self, _now: Time, segment: &Segment, window: u32) {
        self.shared.events.stirred = true;
        match &segment.options.multipath {
            Some(options) if self.shared.mode != Mode::Plain => {
                self.take_options(options, segment, window);
            }
            None if self.shared.mode != Mode::Plain => self.take_bare(),
            _ => {}
        }
    }

    fn reset_arrived(&mut self, segment: &Segment) {
        if let Some(options) = &segment.options.multipath {
            let ours = Some(self.shared.local_key.0);
            self.shared.events.broken |= options.fast_close == ours;
        }
    }

    fn options(
        &mut self,
        _now: Time,
        sequence: Seq,
        payload: &[u8],
        room: usize,
    ) -> Option<Box<MultipathOptions>> {
        self.link.data_segments += u64::from(!payload.is_empty());
        if self.shared.mode == Mode::Plain {
            return self.plain_options(sequence, payload);
        }
        let mut options = Box::<MultipathOptions>::default();
        if payload.is_empty() {
            self.on_acknowledgment(&mut options, room);
        } else {
            self.on_data(&mut options, sequence, payload);
        }
        Some(options)
    }

    fn reset_options(&mut self) -> Option<Box<MultipathOptions>> {
        if self.shared.mode == Mode::Plain {
            return None;
        }
        let fast_close = self.shared.remote_key.filter(|_| self.link.fast_close);
        Some(Box::new(MultipathOptions {
            fast_close: fast_close.map(|key| key.0),
            fail: self.link.failed,
            reset: self.link.reset,
            ..MultipathOptions::default()
        }))
    }

    fn has_notice(&self) -> bool {
        !self.link.notices.is_empty() && !self.is_proving()
    }

    fn shared_window(&mut self, unit: u32) -> Option<u16> {
        Some(self.shared.receive.window(unit))
    }
}

impl Streams for Carrier<'_> {}

impl Carrier<'_> {
    /// MP_CAPABLE on the SYN-ACK, or on what acknowledges ours (section 3.1).
    fn judge_capable(&mut self, options: Option<&MultipathOptions>) -> Verdict {
        let capable = options.and_then(|options| options.capable);
        let capable = capable.filter(|_| !self.link.no_longer_capable);
        let keys = capable.map(|capable| capable.keys);
        match (self.shared.initiator, keys) {
            (true, Some(CapableKeys::Answer(key))) => self.agree(key, capable),
            (false, Some(CapableKeys::Both { sender, receiver, .. })) => {
                if receiver != self.shared.local_key.0 {
                    return Verdict::Refuse;
                }
                self.agree(sender, capable)
            }
            // Data overtook the acknowledgment with the keys: that comes again.
            (false, None) if options.is_some_and(|options| options.dss.is_some()) => {
                Verdict::Ignore
            }
            // Section 3.7: the peer does not support Multipath TCP, or a middlebox removed the
            // option.
            _ => {
                self.fall_back();
                Verdict::Accept
            }
        }
    }

    fn agree(&mut self, key: u64, capable: Option<Capable>) -> Verdict {
        self.shared.set_remote_key(super::keys::Key(key));
        self.shared.checksum |= capable.is_some_and(|capable| capable.checksum);
        self.shared.mode = Mode::Unconfirmed;
        Verdict::Accept
    }

    /// MP_JOIN on the SYN-ACK, or on what acknowledges ours (section 3.2).
    fn judge_join(&mut self, options: Option<&MultipathOptions>) -> Verdict {
        let join = options.and_then(|options| options.join);
        if join.is_some_and(|join| self.link.take_join(self.shared, join)) {
            return Verdict::Accept;
        }
        let answered = matches!(self.link.stage, Stage::Joined { .. });
        if answered && join.is_none() && options.is_some_and(|options| options.dss.is_some()) {
            return Verdict::Ignore;
        }
        self.link.reset = Some(match options {
            Some(_) => ResetReason::PROTOCOL,
            None => ResetReason::MIDDLEBOX,
        });
        Verdict::Refuse
    }
}

/// Repeated SYNs with MP_CAPABLE before the fallback to TCP: a middlebox may drop them because of it
/// (default of Linux's `net.mptcp.syn_retrans_before_tcp_fallback`).
const CAPABLE_RETRIES_MAX: u32 = 2;
