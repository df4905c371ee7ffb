//! The interface of a multipath connection to a subflow.

use std::time::Duration;

use trackbed_core::Time;

use super::{Phase, State, Streams, Subflow};
use crate::congestion::CongestionControl;
use crate::error::TcpError;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    /// Something was lost or reordered, and the recovery is under way.
    pub recovering: bool,
    /// After a retransmission timeout.
    pub timed_out: bool,
    pub srtt: Duration,
    /// Mean deviation of the round-trip time.
    pub rttvar: Duration,
    /// The last sample.
    pub latest_rtt: Duration,
    pub rto: Duration,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub in_flight: u32,
    pub mss: u32,
    /// Timeouts without progress.
    pub timeouts: u32,
    pub retransmissions: u64,
    /// Segments that the peer has, ever.
    pub delivered: u64,
}

impl Subflow {
    /// A subflow with a coupled controller.
    pub(crate) fn with_controller(mut self, controller: Box<dyn CongestionControl>) -> Subflow {
        self.congestion = controller;
        self
    }

    pub(crate) fn observe(&self) -> Observation {
        Observation {
            // Without SACK the phase outlives the last loss until more data is sent (RFC 6582
            // section 4), which must not keep data away.
            recovering: self.loss.phase != Phase::Open && !self.board.is_empty(),
            timed_out: self.loss.phase == Phase::Loss && !self.board.is_empty(),
            srtt: self.srtt(),
            rttvar: self.rtt.deviation(),
            latest_rtt: self.rtt.latest(),
            rto: self.rtt.backed_off(self.loss.backoff),
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.board.in_flight(),
            mss: self.send.mss,
            timeouts: self.loss.timeouts,
            retransmissions: self.counters.retransmissions,
            delivered: self.send.delivered,
        }
    }

    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.state, State::SynSent | State::SynReceived)
    }

    /// The round-trip time as the receiver sees it.
    pub(crate) fn receive_rtt(&self) -> Option<Duration> {
        self.receive.tuner.rtt().or(self.rtt.srtt())
    }

    /// Penalises the subflow for what it keeps others waiting for.
    pub(crate) fn set_window(&mut self, cwnd: u32, ssthresh: u32) {
        self.window.cwnd = cwnd.max(1);
        self.window.ssthresh = ssthresh.max(2);
    }

    /// Sends a segment that the peer must answer.
    pub(crate) fn probe(&mut self) {
        self.due.window_probe = true;
    }

    /// The application has read something of the stream that this subflow has a share in: what
    /// waits to be acknowledged may be due.
    pub(crate) fn application_read(&mut self, streams: &dyn Streams) {
        if !self.is_synchronized() || self.receive.fin {
            return;
        }
        let unacknowledged = self.receive.next.since(self.receive.acknowledged);
        let drained = streams.unread() == 0 && self.receive.acker.drained();
        self.due.ack |= self.receive.acker.is_overdue(unacknowledged) || drained;
    }

    /// Ends the subflow without sending anything: its address is gone.
    pub(crate) fn drop_silently(&mut self, _now: Time) {
        self.finish(Some(TcpError::Aborted));
    }
}
