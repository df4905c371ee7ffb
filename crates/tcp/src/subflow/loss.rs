//! Loss recovery: its beginning, actions and end (RFC 5681, 6582, 6675, 8985, 5682), with the states of
//! Linux.

use std::time::Duration;

use trackbed_core::Time;

use super::ack::Event;
use super::block::Reason;
use super::{MAX_REORDERING, MIN_REORDERING, Phase, Subflow};
use crate::recovery::rack::Reordering;

impl Subflow {
    /// An acknowledgment is unusual, or a recovery is active.
    pub(super) fn alert(&mut self, now: Time, event: &mut Event) {
        if event.echo {
            self.loss.undo.prior_ssthresh = None;
        }
        if self.wait_for_reneged(now, event) {
            return;
        }
        let ended = !self.send.una.before(self.loss.high);
        match self.loss.phase {
            Phase::Open => self.loss.undo.first_retransmission = None,
            Phase::Reduced if self.send.una.after(self.loss.high) => {
                self.end_reduction(now);
                self.loss.phase = Phase::Open;
            }
            Phase::Recovery if ended => {
                if !self.receive.agreed.sack {
                    self.board.clear_dupacks();
                }
                if self.try_undo_recovery(now, event) {
                    return;
                }
                self.end_reduction(now);
            }
            Phase::Disorder | Phase::Reduced | Phase::Recovery | Phase::Loss => {}
        }
        match self.loss.phase {
            Phase::Recovery => self.alert_in_recovery(now, event),
            Phase::Loss => self.alert_in_loss(now, event),
            Phase::Open | Phase::Disorder | Phase::Reduced => self.alert_otherwise(now, event),
        }
    }

    fn alert_in_recovery(&mut self, now: Time, event: &mut Event) {
        if !event.advanced {
            self.count_dupack(event);
        } else if self.try_undo_partial(now, event) {
            return;
        }
        if self.try_undo_by_duplicates(now) {
            self.try_to_open(now, event);
        }
        self.identify_losses(now, event);
        if self.loss.phase != Phase::Recovery {
            if self.board.lost_out == 0 {
                return;
            }
            self.enter_recovery(now, event.echo);
        }
        self.due.retransmit = true;
    }

    fn alert_in_loss(&mut self, now: Time, event: &mut Event) {
        self.go_on_after_timeout(now, event);
        self.identify_losses(now, event);
        if self.loss.phase == Phase::Open || event.retransmission_lost {
            self.alert_otherwise(now, event);
        }
    }

    fn alert_otherwise(&mut self, now: Time, event: &mut Event) {
        if !self.receive.agreed.sack {
            if event.advanced {
                self.board.clear_dupacks();
            }
            self.count_dupack(event);
        }
        if matches!(self.loss.phase, Phase::Open | Phase::Disorder) {
            self.try_undo_by_duplicates(now);
        }
        self.identify_losses(now, event);
        if self.board.lost_out == 0 {
            self.try_to_open(now, event);
            return;
        }
        self.enter_recovery(now, event.echo);
        self.due.retransmit = true;
        self.due.new_first = false;
    }

    /// In the Loss phase: F-RTO, and the end of the phase.
    fn go_on_after_timeout(&mut self, now: Time, event: &mut Event) {
        if event.advanced && self.try_undo_loss(now, event, false) {
            return;
        }
        let ended = !self.send.una.before(self.loss.high);
        let sent_more = self.send.next.after(self.loss.high);
        if self.loss.frto {
            // RFC 5682 section 3.1, step 3b: data that was never sent again arrived.
            if event.original_acked && self.try_undo_loss(now, event, true) {
                return;
            }
            if sent_more {
                // Step 3a: the loss was real.
                let duplicate = !event.advanced && !event.not_duplicate && !event.duplicate;
                self.loss.frto &= !(event.sacked || duplicate);
            } else if event.advanced && !ended {
                // Step 2b: try new data; failing that, go on as usual.
                self.loss.high = self.send.next;
                self.due.new_first = true;
                return;
            }
        }
        if ended {
            self.try_undo_recovery(now, event);
            return;
        }
        if !self.receive.agreed.sack {
            if event.advanced {
                self.board.clear_dupacks();
            } else if sent_more {
                self.count_dupack(event);
            }
        }
        self.due.retransmit = true;
    }

