//! The list of protocols. Nothing below it imports it.

use crate::protocol::Protocol;
use crate::{coap, http1, http2, http3, mpquic, mptcp, mqtt, quic, sctp, tcp};

/// Every protocol, in the order of lists. A new one is a file or folder of its own and a line
/// here.
pub fn registry() -> &'static [&'static dyn Protocol] {
    &[
        &coap::Coap,
        &coap::CoapDtls,
        &http1::Http1,
        &http2::Http2,
        &http3::Http3,
        &mpquic::Mpquic,
        &mptcp::Mptcp,
        &mqtt::Mqtt,
        &quic::Quic,
        &sctp::Sctp,
        &sctp::SctpDtls,
        &tcp::Tcp,
        &tcp::TcpTls,
    ]
}

/// The protocol called `name`.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    registry().iter().copied().find(|protocol| protocol.name() == name)
}
