//! Transport statistics of a connection.

use std::time::Duration;

use trackbed_substrate::TcpInfo;

/// The statistics of a connection's transport so far, at this end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportStats {
    /// TCP: segments sent, including retransmissions. QUIC, SCTP: packets sent.
    pub packets_sent: u64,
    /// TCP: segments retransmitted. SCTP: packets with a retransmitted chunk. QUIC, which never
    /// retransmits packets: packets declared lost.
    pub packets_lost: u64,
    /// TCP: payload bytes sent, including retransmissions. QUIC: bytes of UDP payload sent. SCTP:
    /// bytes of its packets.
    pub bytes_sent: u64,
    /// TCP: payload bytes received in order. QUIC: bytes of UDP payload received. SCTP: bytes of its
    /// packets.
    pub bytes_received: u64,
    /// QUIC: of the bytes sent, those of path-MTU probes and of padding.
    pub filler_bytes: u64,
    /// QUIC: how long a server had data to send, but not to an address that the client had not proved
    /// (RFC 9000 section 8.1).
    pub address_validation: Duration,
    /// The smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<Duration>,
    /// The congestion window in bytes; zero if unknown.
    pub congestion_window: u64,
}

impl From<TcpInfo> for TransportStats {
    fn from(info: TcpInfo) -> TransportStats {
        TransportStats {
            packets_sent: info.segments_sent,
            packets_lost: info.segments_retransmitted,
            bytes_sent: info.bytes_sent,
            bytes_received: info.bytes_received,
            filler_bytes: 0,
            address_validation: Duration::ZERO,
            smoothed_rtt: info.smoothed_rtt,
            congestion_window: info.congestion_window,
        }
    }
}
