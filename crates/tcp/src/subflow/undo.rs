//! A reduction of the window that was needless is taken back (RFC 4015, 3708, 5682).

use trackbed_core::Time;

use super::ack::Event;
use super::{Phase, Subflow};

impl Subflow {
    /// True if the reduction may be taken back upon this acknowledgment.
    fn is_spurious(&self, event: &Event) -> bool {
        let undo = &self.loss.undo;
        undo.is_open() && (undo.all_needless() || self.original_arrived(event))
    }

    /// True if what was just acknowledged answers the original transmission. Without SACK, nothing
    /// is known of retransmissions after the end of a recovery.
    fn original_arrived(&self, event: &Event) -> bool {
        let knows = self.receive.agreed.sack || self.send.una.before(self.loss.high);
        let undo = &self.loss.undo;
        (knows || undo.first_retransmission.is_some()) && undo.original_arrived(event.stamp)
    }

    /// Takes the reduction back (RFC 4015 section 3).
    fn undo(&mut self, now: Time, losses_too: bool) {
        if losses_too {
            self.board.unmark_lost();
        }
        if let Some(ssthresh) = self.loss.undo.prior_ssthresh {
            self.window.cwnd = self.window.cwnd.max(self.loss.prr.prior_cwnd);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.send.cwr = false;
            }
        }
        self.counters.undos += 1;
        self.loss.undo.settle();
        self.loss.rack.look_again();
        self.usage.validated_at = now;
    }

    /// Everything from before the recovery is acknowledged. True if the phase goes on.
    pub(super) fn try_undo_recovery(&mut self, now: Time, event: &Event) -> bool {
        if self.is_spurious(event) {
            self.undo(now, false);
        } else {
            self.loss.rack.recovered();
        }
        if self.holds_phase() {
            return true;
        }
        self.loss.phase = Phase::Open;
        false
    }

    /// Without SACK, the phase goes on until something behind its end is acknowledged (RFC 6582 section 4).
    fn holds_phase(&mut self) -> bool {
        let holds = !self.receive.agreed.sack && self.send.una == self.loss.high;
        if holds && !self.any_retransmitted() {
            self.loss.undo.first_retransmission = None;
        }
        holds
    }

    /// Every retransmission was reported as a duplicate.
    pub(super) fn try_undo_by_duplicates(&mut self, now: Time) -> bool {
        let spurious = self.loss.undo.all_needless();
        if spurious {
            self.loss.rack.undone();
            self.undo(now, false);
        }
        spurious
    }

    /// The hole was filled by the original: what is missing is only late. True if nothing more must
    /// be marked or retransmitted for now, because a retransmission is on its way.
    pub(super) fn try_undo_partial(&mut self, now: Time, event: &Event) -> bool {
        if !self.loss.undo.is_open() || !self.original_arrived(event) {
            return false;
        }
        self.note_reordering(event.prior_una);
        if self.board.retransmitted_out > 0 {
            return true;
        }
        if !self.any_retransmitted() {
            self.loss.undo.first_retransmission = None;
        }
        self.undo(now, true);
        self.keep_open();
        false
    }

    pub(super) fn try_undo_loss(&mut self, now: Time, event: &Event, by_frto: bool) -> bool {
        if !by_frto && !self.is_spurious(event) {
            return false;
        }
        self.undo(now, true);
        self.loss.timeouts = 0;
        if !self.holds_phase() && (by_frto || self.receive.agreed.sack) {
            self.loss.phase = Phase::Open;
        }
        true
    }
}
