//! `sctp`: one association, and a stream for each exchange, in the frames of
//! [`framing`](crate::framing).
//!
//! SCTP (RFC 9260) carries messages on numbered streams; those of different streams do not wait for
//! each other, and long ones are interleaved (RFC 8260). The client gives each exchange a stream of
//! its own, the first one that is free, in both directions. Request and response are cut into
//! messages that fill a packet; how they end is said by [`exchange::Kind`].
//!
//! # Not supported
//!
//! - Several addresses for an end (multihoming), and changing them.
//! - Congestion control other than that of RFC 9260.
//! - Path MTU discovery: packets have what 1,500 bytes leave, which every link of the track takes.
//! - Authenticated state cookies: a server believes a COOKIE ECHO (RFC 9260 section 5.1.5).
//! - An ABORT for packets that belong to no association (RFC 9260 section 8.4).

mod association;
mod client;
mod driver;
mod exchange;
mod server;
mod settings;
mod stream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_substrate::Host;

use crate::config::{ClientConfig, ServerConfig};
use crate::error::Result;
use crate::protocol::{Capabilities, Dialer, Protocol, ServerHandle, Service, Transport};
use crate::security::Handshake;

/// Frames on streams of SCTP.
pub(crate) struct Sctp;

impl Protocol for Sctp {
    fn name(&self) -> &'static str {
        "sctp"
    }

    fn summary(&self) -> &'static str {
        "frames on SCTP, not encrypted, a stream for each exchange"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Sctp,
            tls: &[],
            handshakes: &[Handshake::New],
            multiplexed: true,
        }
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        server::serve(self.name(), &host, listen, config, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(client::SctpDialer::new(self.name(), host, config)?))
    }
}
