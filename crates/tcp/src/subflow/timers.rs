//! Timers: retransmission, tail loss probe, reordering, zero-window probe, keep-alive, TIME-WAIT.

use std::time::Duration;

use trackbed_core::Time;

use super::block::Reason;
use super::{LossProbe, Phase, State, Streams, Subflow};
use crate::error::TcpError;
use crate::recovery::prr::Progress;

impl Subflow {
    /// When to call `handle_timeout`.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        let transmit = self.timers.transmit.map(|(_, at)| at);
        let others = [self.receive.acker.deadline(), self.timers.keepalive, self.timers.time_wait];
        others.into_iter().flatten().chain(transmit).min()
    }

    /// When something is sent again, or a loss is looked for, if nothing is acknowledged until then.
    pub(crate) fn transmits_again_at(&self) -> Option<Time> {
        self.timers.transmit.map(|(_, at)| at)
    }

    pub(crate) fn handle_timeout(&mut self, now: Time, streams: &mut dyn Streams) {
        if self.timers.time_wait.is_some_and(|at| at <= now) {
            self.finish(None);
        }
        if self.receive.acker.deadline().is_some_and(|at| at <= now) {
            self.due.ack |= self.receive.acker.expired(now);
        }
        if self.timers.keepalive.is_some_and(|at| at <= now) {
            self.keepalive_expired(now, streams);
        }
        let Some((reason, at)) = self.timers.transmit else { return };
        if at > now {
            return;
        }
        self.timers.transmit = None;
        match (reason, self.state) {
            (_, State::SynSent | State::SynReceived) => self.handshake_expired(now),
            (Reason::Retransmit, _) => self.retransmission_expired(now),
            (Reason::TailLoss, _) => self.tail_loss_expired(now, streams),
            (Reason::Reordering, _) => self.reordering_expired(now),
            (Reason::Persist, _) => self.persist_expired(now, streams),
        }
    }

    /// Sets the timer of transmissions, in place of another.
    pub(super) fn set_transmit(&mut self, reason: Reason, now: Time, wait: Duration) {
        self.timers.transmit = Some((reason, self.config.fires(now, wait)));
    }

    /// What a probe or the reordering timer waits beyond its time.
    pub(super) fn slack(&self) -> Duration {
        self.config.tick.map_or(EXACT_SLACK, |_| TICKING_SLACK)
    }

    /// Starts the probe timer or else the retransmission timer, from now.
    pub(super) fn set_transmit_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.restart_retransmission(now);
        }
    }

    /// RFC 6298 (5.1) to (5.3). The time that another timer has already waited counts.
    pub(super) fn restart_retransmission(&mut self, now: Time) {
        let Some(front) = self.board.front() else {
            self.timers.transmit = None;
            return;
        };
        let rto = self.rtt.backed_off(self.loss.backoff);
        let wait = match self.timers.transmit {
            Some((Reason::TailLoss | Reason::Reordering, _)) => {
                (front.sent_at + rto).max(now + self.config.least_wait()) - now
            }
            _ => rto,
        };
        self.set_transmit(Reason::Retransmit, now, wait);
    }

    /// RFC 8985 section 7.2. `fresh` if the retransmission timer would be restarted too.
    pub(super) fn schedule_probe(&mut self, now: Time, fresh: bool) -> bool {
        let quiet = matches!(self.loss.phase, Phase::Open | Phase::Reduced);
        let usable = self.config.tail_loss_probe && self.receive.agreed.sack;
        let Some(front) = self.board.front().filter(|_| quiet && usable) else { return false };
        let delay = match self.rtt.srtt() {
            // The peer may delay its acknowledgment of a single segment.
            Some(srtt) if self.board.len() == 1 => srtt * 2 + self.rtt.least_allowance(),
            Some(srtt) => srtt * 2 + self.slack(),
            None => self.config.rto.initial,
        };
        let rto = self.rtt.backed_off(self.loss.backoff);
        let rto_at = if fresh { now + rto } else { front.sent_at + rto };
        let wait = if rto_at > now { delay.min(rto_at - now) } else { delay };
        self.set_transmit(Reason::TailLoss, now, wait);
        true
    }

    /// RFC 8985 section 7.3: one probe per flight, new data if there is any and the peer's window
    /// allows, otherwise the last segment again.
    fn tail_loss_expired(&mut self, now: Time, streams: &mut dyn Streams) {
        if self.loss.probe.is_none() {
            let waiting = streams.waiting();
            let sends_new = self.sendable(waiting) > 0;
            if sends_new {
                self.due.probe_with_data = true;
            } else {
                self.due.forced = self.board.last_id();
            }
            let end = self.send.next;
            self.loss.probe = Some(LossProbe { end, retransmission: !sends_new });
            self.counters.tail_loss_probes += 1;
        } else {
            // No second probe: the time since the last transmission counts towards the timeout.
            self.timers.transmit = Some((Reason::TailLoss, now));
        }
        self.restart_retransmission(now);
    }

    /// RFC 8985 section 7.3: the probe had new data, which belongs to TLP.end_seq. Now only the
    /// retransmission timer runs, anew.
    pub(super) fn probe_sent(&mut self, now: Time) {
        if let Some(probe) = &mut self.loss.probe {
            probe.end = self.send.next;
        }
        self.due.probed = true;
        self.timers.transmit = None;
        self.restart_retransmission(now);
    }

    /// RFC 8985 section 6.3: what was only suspected is lost now.
    fn reordering_expired(&mut self, now: Time) {
        let (in_flight, lost) = (self.board.in_flight(), self.board.lost_total);
        self.detect_losses(now, true);
        if self.board.in_flight() != in_flight {
            if self.loss.phase != Phase::Recovery {
                self.enter_recovery(now, false);
                let lost = (self.board.lost_total - lost) as u32;
                self.reduce_window(Progress { delivered: 1, lost, advanced: false });
            }
            self.due.retransmit = true;
        }
        if !matches!(self.timers.transmit, Some((Reason::Retransmit, _))) {
            self.timers.transmit.get_or_insert((Reason::Reordering, now));
            self.restart_retransmission(now);
        }
    }

    /// RFC 6298 (5.4) to (5.7).
    fn retransmission_expired(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        // RFC 9293 section 3.8.6.1: if a peer closes its window over data in flight but answers
        // probes, the connection waits without limit.
        let shut = self.send.window == 0;
        let tries = if shut { self.timers.unanswered } else { self.loss.timeouts };
        if tries >= self.config.retries {
            self.finish(Some(TcpError::TimedOut));
            return;
        }
        self.enter_loss(now);
        self.counters.timeouts += 1;
        match shut {
            true => self.timers.unanswered += 1,
            false => self.loss.timeouts += 1,
        }
        self.due.forced = Some(self.board.first_id());
        self.loss.backoff += 1;
        self.set_transmit(Reason::Retransmit, now, self.rtt.backed_off(self.loss.backoff));
    }

    /// A SYN or SYN-ACK was not answered (RFC 9293 section 3.8.3).
    fn handshake_expired(&mut self, now: Time) {
        let (linear, most) = match self.state {
            State::SynSent => (self.config.syn_linear_timeouts, self.config.syn_retries),
            _ => (0, self.config.syn_ack_retries),
        };
        if self.loss.timeouts >= linear + most {
            self.finish(Some(TcpError::TimedOut));
            return;
        }
        self.loss.timeouts += 1;
        self.loss.backoff = self.loss.timeouts.saturating_sub(linear);
        self.counters.retransmissions += 1;
        self.counters.timeouts += 1;
        self.due.syn = true;
        self.set_transmit(Reason::Retransmit, now, self.rtt.backed_off(self.loss.backoff));
    }

    /// Starts probing a window that is shut, if data waits and no other timer runs.
    pub(super) fn start_persist(&mut self, now: Time) {
        if self.timers.transmit.is_none() {
            let wait = self.rtt.backed_off(self.loss.backoff).max(self.rtt.least_allowance());
            self.set_transmit(Reason::Persist, now, wait);
        }
    }

    fn persist_expired(&mut self, now: Time, streams: &mut dyn Streams) {
        if !self.board.is_empty() || !self.has_more(streams) {
            self.timers.unanswered = 0;
            return;
        }
        if self.timers.unanswered >= self.config.retries {
            self.finish(Some(TcpError::TimedOut));
            return;
        }
        self.timers.unanswered += 1;
        self.loss.backoff += 1;
        self.due.window_probe = true;
        self.start_persist(now);
    }

    /// A segment came from the peer: the keepalive timer restarts.
    pub(super) fn restart_keepalive(&mut self, now: Time) {
        self.timers.unanswered = 0;
        if let Some(keepalive) = &self.config.keepalive {
            self.timers.keepalive = Some(now + keepalive.idle.max(MIN_KEEPALIVE));
        }
    }

    fn keepalive_expired(&mut self, now: Time, streams: &mut dyn Streams) {
        self.timers.keepalive = None;
        let Some(keepalive) = self.config.keepalive.filter(|_| self.is_synchronized()) else {
            return;
        };
        let busy = !self.board.is_empty() || streams.waiting() > 0;
        if !busy && self.state != State::TimeWait {
            if self.timers.unanswered >= keepalive.probes {
                self.due.reset = true;
                self.finish(Some(TcpError::TimedOut));
                return;
            }
            self.timers.unanswered += 1;
            self.due.window_probe = true;
        }
        let wait = if busy { keepalive.idle } else { keepalive.interval };
        self.timers.keepalive = Some(now + wait.max(MIN_KEEPALIVE));
    }
}

/// What Linux adds to the time of a probe or of the reordering timer, before it rounds up to ticks
/// (`TCP_TIMEOUT_MIN_US`).
const TICKING_SLACK: Duration = Duration::from_millis(2);
/// What exact timers wait instead, for the rounding too: the two ticks that Linux added before 6.7.
const EXACT_SLACK: Duration = Duration::from_millis(8);
/// Keep-alive probes are never closer than this.
const MIN_KEEPALIVE: Duration = Duration::from_secs(1);
