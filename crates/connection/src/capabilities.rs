//! Capabilities of protocols.

use crate::security::{Handshake, TlsVersion};

/// The capabilities of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The transport below it.
    pub transport: Transport,
    /// The supported TLS versions; none if it is not encrypted.
    pub tls: &'static [TlsVersion],
    /// The supported handshakes over TLS 1.3. [`Handshake::Early`] always needs TLS 1.3.
    pub handshakes: &'static [Handshake],
    /// Whether several exchanges can share a connection at once.
    pub multiplexed: bool,
    /// Whether a connection survives a change of the client's address, once the handshake is done
    /// (RFC 9000 section 9).
    pub migrates: bool,
    /// Whether a connection uses all paths between the hosts at once (RFC 8684,
    /// draft-ietf-quic-multipath).
    pub multipath: bool,
}

impl Capabilities {
    /// Those of a protocol without encryption: one exchange at a time, over one path.
    pub const fn plain(transport: Transport) -> Capabilities {
        Capabilities {
            transport,
            tls: &[],
            handshakes: &[Handshake::New],
            multiplexed: false,
            migrates: false,
            multipath: false,
        }
    }

    /// The same inside TLS of these versions, with every handshake.
    pub const fn encrypted(transport: Transport, tls: &'static [TlsVersion]) -> Capabilities {
        let handshakes = Handshake::OF_PROTOCOLS;
        Capabilities { tls, handshakes, ..Capabilities::plain(transport) }
    }
}

/// The transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP: the stack does retransmission and congestion control.
    Tcp,
    /// UDP: the protocol does both.
    Udp,
    /// UDP with CoAP's own mechanism: one message after another, retransmitted by a timer (RFC 7252
    /// sections 4.2 and 4.7), and no congestion window.
    Coap,
    /// SCTP (RFC 9260): the protocol does both, and there is one congestion control.
    Sctp,
}
