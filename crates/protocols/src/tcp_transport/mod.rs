//! TCP (RFC 9293), bare or under TLS: what `http2`, `tcp` and `tcp+tls` have in common.

mod open;
mod patience;
mod stream;
mod tls_stream;
mod watched;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Error, Result, Step};
use trackbed_substrate::{Guests, Host, Standing, TcpOptions, TcpStream, accept_each};

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::nursery::Nursery;
use crate::observer::Side;
use crate::path_control::PathControl;
use crate::protocol::{Served, ServerHandle};
use crate::tls::{Profile, TlsClient, TlsServer, explained};
pub(crate) use open::Open;
pub(crate) use patience::Patience;
use patience::in_time;
pub(crate) use stream::Stream;
use watched::Watch;

pub(crate) struct TcpDialer {
    pub(crate) protocol: &'static str,
    host: Arc<dyn Host>,
    local: Option<IpAddr>,
    options: TcpOptions,
    tls: Option<TlsClient>,
    idle_timeout: Option<Duration>,
    watch: Watch,
    paths: PathControl,
}

impl TcpDialer {
    /// # Errors
    /// If `config` asks for what TLS cannot do.
    pub(crate) fn new(
        profile: Profile,
        host: Arc<dyn Host>,
        config: &ClientConfig,
    ) -> Result<TcpDialer> {
        let tls = || TlsClient::new(profile, host.entropy(), config);
        Ok(TcpDialer {
            protocol: profile.protocol,
            tls: (!profile.is_bare()).then(tls).transpose()?,
            host,
            local: config.local,
            options: config.transport.tcp_options(),
            idle_timeout: config.transport.idle_timeout,
            watch: Watch::new(Side::Client, &config.transport),
            paths: config.paths.clone(),
        })
    }

    /// Connects; under TLS the stream is ready for a request.
    pub(crate) async fn connect(&self, remote: SocketAddr) -> Result<Stream> {
        let connected = self.host.connect_tcp(self.local, remote, &self.options).await;
        let tcp = connected.map_err(|error| io_failed(self.protocol, Step::Connect, &error))?;
        let opened = Stream::connect(self.watch.over(tcp), self.tls.as_ref()).await;
        let stream = opened.map_err(|error| io_failed(self.protocol, Step::Handshake, &error))?;
        Ok(stream.entered(&self.paths))
    }

    /// How long an exchange on `stream` waits for the server.
    pub(crate) fn patience(&self, stream: &Stream) -> Patience {
        Patience { protocol: self.protocol, progress: stream.progress(), limit: self.idle_timeout }
    }
}

/// Starts a server: every connection is handed to `serve`, whose future runs until it ends, the handle
/// is dropped, or its place is [needed](crate::config::ServerLimits). It reports each request to the
/// connection's standing.
pub(crate) fn serve<F: Future<Output = ()> + 'static>(
    profile: Profile,
    (host, address): &ListenAt,
    config: &ServerConfig,
    serve: impl Fn(Stream, Standing) -> F + 'static,
) -> Served {
    let tls = || TlsServer::new(profile, host.entropy(), config);
    let tls = (!profile.is_bare()).then(tls).transpose()?;
    let trust = tls.as_ref().map(|tls| tls.trust.clone());
    let listener = host
        .listen_tcp(*address, &config.transport.tcp_options())
        .map_err(|error| Error::lasting(profile.protocol, Step::Listen, error))?;
    let local = listener.local_addr();
    let running = Nursery::default();
    let connections = Guests::new(config.limits.connections);
    let count = connections.count();
    let limits = config.limits.clone();
    let watch = Watch::new(Side::Server, &config.transport);
    let paths = config.paths.clone();
    running.spawn(async move {
        let take = |tcp: Box<dyn TcpStream>| {
            let standing = Standing::new(tcp.peer_addr().ip());
            // Opening fails only for a configuration that was refused before.
            if let Ok(stream) = Stream::accept(watch.over(tcp), tls.as_ref()) {
                let stream = stream.entered(&paths);
                let serving = serve(stream.clone(), standing.clone());
                let attending = in_time(stream, standing.clone(), limits.clone(), serving);
                connections.admit(standing, attending);
            }
        };
        accept_each(&*listener, take, |_why| connections.relieve()).await;
    });
    Ok(ServerHandle::new(local, trust, Rc::new(running)).counting(count))
}

/// Converts the failure of a connection. A refusal by the peer or the configuration is lasting.
pub(crate) fn io_failed(protocol: &'static str, step: Step, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => Error::lasting(protocol, step, explained(error)),
        io::ErrorKind::InvalidInput
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::Unsupported => Error::lasting(protocol, step, error),
        _ => Error::transient(protocol, step, error),
    }
}
