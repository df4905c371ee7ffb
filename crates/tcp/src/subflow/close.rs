//! Closing and failing (RFC 9293 section 3.6).

use trackbed_core::Time;

use super::{State, Subflow};
use crate::error::TcpError;
use crate::recovery::scoreboard::Scoreboard;

impl Subflow {
    /// The application will send no more: a FIN follows the queued data.
    pub(crate) fn close(&mut self) {
        match self.state {
            State::SynSent | State::SynReceived => self.closing = true,
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            State::FinWait1
            | State::FinWait2
            | State::Closing
            | State::LastAck
            | State::TimeWait
            | State::Closed => {}
        }
    }

    /// Ends the connection at once; a peer that knows of it gets a reset (RFC 9293 section
    /// 3.10.5).
    pub(crate) fn abort(&mut self) {
        match self.state {
            State::Closed | State::TimeWait => self.finish(None),
            State::SynSent => self.finish(Some(TcpError::Aborted)),
            _ => {
                self.finish(Some(TcpError::Aborted));
                self.due.reset = true;
            }
        }
    }

    pub(super) fn finish(&mut self, error: Option<TcpError>) {
        let reset = self.due.reset;
        self.state = State::Closed;
        self.error = self.error.or(error);
        self.board = Scoreboard::new();
        self.timers = Default::default();
        self.due = Default::default();
        self.due.reset = reset;
        self.receive.acker.acknowledged();
    }

    pub(super) fn fin_acknowledged(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.start_time_wait(now),
            State::LastAck => self.finish(None),
            _ => {}
        }
    }

    /// The peer's FIN arrived in order.
    pub(super) fn fin_received(&mut self, now: Time) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.start_time_wait(now),
            _ => {}
        }
    }

    /// RFC 9293 section 3.4.2, MUST-13, with the 60 s of Linux.
    pub(super) fn start_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.timers.transmit = None;
        self.timers.keepalive = None;
        self.timers.time_wait = Some(now + self.config.time_wait);
    }
}
