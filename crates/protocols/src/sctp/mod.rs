//! `sctp` and `sctp+dtls`: one association, and a stream for each exchange, in the frames of
//! [`framing`](crate::framing).
//!
//! SCTP (RFC 9260) carries messages on numbered streams; those of different streams do not wait for
//! each other, and long ones are interleaved (RFC 8260). The client gives each exchange its own
//! stream, the first free one, in both directions. Request and response are cut into messages that
//! fill a packet; [`exchange::Kind`] marks their end.
//!
//! Inside DTLS (RFC 8261) packets are as in WebRTC's data channels: one association, in the records
//! of [`dtls_transport`](crate::dtls_transport), without SCTP checksums (RFC 9653).
//!
//! # Not supported
//!
//! - Several addresses for an end (multihoming), and changing them.
//! - Congestion control other than that of RFC 9260.
//! - Path MTU discovery: packets have what
//!   [`packet_len_max`](crate::TransportParameters::packet_len_max) leaves.
//! - Authenticated state cookies: a server believes a COOKIE ECHO (RFC 9260 section 5.1.5).
//! - An ABORT for packets that belong to no association (RFC 9260 section 8.4).

mod association;
mod client;
mod delivery;
mod driver;
mod exchange;
mod server;
mod settings;
mod state;
mod stream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Dialer, Error, Handshake, Service, TlsVersion, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, Encapsulation, ServerConfig, TransportParameters};
use crate::dtls_transport::DtlsEnd;
use crate::parameters::{ENCAPSULATIONS, over_sctp, security};
use crate::protocol::{Protocol, ServerHandle};

/// Frames on streams of SCTP.
pub(crate) struct Sctp;

impl Protocol for Sctp {
    fn name(&self) -> &'static str {
        "sctp"
    }

    fn summary(&self) -> &'static str {
        "frames on SCTP, not encrypted, one stream per exchange"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Sctp,
            tls: &[],
            handshakes: &[Handshake::New],
            multiplexed: true,
            migrates: false,
            multipath: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        over_sctp(&ENCAPSULATIONS)
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        server::serve(self.name(), &host, listen, config, None, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(client::SctpDialer::new(self.name(), host, config, None)?))
    }
}

/// Frames on streams of SCTP inside DTLS.
pub(crate) struct SctpDtls;

impl Protocol for SctpDtls {
    fn name(&self) -> &'static str {
        "sctp+dtls"
    }

    fn summary(&self) -> &'static str {
        "frames on SCTP inside DTLS, as in WebRTC"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Sctp,
            tls: VERSIONS,
            handshakes: &[Handshake::New],
            multiplexed: true,
            migrates: false,
            multipath: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [security(), over_sctp(const { &[Encapsulation::Udp.name()] })].concat()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        udp_below(self.name(), &config.transport)?;
        let dtls = DtlsEnd::server(self.name(), host.entropy(), config, VERSIONS)?;
        server::serve(self.name(), &host, listen, config, Some(dtls), service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        udp_below(self.name(), &config.transport)?;
        let dtls = DtlsEnd::client(self.name(), host.entropy(), config, VERSIONS)?;
        Ok(Rc::new(client::SctpDialer::new(self.name(), host, config, Some(dtls))?))
    }
}

/// DTLS runs over UDP, because its records have no ports.
fn udp_below(protocol: &'static str, transport: &TransportParameters) -> Result<()> {
    match transport.encapsulation {
        Encapsulation::Udp => Ok(()),
        Encapsulation::None => {
            let advice = "DTLS runs over UDP: use the encapsulation `udp`".to_owned();
            Err(Error::Unsupported { protocol, advice })
        }
    }
}

/// DTLS 1.3 alone.
const VERSIONS: &[TlsVersion] = &[TlsVersion::Tls13];