    /// Finds what is lost: by RACK with SACK, else as NewReno does (RFC 6582 section 3.2).
    fn identify_losses(&mut self, now: Time, event: &mut Event) {
        if self.board.is_empty() {
            return;
        }
        let retransmitted = self.board.retransmitted_out;
        if self.receive.agreed.sack {
            if self.detect_losses(now, false) {
                event.set_timer = false;
            }
            event.retransmission_lost |= retransmitted > self.board.retransmitted_out;
        } else {
            let first_is_lost = self.board.front().is_some_and(|sent| sent.lost);
            let dupacks = self.board.sacked_out() >= self.loss.reordering;
            let partial = self.loss.phase == Phase::Recovery && event.advanced;
            if (partial || (self.loss.phase < Phase::Recovery && dupacks)) && !first_is_lost {
                self.board.mark_lost(self.board.first_id());
            }
        }
    }

    /// Lets RACK look, and starts the reordering timer if it must look again; true if so.
    pub(super) fn detect_losses(&mut self, now: Time, anyway: bool) -> bool {
        let reordering = self.reordering();
        let again = self.loss.rack.detect(&mut self.board, reordering, now, anyway);
        if let Some(at) = again {
            self.set_transmit(Reason::Reordering, now, at - now + self.slack());
        }
        again.is_some()
    }

    fn reordering(&self) -> Reordering {
        Reordering {
            seen: self.loss.reordering_seen,
            urgent: self.loss.phase >= Phase::Recovery
                || self.board.sacked_out() >= self.loss.reordering,
            min_rtt: self.rtt.min().unwrap_or_default(),
            srtt: self.srtt(),
        }
    }

    fn count_dupack(&mut self, event: &Event) {
        let duplicate = !event.advanced && !event.not_duplicate && !event.duplicate;
        if !self.receive.agreed.sack && duplicate {
            if self.board.add_dupack() {
                self.send.delivered += 1;
            } else {
                self.note_dupacks_beyond(0);
            }
        }
    }

    /// Without SACK: more duplicate acknowledgments than segments that may have arrived. They were reordered.
    /// `acked` segments have just been acknowledged.
    pub(super) fn note_dupacks_beyond(&mut self, acked: u32) {
        self.loss.reordering = (self.board.len() + acked).min(MAX_REORDERING);
        self.loss.reordering_seen = true;
    }

    /// Fast recovery begins (RFC 6675 section 5 step 4).
    pub(super) fn enter_recovery(&mut self, now: Time, congestion_echoed: bool) {
        if !self.any_retransmitted() {
            self.loss.undo.first_retransmission = None;
        }
        self.loss.undo.prior_ssthresh = None;
        self.begin_undo();
        if !matches!(self.loss.phase, Phase::Reduced | Phase::Recovery) {
            if !congestion_echoed {
                self.loss.undo.prior_ssthresh = Some(self.current_ssthresh());
            }
            self.begin_reduction(now);
        }
        self.loss.phase = Phase::Recovery;
    }

    /// What is being retransmitted may be reported as duplicate, a tail loss probe among it.
    fn begin_undo(&mut self) {
        let probes = u32::from(self.loss.probe.is_some_and(|probe| probe.retransmission));
        self.loss.undo.begin(self.send.una, self.board.retransmitted_out + probes);
    }

