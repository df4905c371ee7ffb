//! The handshake (RFC 9293 section 3.5).

use std::net::SocketAddr;

use trackbed_core::Time;

use super::block::Reason;
use super::{State, Streams, Subflow, local_mss};
use crate::config::{Config, EcnMode};
use crate::error::TcpError;
use crate::receive::acker::Acker;
use crate::receive::tuner;
use crate::segment::{Flags, Options, Segment, Timestamps};
use crate::sequence::Seq;
use crate::stream::Verdict;

impl Subflow {
    /// An active open: sends a SYN.
    pub(crate) fn connect(
        now: Time,
        config: &Config,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
    ) -> Subflow {
        let mut subflow = Subflow::new(config, local, remote, isn);
        subflow.state = State::SynSent;
        subflow.send.next = subflow.send.una + 1;
        subflow.receive.window = tuner::initial_window(config.receive_buffer, subflow.send.mss);
        subflow.start_handshake(now);
        subflow
    }

    /// A passive open: answers `syn` with a SYN-ACK.
    pub(crate) fn accept(now: Time, config: &Config, syn: &Segment, isn: u32) -> Subflow {
        let mut subflow = Subflow::new(config, syn.destination, syn.source, isn);
        subflow.state = State::SynReceived;
        subflow.send.next = subflow.send.una + 1;
        subflow.agree(now, syn);
        let asks = Flags::ECE.with(Flags::CWR);
        subflow.receive.agreed.ecn =
            config.ecn != EcnMode::Off && syn.has(asks) && !syn.has(Flags::ACK);
        subflow.receive_syn(syn);
        subflow.start_handshake(now);
        subflow
    }

    fn start_handshake(&mut self, now: Time) {
        self.due.syn = true;
        (self.send.opened_at, self.send.last_sent_at) = (now, now);
        self.set_transmit(Reason::Retransmit, now, self.rtt.rto);
    }

    /// RFC 9293 section 3.10.7.3: a segment in SYN-SENT.
    pub(super) fn handle_in_syn_sent(
        &mut self,
        now: Time,
        segment: &Segment,
        streams: &mut dyn Streams,
    ) {
        let ack = segment.acknowledgment;
        let acks = segment.has(Flags::ACK);
        if acks && ack != self.send.next {
            if !segment.has(Flags::RST) {
                self.due.stray_reset = Some(ack);
            }
            return;
        }
        if segment.has(Flags::RST) {
            if acks {
                self.finish(Some(TcpError::Refused));
            }
            return;
        }
        if !segment.has(Flags::SYN) {
            return;
        }
        if acks && !self.is_welcome(now, segment, streams) {
            return;
        }
        self.reserved = streams.option_room();
        self.agree(now, segment);
        self.receive_syn(segment);
        if !acks {
            // Both sides opened at once (RFC 9293 section 3.5, figure 7).
            self.state = State::SynReceived;
            self.due.syn = true;
            return;
        }
        let answers = segment.has(Flags::ECE) && !segment.has(Flags::CWR);
        self.receive.agreed.ecn = self.config.ecn == EcnMode::Active && answers;
        self.establish(now, segment, streams);
        self.due.ack = true;
    }

    /// Takes over what the options of a SYN offer, as far as we offer it too.
    fn agree(&mut self, now: Time, syn: &Segment) {
        let options = &syn.options;
        let agreed = &mut self.receive.agreed;
        agreed.sack = self.config.sack && options.sack_permitted;
        agreed.timestamps = self.config.timestamps && options.timestamps.is_some();
        if let Some(Timestamps { value, .. }) = options.timestamps {
            self.receive.ts_recent = value;
            self.receive.ts_recent_at = now;
        }
        // RFC 7323 section 2.2: both scale or neither does. A shift of zero is one, too: it lets
        // the peer scale its own windows.
        let shift = options.window_scale.filter(|_| self.config.window_scaling);
        agreed.window_scaling = shift.is_some();
        self.send.scale = shift.unwrap_or(0);
        let own_shift = tuner::window_scale(self.config.receive_buffer);
        self.receive.scale = if shift.is_some() { own_shift } else { 0 };
        // RFC 9293 section 3.7.1: SHLD-6, MUST-15. Options take room from every segment.
        let offered = options.mss.map_or(DEFAULT_MSS, u32::from).max(MIN_MSS);
        let timestamps = if self.receive.agreed.timestamps { TIMESTAMPS_LEN } else { 0 };
        self.send.mss =
            offered.min(local_mss(&self.config, self.local)) - timestamps - self.reserved;
    }

    /// Takes over the peer's sequence number and window.
    fn receive_syn(&mut self, syn: &Segment) {
        self.receive.next = syn.sequence + 1;
        self.receive.acknowledged = self.receive.next;
        self.receive.acker = Acker::new(self.send.mss, self.config.tick);
        if self.receive.window == 0 {
            let size = self.config.receive_buffer;
            self.receive.window = tuner::initial_window(size, self.send.mss);
        }
        self.receive.window = self.receive.window.min(u16::MAX.into());
        // RFC 7323 section 2.2: the window of a SYN is not scaled.
        self.send.window = syn.window.into();
        self.send.window_max = self.send.window;
        self.send.window_update_seq = syn.sequence;
    }

