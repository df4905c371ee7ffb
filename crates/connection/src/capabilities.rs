//! What protocols can do.

use crate::security::{Handshake, TlsVersion};

/// What a protocol can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The transport below it.
    pub transport: Transport,
    /// The TLS versions it can run over; none if it is not encrypted.
    pub tls: &'static [TlsVersion],
    /// The handshakes it can do over TLS 1.3. [`Handshake::Early`] needs TLS 1.3 everywhere.
    pub handshakes: &'static [Handshake],
    /// Whether several exchanges share a connection at once.
    pub multiplexed: bool,
    /// Whether a connection goes on when the client's address changes, from the end of the
    /// handshake on (RFC 9000 section 9).
    pub migrates: bool,
    /// Whether a connection uses all paths between the hosts at once (RFC 8684,
    /// draft-ietf-quic-multipath).
    pub multipath: bool,
}

/// The transport protocol whose packets carry everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP: retransmission and congestion control are the stack's.
    Tcp,
    /// UDP: both are the protocol's own.
    Udp,
    /// UDP with what CoAP has in their place: one message after the other, sent again by its own
    /// timer (RFC 7252 sections 4.2 and 4.7), and no congestion window.
    Coap,
    /// SCTP (RFC 9260): both are the protocol's own, and there is one congestion control.
    Sctp,
}
