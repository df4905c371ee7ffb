//! `mpquic`: what `quic` is, over all paths of a host at once (draft-ietf-quic-multipath).

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Connection, Dialer, Handshake, Service, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, ServerConfig};
use crate::parameters::{over_quic, quic_scheduler};
use crate::protocol::{Protocol, ServerHandle};
use crate::quic::{QUIC, StreamDialer, serve_streams};
use crate::quic_transport::{QuicDialer, Several};
use crate::tls::Profile;

/// Frames on QUIC streams whose packets take several paths. The path settings of
/// [`TransportParameters::tcp`](crate::TransportParameters::tcp) apply, except those that exist
/// only in MPTCP.
///
/// Either end interoperates with `quic`, over one path.
pub(crate) struct Mpquic;

const MPQUIC: Profile = Profile { protocol: "mpquic", ..QUIC };

impl Protocol for Mpquic {
    fn name(&self) -> &'static str {
        MPQUIC.protocol
    }

    fn summary(&self) -> &'static str {
        "frames on Multipath QUIC, over all paths of a host, one stream per exchange"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Udp,
            tls: MPQUIC.versions,
            handshakes: Handshake::OF_PROTOCOLS,
            multiplexed: true,
            migrates: false,
            multipath: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [over_quic(), quic_scheduler()].concat()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        let several = Several::new(self.name(), &config.transport, &config.paths)?;
        serve_streams(MPQUIC, &*host, (listen, config), Some(several), service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let several = Several::new(self.name(), &config.transport, &config.paths)?;
        let quic = QuicDialer::new(MPQUIC, host, config, Some(several))?;
        Ok(Rc::new(OnAllPaths(StreamDialer::new(MPQUIC, quic))))
    }
}

/// Its connections do not follow a host that moves: they keep its old addresses.
struct OnAllPaths(StreamDialer);

impl Dialer for OnAllPaths {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        self.0.connect(remote)
    }
}
