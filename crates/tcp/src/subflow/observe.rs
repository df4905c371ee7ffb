//! The interface of a multipath connection to a subflow.

use std::time::Duration;

use super::{Phase, State, Streams, Subflow};
use crate::congestion::CongestionControl;
use crate::error::TcpError;
use crate::schedulers::{PathView, Recovery};

impl Subflow {
    /// A subflow with a coupled controller.
    pub(crate) fn with_controller(mut self, controller: Box<dyn CongestionControl>) -> Subflow {
        self.congestion = controller;
        self
    }

    /// What a scheduler may know of the subflow itself.
    pub(crate) fn view(&self) -> PathView {
        PathView {
            recovery: match self.loss.phase {
                // Without SACK the phase outlives the last loss until more data is sent (RFC 6582
                // section 4), which must not keep data away.
                _ if self.board.is_empty() => Recovery::Open,
                Phase::Open => Recovery::Open,
                Phase::Loss => Recovery::TimedOut,
                Phase::Disorder | Phase::Reduced | Phase::Recovery => Recovery::Recovering,
            },
            srtt: self.srtt(),
            rttvar: self.rtt.deviation(),
            latest_rtt: self.rtt.latest,
            cwnd_segments: self.window.cwnd,
            ssthresh_segments: self.window.ssthresh,
            in_flight_segments: self.board.in_flight(),
            mss_bytes: self.send.mss,
            timeouts: self.loss.timeouts,
            retransmissions: self.counters.retransmissions,
            ..PathView::default()
        }
    }

    /// Segments that the peer has, ever.
    pub(crate) fn delivered(&self) -> u64 {
        self.send.delivered
    }

    pub(crate) fn rto(&self) -> Duration {
        self.rtt.backed_off(self.loss.backoff)
    }

    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.state, State::SynSent | State::SynReceived)
    }

    /// The round-trip time as the receiver sees it.
    pub(crate) fn receive_rtt(&self) -> Option<Duration> {
        self.receive.tuner.rtt.or(self.rtt.srtt())
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
        if self.is_synchronized() && !self.receive.fin {
            self.due.ack |= self.is_read_acknowledged(streams);
        }
    }

    /// Ends the subflow without sending anything: its address is gone.
    pub(crate) fn drop_silently(&mut self) {
        self.finish(Some(TcpError::Aborted));
    }
}
