//! `coap` and `coap+dtls`: CoAP (RFC 7252) in UDP datagrams, and in records of DTLS 1.2 or 1.3.
//!
//! An exchange is a GET, or a POST if it has a body, and its response. By default requests are
//! confirmable: they are retransmitted until they are acknowledged (section 4.2, with the times of
//! section 4.8), and executed once however often they arrive (section 4.5). A server puts its
//! response into the acknowledgment, or, if it takes longer than 100 ms, into a separate
//! confirmable message. Non-confirmable requests without a response count as lost after the [idle
//! timeout](crate::TransportParameters::idle_timeout), which also ends a wait for an acknowledgment
//! if it is shorter.
//!
//! Bodies go in blocks (RFC 7959), one per round trip; both sides may request smaller ones. Without
//! [`block_wise`](crate::CoapParameters::block_wise) a client sends each request whole, in a
//! datagram that leaves in IP fragments if it is longer than the link's MTU; responses still go in
//! blocks. Codes map to HTTP's statuses as in RFC 8075, see `codes`. A client has at most
//! [`outstanding_max`](crate::CoapParameters::outstanding_max) outstanding requests (NSTART, RFC
//! 7252 section 4.7).
//!
//! The state that a peer can create at a server is bounded: half-open handshakes, sessions, recent
//! messages, bodies in blocks, parallel requests. See the constants at the end of `server`, `peer`,
//! `recent` and `uploads`.
//!
//! # Not supported
//!
//! - Resuming DTLS sessions, connection identifiers (RFC 9146), pre-shared keys, client certificates.
//! - Observing (RFC 7641), multicast, proxies, caching and validation, DELETE and later methods.
//! - Blocks of a response out of their order.

mod asking;
mod block;
mod client;
mod codes;
mod driver;
mod messages;
mod options;
mod peer;
mod recent;
mod server;
mod uploads;

use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::{
    Capabilities, Dialer, Handshake, Result, Service, TlsVersion, Transport,
};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, ListenAt, ServerConfig, TransportParameters};
use crate::datagrams::require_udp;
use crate::dtls_transport::DtlsEnd;
use crate::parameters::{cookie, dtls, over_coap};
use crate::protocol::{Protocol, Served, tls_round_trips};

pub(crate) struct Coap {
    pub(crate) is_encrypted: bool,
}

impl Protocol for Coap {
    fn name(&self) -> &'static str {
        if self.is_encrypted { "coap+dtls" } else { "coap" }
    }

    fn summary(&self) -> &'static str {
        if self.is_encrypted { "CoAP inside DTLS" } else { "CoAP, not encrypted" }
    }

    /// One interaction at a time by default (RFC 7252 section 4.7).
    fn capabilities(&self) -> Capabilities {
        let tls = if self.is_encrypted { TlsVersion::ALL } else { &[] };
        Capabilities { tls, ..Capabilities::plain(Transport::Coap) }
    }

    fn parameters(&self) -> Vec<Parameter> {
        if self.is_encrypted { [dtls(), over_coap(), cookie()].concat() } else { over_coap() }
    }

    /// One more for the cookie of DTLS (RFC 6347 section 4.2.1), which a server of DTLS 1.3 requests
    /// only if configured (RFC 9147 section 5.1).
    fn set_up_round_trips(
        &self,
        tls: Option<TlsVersion>,
        handshake: Handshake,
        parameters: &TransportParameters,
    ) -> u32 {
        let cookie = tls == Some(TlsVersion::Tls12) || parameters.coap.cookie;
        u32::from(self.is_encrypted && cookie) + tls_round_trips(tls, handshake)
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        require_udp(self.name(), "CoAP", &config.transport)?;
        let dtls = || DtlsEnd::server(self.name(), at.0.entropy(), config, TlsVersion::ALL);
        let dtls = self.is_encrypted.then(dtls).transpose()?;
        server::serve(self.name(), &at, config, dtls, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        require_udp(self.name(), "CoAP", &config.transport)?;
        config.require_new_handshake(self.name(), "the handshake `new`")?;
        let dtls = || DtlsEnd::client(self.name(), host.entropy(), config, TlsVersion::ALL);
        let dtls = self.is_encrypted.then(dtls).transpose()?;
        Ok(Rc::new(client::CoapDialer::new(self.name(), host, config, dtls)?))
    }
}

/// The maximum body of a request without block-wise transfer: with its headers it fits into socket
/// buffers and into a DTLS record (RFC 9147 section 4.5).
pub const WHOLE_MAX: usize = 8_192;
