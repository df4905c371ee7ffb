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

use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::{Capabilities, Dialer, Result, Service, TlsVersion, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, Encapsulation, ListenAt, ServerConfig, TransportParameters};
use crate::datagrams::require_udp;
use crate::dtls_transport::DtlsEnd;
use crate::parameters::{dtls, over_sctp};
use crate::protocol::{Protocol, Served};

pub(crate) struct Sctp {
    pub(crate) is_encrypted: bool,
}

impl Protocol for Sctp {
    fn name(&self) -> &'static str {
        if self.is_encrypted { "sctp+dtls" } else { "sctp" }
    }

    fn summary(&self) -> &'static str {
        match self.is_encrypted {
            false => "frames on SCTP, not encrypted, one stream per exchange",
            true => "frames on SCTP inside DTLS, as in WebRTC",
        }
    }

    fn capabilities(&self) -> Capabilities {
        let tls = if self.is_encrypted { VERSIONS } else { &[] };
        Capabilities { tls, multiplexed: true, ..Capabilities::plain(Transport::Sctp) }
    }

    fn parameters(&self) -> Vec<Parameter> {
        match self.is_encrypted {
            false => over_sctp(Encapsulation::NAMES),
            true => [dtls(), over_sctp(const { &[Encapsulation::Udp.name()] })].concat(),
        }
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        self.check(&config.transport)?;
        let dtls = || DtlsEnd::server(self.name(), at.0.entropy(), config, VERSIONS);
        let dtls = self.is_encrypted.then(dtls).transpose()?;
        server::serve(self.name(), &at, config, dtls, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        self.check(&config.transport)?;
        config.require_new_handshake(self.name(), "the handshake `new`")?;
        let dtls = || DtlsEnd::client(self.name(), host.entropy(), config, VERSIONS);
        let dtls = self.is_encrypted.then(dtls).transpose()?;
        Ok(Rc::new(client::SctpDialer::new(self.name(), host, config, dtls)))
    }
}

impl Sctp {
    /// DTLS runs over UDP, because its records have no ports.
    fn check(&self, transport: &TransportParameters) -> Result<()> {
        if self.is_encrypted { require_udp(self.name(), "DTLS", transport) } else { Ok(()) }
    }
}

/// DTLS 1.3 alone.
const VERSIONS: &[TlsVersion] = &[TlsVersion::Tls13];