    /// Every segment is to have room for `len` bytes of options besides timestamps. To be called
    /// before the subflow is established.
    pub(crate) fn reserve_options(&mut self, len: u32) {
        self.reserved = len;
        self.send.mss = self.send.mss.saturating_sub(len).max(MIN_MSS);
    }

    /// True if the extension lets `segment` complete the handshake. If it refuses, the peer gets a
    /// reset.
    pub(super) fn is_welcome(
        &mut self,
        now: Time,
        segment: &Segment,
        streams: &mut dyn Streams,
    ) -> bool {
        match streams.judge_handshake(now, segment) {
            Verdict::Accept => true,
            Verdict::Ignore => false,
            Verdict::Refuse => {
                self.receive.next = segment.end();
                self.send.next = segment.acknowledgment;
                self.finish(Some(TcpError::Refused));
                self.due.reset = true;
                false
            }
        }
    }

    /// The handshake is done on this side, by `segment` that acknowledges our SYN.
    pub(super) fn establish(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        self.state = State::Established;
        self.send.una = segment.acknowledgment;
        self.loss.high = self.send.una;
        self.send.small_end = None;
        self.timers.transmit = None;
        self.sample_handshake(now, segment);
        // RFC 6928 section 2: a handshake that lost more than one segment starts carefully, in Linux unless the answer
        // is to the first (`tcp_try_undo_spurious_syn`).
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        if self.loss.timeouts > 1 && echo != Some(self.timestamp(self.send.opened_at)) {
            self.window.cwnd = 1;
        }
        (self.loss.timeouts, self.loss.backoff) = (0, 0);
        self.receive.tuner.established(now, self.send.mss);
        self.restart_keepalive(now);
        streams.established(self.window.cwnd, self.send.mss);
        streams.set_block(self.block_len());
        if std::mem::take(&mut self.closing) {
            self.close();
        }
    }

    /// The first round-trip time, unless it is unclear which SYN was answered (RFC 6298 section 3).
    fn sample_handshake(&mut self, now: Time, segment: &Segment) {
        let rtt = match segment.options.timestamps {
            Some(Timestamps { echo, .. }) if self.loss.timeouts > 0 => {
                let millis = self.timestamp(now).wrapping_sub(echo);
                if echo == 0 || millis > MAX_HANDSHAKE_RTT_MS {
                    return;
                }
                std::time::Duration::from_millis(millis.into())
            }
            _ if self.loss.timeouts > 0 => return,
            _ => now - self.send.last_sent_at,
        };
        self.rtt.sample(rtt, self.send.una, self.send.next);
        self.rtt.sample_min(rtt, now);
    }

    pub(super) fn syn_segment(&mut self, now: Time, streams: &mut dyn Streams) -> Segment {
        let answers = self.state == State::SynReceived;
        let agreed = self.receive.agreed;
        let value = self.timestamp(now);
        let echo = if answers { self.receive.ts_recent } else { 0 };
        let offers = |wanted: bool, agreed: bool| if answers { agreed } else { wanted };
        let scaled = offers(self.config.window_scaling, agreed.window_scaling);
        let timestamps = offers(self.config.timestamps, agreed.timestamps);
        let options = Options {
            mss: Some(local_mss(&self.config, self.local).min(u16::MAX.into()) as u16),
            window_scale: scaled.then(|| tuner::window_scale(self.config.receive_buffer)),
            sack_permitted: offers(self.config.sack, agreed.sack),
            timestamps: timestamps.then_some(Timestamps { value, echo }),
            multipath: streams.syn_options(),
            ..Options::default()
        };
        // RFC 3168 section 6.1.1; a retransmitted SYN does not request ECN, in case the network
        // drops SYNs that do.
        let asks = self.config.ecn == EcnMode::Active && self.loss.timeouts == 0;
        let flags = match (answers, agreed.ecn) {
            (true, true) => Flags::SYN.with(Flags::ACK).with(Flags::ECE),
            (true, false) => Flags::SYN.with(Flags::ACK),
            (false, _) if asks => Flags::SYN.with(Flags::ECE).with(Flags::CWR),
            (false, _) => Flags::SYN,
        };
        let window = self.receive.window.min(u16::MAX.into()) as u16;
        let acknowledgment = if answers { self.receive.next } else { Seq(0) };
        let sequence = self.send.next - 1;
        Segment { sequence, acknowledgment, flags, window, options, ..self.blank() }
    }
}

/// The MSS of a peer that names none (RFC 9293 section 3.7.1, MUST-15).
const DEFAULT_MSS: u32 = 536;
/// Smaller offers are not believed.
const MIN_MSS: u32 = 64;
/// Bytes of the timestamps option, padded (RFC 7323 appendix A).
pub(super) const TIMESTAMPS_LEN: u32 = 12;
/// An echoed timestamp that claims more is not ours.
const MAX_HANDSHAKE_RTT_MS: u32 = 300_000;
