//! The statistics of a connection.

use std::time::Duration;

/// Counters and estimates of one connection, as of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, with or without data.
    pub segments_sent: u64,
    /// Segments received and processed, with or without data.
    pub segments_received: u64,
    /// Bytes of data sent for the first time.
    pub bytes_sent: u64,
    /// Bytes of data that the peer has acknowledged.
    pub bytes_acknowledged: u64,
    /// Bytes of data received in order.
    pub bytes_received: u64,
    /// Segments that were retransmitted, for any reason.
    pub retransmissions: u64,
    /// Retransmissions that the peer reported as duplicates by DSACK (RFC 2883).
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts that fired.
    pub timeouts: u64,
    /// Tail loss probes sent (RFC 8985 section 7).
    pub tail_loss_probes: u64,
    /// Reductions of the congestion window that were undone as spurious.
    pub undos: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Smallest round-trip time seen in the last five minutes; zero before the first sample.
    pub min_rtt: Duration,
    /// Retransmission timeout in force.
    pub rto: Duration,
    /// Congestion window in segments.
    pub cwnd_segments: u32,
    /// Slow-start threshold in segments; `u32::MAX` before the first loss.
    pub ssthresh_segments: u32,
    /// Segments in flight.
    pub in_flight_segments: u32,
    /// Largest payload of a segment in bytes.
    pub mss_bytes: u32,
    /// The peer's receive window in bytes.
    pub send_window_bytes: u32,
    /// The window offered to the peer in bytes.
    pub receive_window_bytes: u32,
}