    /// The retransmission timeout fired (RFC 5681 section 3.1, RFC 6298 (5.4), RFC 5682 step 1).
    pub(super) fn enter_loss(&mut self, now: Time) {
        let begins = self.loss.phase < Phase::Recovery;
        self.mark_after_timeout(now);
        let first_time = self.loss.phase <= Phase::Disorder
            || !self.loss.high.after(self.send.una)
            || (self.loss.phase == Phase::Loss && self.loss.timeouts == 0);
        if first_time {
            self.loss.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.loss.prr.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.congestion.on_congestion(&self.window, now);
            self.begin_undo();
        }
        self.congestion.on_timeout(now, self.send.next);
        self.window.cwnd = self.board.in_flight() + 1;
        self.usage.validated_at = now;
        self.window.clear_credit();
        if self.loss.phase <= Phase::Disorder && self.board.sacked_out() >= MIN_REORDERING {
            self.loss.reordering = self.loss.reordering.min(MIN_REORDERING);
        }
        self.loss.phase = Phase::Loss;
        self.loss.high = self.send.next;
        self.loss.probe = None;
        self.loss.frto = begins || self.loss.timeouts > 0;
        self.send.cwr = true;
    }

    /// What was sent at least a round trip ago is lost.
    fn mark_after_timeout(&mut self, now: Time) {
        let reneged = self.board.front().is_some_and(|sent| sent.sacked);
        if reneged {
            self.board.unmark_sacked();
        } else if !self.receive.agreed.sack {
            self.board.clear_dupacks();
        }
        let first = self.board.first_id();
        for id in first..first + u64::from(self.board.len()) {
            let Some(sent) = self.board.get(id) else { break };
            let overdue = self.loss.rack.is_overdue(sent.sent_at, now);
            if id == first || reneged || overdue {
                self.board.mark_lost(id);
            }
        }
    }

    /// RFC 2018 section 8: if the peer reported the first segment and does not acknowledge it, a
    /// timeout follows soon.
    fn wait_for_reneged(&mut self, now: Time, event: &mut Event) -> bool {
        if !event.reneged || !event.advanced {
            return false;
        }
        self.set_transmit(Reason::Retransmit, now, (self.srtt() / 2).max(RENEGING_DELAY));
        event.set_timer = false;
        true
    }

    /// Open or Disorder, as the scoreboard says; or a reduction, if congestion is echoed.
    fn try_to_open(&mut self, now: Time, event: &Event) {
        if !self.any_retransmitted() {
            self.loss.undo.first_retransmission = None;
        }
        if event.echo {
            self.enter_reduced(now);
        }
        if self.loss.phase != Phase::Reduced {
            self.keep_open();
        }
    }

    /// RFC 3168 section 6.1.2: once a round trip, the window is reduced as if there was a loss.
    fn enter_reduced(&mut self, now: Time) {
        if self.loss.phase < Phase::Reduced {
            self.loss.undo.prior_ssthresh = None;
            self.loss.undo.settle();
            self.begin_reduction(now);
            self.loss.phase = Phase::Reduced;
        }
    }

    pub(super) fn keep_open(&mut self) {
        let left_out = self.board.sacked_out() + self.board.lost_out > 0;
        let phase =
            if left_out || self.any_retransmitted() { Phase::Disorder } else { Phase::Open };
        if self.loss.phase != phase {
            self.loss.phase = phase;
            self.loss.high = self.send.next;
        }
    }

    pub(super) fn any_retransmitted(&self) -> bool {
        self.board.retransmitted_out > 0
            || self.board.front().is_some_and(|sent| sent.ever_retransmitted)
    }

    /// The outcome of a tail loss probe (RFC 8985 section 7.4).
    pub(super) fn judge_probe(&mut self, now: Time, event: &Event) {
        let Some(probe) = self.loss.probe else { return };
        if self.send.una.before(probe.end) {
            return;
        }
        let nothing_new = !event.advanced && !event.not_duplicate && !event.sacked;
        if !probe.retransmission || event.duplicate_of_probe {
            self.loss.probe = None;
        } else if self.send.una.after(probe.end) {
            // The probe itself repaired a loss, which nothing else would reveal.
            self.begin_reduction(now);
            self.loss.phase = Phase::Reduced;
            self.end_reduction(now);
            self.keep_open();
        } else if nothing_new {
            self.loss.probe = None;
        }
    }
}

/// The least wait for a peer that may have dropped what it reported.
const RENEGING_DELAY: Duration = Duration::from_millis(10);
