//! The state of a subflow between events, besides its sequence spaces (the transmission control
//! block of RFC 9293 section 3.3.1): timers, what is due, and how the window is used.

use trackbed_core::Time;

use crate::recovery::scoreboard::Id;
use crate::sequence::Seq;

#[derive(Debug, Default)]
pub(super) struct Timers {
    pub transmit: Option<(Reason, Time)>,
    pub keepalive: Option<Time>,
    pub time_wait: Option<Time>,
    /// Window probes or keep-alive probes without an answer.
    pub unanswered: u32,
}

/// Why something is sent again when the timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The retransmission timeout (RFC 6298).
    Retransmit,
    /// The probe timeout (RFC 8985 section 7).
    TailLoss,
    /// The reordering timer (RFC 8985 section 6.3).
    Reordering,
    /// The zero-window probe (RFC 9293 section 3.8.6.1).
    Persist,
}

#[derive(Debug, Default)]
pub(super) struct Due {
    /// A reset that ends the connection.
    pub reset: bool,
    /// A reset for a segment of another connection, with this sequence number.
    pub stray_reset: Option<Seq>,
    /// The SYN or SYN-ACK.
    pub syn: bool,
    /// An acknowledgment.
    pub ack: bool,
    /// A segment to retransmit regardless of the window.
    pub forced: Option<Id>,
    /// Lost segments, as far as the window allows.
    pub retransmit: bool,
    /// New data goes before lost segments (F-RTO, RFC 5682 step 2b).
    pub new_first: bool,
    /// One new segment as a tail loss probe.
    pub probe_with_data: bool,
    /// The burst under way is such a probe, after which no other is scheduled.
    pub probed: bool,
    /// A probe of the peer's window, or of its life.
    pub window_probe: bool,
    /// New segments of the burst under way.
    pub burst: u32,
    /// The batch under way.
    pub batch: Batch,
    /// The congestion window ended the burst.
    pub limited: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    pub len: u32,
    pub left: u32,
}

impl Batch {
    /// True for the last of several segments. Linux sets PSH there, and with it asks the receiver
    /// to acknowledge as soon as the application has read everything.
    pub(super) fn is_complete(self) -> bool {
        self.len > 1 && self.left == 0
    }
}

#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The window limited the sender in this round trip.
    pub limited: bool,
    /// The largest flight of this round trip.
    pub flight_max: u32,
    pub round_end: Option<Seq>,
    /// The largest flight while the window was not in use.
    pub used: u32,
    pub validated_at: Time,
}
