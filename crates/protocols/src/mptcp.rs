//! `mptcp`: the frames of `tcp` on Multipath TCP (RFC 8684).

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Dialer, Error, Handshake, Service, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Multipath};

use crate::config::{ClientConfig, ServerConfig, TransportParameters};
use crate::parameters::{SCHEDULER_OF_LINUX, over_mptcp};
use crate::protocol::{Protocol, ServerHandle};
use crate::tcp::{FramedDialer, serve_frames};
use crate::tcp_transport::TcpDialer;

/// Frames on Multipath TCP. The path settings of [`TransportParameters::tcp`] apply; default: the
/// scheduler of Linux.
pub(crate) struct Mptcp;

impl Protocol for Mptcp {
    fn name(&self) -> &'static str {
        "mptcp"
    }

    fn summary(&self) -> &'static str {
        "length-prefixed frames on Multipath TCP, over all paths of a host, not encrypted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Tcp,
            tls: &[],
            handshakes: &[Handshake::New],
            multiplexed: false,
            migrates: false,
            multipath: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        over_mptcp()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        let transport = with_paths(&config.transport);
        let config = ServerConfig { transport, ..config.clone() };
        serve_frames(self.name(), &*host, listen, &config, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        if config.handshake != Handshake::New {
            let advice = "it does not support session resumption: use the handshake `new`";
            return Err(Error::Unsupported { protocol: self.name(), advice: advice.to_owned() });
        }
        let transport = with_paths(&config.transport);
        let config = ClientConfig { transport, ..config.clone() };
        let tcp = TcpDialer::bare(self.name(), host, &config);
        Ok(Rc::new(FramedDialer { protocol: self.name(), tcp }))
    }
}

fn with_paths(transport: &TransportParameters) -> TransportParameters {
    let mut transport = transport.clone();
    let paths = || Multipath { scheduler: SCHEDULER_OF_LINUX.to_owned(), ..Multipath::default() };
    transport.tcp.multipath.get_or_insert_with(paths);
    transport
}
