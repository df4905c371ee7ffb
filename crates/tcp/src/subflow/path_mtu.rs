//! Path MTU discovery by ICMP (RFC 1191, RFC 8201).

use trackbed_core::Time;
use trackbed_core::packet::ip_header_len;

use super::{MIN_MTU, Phase, State, Subflow};
use crate::segment::HEADER_LEN;
use crate::sequence::Seq;

impl Subflow {
    /// A router refused our packet with sequence number `sequence`: it takes `mtu` bytes at most.
    /// A message that quotes nothing in flight is not believed (RFC 5927 section 7).
    pub(crate) fn handle_too_big(&mut self, _now: Time, mtu: u32, sequence: Seq) {
        let in_flight = !sequence.before(self.send.una) && sequence.before(self.send.next);
        if !in_flight || !self.is_synchronized() || self.state == State::TimeWait {
            return;
        }
        let least = if self.local.is_ipv4() { MIN_MTU } else { MIN_MTU_IPV6 };
        let options = self.reserved + if self.receive.agreed.timestamps { 12 } else { 0 };
        let headers = (ip_header_len(self.local.ip()) + HEADER_LEN) as u32 + options;
        let mss = mtu.max(least) - headers;
        if mss >= self.send.mss {
            return;
        }
        self.send.mss = mss;
        if !self.board.split(mss as usize) {
            return;
        }
        // What was too long is sent again at once, and that is no sign of congestion (RFC 1191
        // section 6.5): the window stays.
        self.board.limit_dupacks();
        if self.loss.phase != Phase::Loss {
            self.loss.high = self.send.next;
            self.window.ssthresh = self.current_ssthresh();
            self.loss.undo.prior_ssthresh = None;
            self.loss.undo.settle();
            self.loss.phase = Phase::Loss;
        }
        self.due.retransmit = true;
    }
}

/// Every IPv6 link takes this (RFC 8200 section 5).
const MIN_MTU_IPV6: u32 = 1_280;
