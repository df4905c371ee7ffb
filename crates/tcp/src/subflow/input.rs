//! Arriving segments: which are acceptable (RFC 9293 section 3.10.7.4, RFC 5961, RFC 7323).

use std::time::Duration;

use trackbed_core::Time;

use super::{State, Streams, Subflow};
use crate::error::TcpError;
use crate::segment::{Flags, Segment};

impl Subflow {
    pub(crate) fn handle_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        streams: &mut dyn Streams,
    ) {
        self.counters.segments_received += 1;
        match self.state {
            State::Closed => {}
            State::SynSent => self.handle_in_syn_sent(now, segment, streams),
            State::TimeWait => self.handle_in_time_wait(now, segment),
            _ => {
                if self.accepts(now, segment, streams) {
                    self.handle_acceptable(now, segment, streams);
                }
            }
        }
    }

    fn handle_acceptable(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        // RFC 9293 section 3.10.7.4, fifth: a segment without ACK is dropped.
        if !segment.has(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            if segment.acknowledgment != self.send.next {
                self.due.stray_reset = Some(segment.acknowledgment);
                return;
            }
            if !self.is_welcome(now, segment, streams) {
                return;
            }
            self.establish(now, segment, streams);
            self.send.window = u32::from(segment.window) << self.send.scale;
            self.send.window_max = self.send.window;
        }
        self.restart_keepalive(now);
        if !self.handle_ack(now, segment, streams) {
            return;
        }
        streams.arrived(now, segment, u32::from(segment.window) << self.send.scale);
        self.handle_data(now, segment, streams);
    }

    /// RFC 9293 section 3.10.7.4, first to fourth: timestamps, sequence number, RST and SYN.
    /// Unacceptable segments get the required reply.
    fn accepts(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) -> bool {
        let rst = segment.has(Flags::RST);
        if self.is_old_duplicate(now, segment) && !rst {
            self.answer_stray(now, segment, segment.has(Flags::SYN));
            return false;
        }
        let receive = &self.receive;
        let window_end = receive.acknowledged + receive.window;
        let in_window = !segment.end().before(receive.acknowledged)
            && !segment.sequence.after(window_end.max(receive.next));
        if !in_window {
            if !rst {
                self.answer_stray(now, segment, segment.has(Flags::SYN));
            }
            return false;
        }
        if rst {
            self.handle_reset(now, segment, streams);
            return false;
        }
        if segment.has(Flags::SYN) {
            // RFC 5961 section 4.2: a SYN is challenged, but in SYN-RECEIVED it asks for our answer
            // again. If both sides opened at once, its
            // ACK completes the handshake (RFC 9293 section 3.5).
            let again = segment.sequence + 1 == self.receive.next;
            let opening = self.state == State::SynReceived && again;
            if opening && segment.has(Flags::ACK) {
                return true;
            }
            if opening {
                self.due.syn = true;
            } else {
                self.challenge(now);
            }
            return false;
        }
        true
    }

    /// RFC 7323 section 5.3: protection against wrapped sequence numbers.
    fn is_old_duplicate(&self, now: Time, segment: &Segment) -> bool {
        let Some(stamps) = self.stamps_of(segment) else { return false };
        let older = (stamps.value.wrapping_sub(self.receive.ts_recent) as i32) < 0;
        // RFC 7323 section 5.5: after 24 days of silence the clock may have wrapped.
        older && now - self.receive.ts_recent_at < PAWS_IDLE
    }

    /// RFC 5961 section 3.2: only the exact sequence number resets; others in the window are
    /// challenged.
    fn handle_reset(&mut self, now: Time, segment: &Segment, streams: &mut dyn Streams) {
        if segment.sequence == self.receive.next {
            streams.reset_arrived(segment);
            // RFC 9293 section 3.10.7.4: both sides have closed, and no error is signalled.
            let closed = matches!(self.state, State::Closing | State::LastAck);
            self.finish((!closed).then_some(TcpError::Reset));
        } else {
            self.challenge(now);
        }
    }

    /// Answers a segment outside the window: an acknowledgment gives the peer the expected sequence
    /// number. The rate of answers to segments without data is limited, so that two peers out of
    /// sync do not answer each other forever (RFC 5961 section 7).
    fn answer_stray(&mut self, now: Time, segment: &Segment, limited: bool) {
        if segment.payload.is_empty() || limited {
            self.challenge(now);
            return;
        }
        self.receive.acker.enter_quick_mode(self.receive.window);
        self.report_duplicate(segment);
        self.due.ack = true;
    }

    /// A challenge ACK, not more often than every half second.
    pub(super) fn challenge(&mut self, now: Time) {
        if now >= self.receive.quiet_until {
            self.receive.quiet_until = now + CHALLENGE_INTERVAL;
            if self.state == State::SynReceived {
                self.due.syn = true;
            } else {
                self.due.ack = true;
            }
        }
    }

    /// RFC 9293 section 3.10.7.4 in TIME-WAIT: a FIN again means that our last acknowledgment was
    /// lost; RFC 1337: a reset does not end the state.
    fn handle_in_time_wait(&mut self, now: Time, segment: &Segment) {
        if segment.has(Flags::RST) {
            return;
        }
        if segment.has(Flags::FIN) {
            self.start_time_wait(now);
            self.due.ack = true;
        } else if segment.sequence_len() > 0 || segment.acknowledgment != self.send.next {
            self.challenge(now);
        }
    }
}

/// RFC 7323 section 5.5: less than the 24.8 days in which a millisecond clock wraps half way.
const PAWS_IDLE: Duration = Duration::from_secs(24 * 24 * 3600);
/// RFC 5961 section 7 asks for a limit; Linux takes half a second for each connection.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);
