//! QUIC (RFC 9000) on a substrate's UDP sockets: what `quic`, `mpquic` and `http3` have in common.

mod congestion;
mod cubic;
mod hystart;
mod moving;
mod pacing;
mod probing;
mod reno;
mod retrying;
mod runtime;
mod scheduling;
mod session;
mod settings;
mod several;
mod tuning;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use noq::{ConnectionError, Endpoint, PathId, SendStream, VarInt, WeakConnectionHandle};
use trackbed_connection::{Error, Result, Security, Step, TransportStats};
use trackbed_substrate::{Guests, Host, Standing, spawn, yield_now};

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::ledger::{Account, Accounted, Ledger, Tally};
use crate::nursery::Nursery;
use crate::protocol::{Served, ServerHandle};
use crate::tls::{Profile, Randomness, TlsClient, TlsServer, explained};
pub(crate) use congestion::QUIC_CONGESTION;
use moving::Arrivals;
use probing::Occasion;
use retrying::RetryTokens;
use runtime::{Runtime, Socket};
pub use scheduling::{QuicScheduler, quic_schedulers};
use session::{ClientCrypto, ServerCrypto};
use settings::Settings;
use several::Paths;
pub(crate) use several::Several;

/// Opens QUIC connections from a host, over one socket for each of its addresses.
pub(crate) struct QuicDialer {
    pub(crate) protocol: &'static str,
    host: Arc<dyn Host>,
    local: Option<IpAddr>,
    tls: TlsClient,
    settings: Settings,
    endpoints: RefCell<BTreeMap<IpAddr, Endpoint>>,
    latest: RefCell<Option<WeakConnectionHandle>>,
    ledger: Option<Ledger>,
}

impl QuicDialer {
    /// A dialer of connections over one path, or over several.
    pub(crate) fn new(
        profile: Profile,
        host: Arc<dyn Host>,
        config: &ClientConfig,
        several: Option<Several>,
    ) -> Result<Self> {
        let buffered = Some(BUFFERED_MAX.max(config.transport.window as usize * 8));
        let dialer = QuicDialer {
            protocol: profile.protocol,
            tls: TlsClient::new(profile, host.entropy(), config)?,
            settings: Settings::new(profile.protocol, &config.transport, several, buffered)?,
            local: config.local,
            host,
            endpoints: RefCell::default(),
            latest: RefCell::default(),
            ledger: config.transport.ledger.clone(),
        };
        // If the address is already known, no connection has to wait for its socket.
        if let Some(local) = config.local {
            dialer.endpoint(local)?;
        }
        Ok(dialer)
    }

    /// Connects; with a session ticket that allows early data, without waiting for the server.
    pub(crate) async fn connect(&self, remote: SocketAddr) -> Result<QuicConnection> {
        let endpoint = self.endpoint(remote.ip())?;
        let (transport, leave, blocked) = self.settings.of_one();
        let mut config = noq::ClientConfig::new(Arc::new(ClientCrypto(self.tls.clone())));
        config.transport_config(transport);
        if let Some(seeded) = self.tls.randomness.seeded() {
            let seeded = seeded.clone();
            let provider = move || settings::initial_destination(&seeded);
            config.initial_dst_cid_provider(Arc::new(provider));
        }
        let connecting = endpoint
            .connect_with(config, remote, &self.tls.name.to_str())
            .map_err(|error| Error::lasting(self.protocol, Step::Connect, error))?;
        let connection = match connecting.into_0rtt() {
            // Whether the server accepts shows in `security`, and in the streams' errors.
            Ok((connection, _accepted)) => connection,
            Err(connecting) => connecting
                .await
                .map_err(|error| connection_failed(self.protocol, Step::Handshake, &error))?,
        };
        self.latest.replace(Some(connection.weak_handle()));
        spawn(probing::probe(connection.weak_handle(), leave, Occasion::Silence)).detach();
        let account = Rc::new(Accounted::new(connection.clone(), self.ledger.as_ref()));
        let paths = self.settings.several.as_ref().map(|several| {
            several.open(&connection, remote);
            several.enter(&connection, blocked)
        });
        Ok(QuicConnection { connection, account, paths })
    }

    /// Gives every endpoint a socket at the host's new address. The engine switches to unused
    /// connection IDs and sends from there at once, which makes the server validate the new path
    /// (RFC 9000 section 9). Connections over several paths keep their old addresses.
    pub(crate) fn host_has_moved(&self) -> Result<()> {
        if self.settings.several.is_some() {
            return Ok(());
        }
        let mut endpoints = self.endpoints.borrow_mut();
        for (old, endpoint) in std::mem::take(&mut *endpoints) {
            let new = self.local_address(old)?;
            let arrivals = moving::follow(&self.host, &endpoint, new)
                .map_err(|error| Error::lasting(self.protocol, Step::Connect, error))?;
            let round_trips = self.round_trip_time() * moving::PATIENCE_ROUND_TRIPS;
            let patience = round_trips.max(moving::PATIENCE_MIN);
            let (host, followed) = (Arc::clone(&self.host), endpoint.clone());
            spawn(moving::persist(host, followed, arrivals, patience)).detach();
            endpoints.insert(new, endpoint);
        }
        Ok(())
    }

    /// That of the connection that was opened last, if it is still open.
    fn round_trip_time(&self) -> Duration {
        let connection = self.latest.borrow().as_ref().and_then(WeakConnectionHandle::upgrade);
        let path = connection.and_then(|connection| connection.path_stats(PathId::ZERO));
        path.map_or(Duration::ZERO, |path| path.rtt)
    }

    fn endpoint(&self, remote: IpAddr) -> Result<Endpoint> {
        let local = self.local_address(remote)?;
        if let Some(endpoint) = self.endpoints.borrow().get(&local) {
            return Ok(endpoint.clone());
        }
        // Further paths begin at other addresses of the same socket.
        let opens_paths = self.settings.several.as_ref().is_some_and(Several::opens_paths);
        let bound = match local {
            _ if !opens_paths => local,
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let bound = SocketAddr::new(bound, 0);
        let endpoint = bind(&*self.host, bound, Some(local), &self.tls.randomness, None)
            .map_err(|reason| Error::lasting(self.protocol, Step::Connect, reason))?;
        self.endpoints.borrow_mut().insert(local, endpoint.clone());
        Ok(endpoint)
    }

    fn local_address(&self, peer: IpAddr) -> Result<IpAddr> {
        let fits = |address: &IpAddr| address.is_ipv4() == peer.is_ipv4();
        let chosen = self.local.or_else(|| self.host.addresses().into_iter().find(fits));
        chosen.filter(fits).ok_or_else(|| {
            let reason = format!("the host has no address of the same IP version as {peer}");
            Error::lasting(self.protocol, Step::Connect, reason)
        })
    }
}

#[derive(Clone)]
pub(crate) struct QuicConnection {
    pub(crate) connection: noq::Connection,
    account: Rc<Accounted<noq::Connection>>,
    /// Those of a connection that may have several.
    paths: Option<Rc<Paths>>,
}

impl QuicConnection {
    pub(crate) fn security(&self) -> Option<Security> {
        self.connection.handshake_data()?.downcast().ok().map(|security| *security)
    }

    pub(crate) fn stats(&self) -> TransportStats {
        self.account.connection.account()
    }

    /// Whether the connection may migrate: the handshake is confirmed (RFC 9000 section 9), and
    /// nothing has closed it. A multipath connection need not migrate.
    pub(crate) fn can_migrate(&self) -> bool {
        let confirmed = self.connection.handshake_confirmed().now_or_never();
        self.paths.is_none()
            && matches!(confirmed, Some(Ok(())))
            && self.connection.close_reason().is_none()
    }

    /// Closes with an application error code (RFC 9000 section 10.2) and lets the packet leave.
    pub(crate) async fn close(&self, code: u32) {
        self.connection.close(VarInt::from_u32(code), b"");
        yield_now().await;
    }
}

impl Account for noq::Connection {
    fn account(&self) -> TransportStats {
        let total = self.stats();
        let path = self.path_stats(PathId::ZERO);
        TransportStats {
            packets_sent: total.sent_packets,
            packets_lost: total.lost_packets,
            bytes_sent: total.udp_tx.bytes,
            bytes_received: total.udp_rx.bytes,
            filler_bytes: total.sent_filler_bytes,
            address_validation: total.address_validation_wait,
            smoothed_rtt: path.map(|path| path.rtt),
            congestion_window: path.map_or(0, |path| path.cwnd),
        }
    }
}

/// Starts a server: every connection is handed to `serve`, whose future runs until it ends or the
/// handle is dropped, or its place is [needed](crate::config::ServerLimits); it reports each
/// request to the connection's standing. Requests in early data are answered at once.
pub(crate) fn serve<F: Future<Output = ()> + 'static>(
    profile: Profile,
    (host, address): &ListenAt,
    config: &ServerConfig,
    several: Option<Several>,
    serve: impl Fn(noq::Connection, Standing) -> F + 'static,
) -> Served {
    let tls = TlsServer::new(profile, host.entropy(), config)?;
    let crypto = Arc::new(ServerCrypto(tls.clone()));
    let tokens = Arc::new(RetryTokens::new(&tls.randomness));
    let mut server = noq::ServerConfig::new(crypto, tokens);
    retrying::set(&mut server);
    let settings =
        Settings::new(profile.protocol, &config.transport, several, config.limits.buffered)?;
    let failed = |reason: String| Error::lasting(profile.protocol, Step::Listen, reason);
    let endpoint =
        bind(&**host, *address, None, &tls.randomness, Some(server.clone())).map_err(failed)?;
    let local = endpoint.local_addr().map_err(|error| failed(error.to_string()))?;
    let running = Nursery::default();
    let connections = Guests::new(config.limits.connections);
    let count = connections.count();
    let (handshakes, handshakes_max) = (Tally::default(), config.limits.handshakes);
    let accepting = endpoint.clone();
    let ledger = config.transport.ledger.clone();
    let serve = Rc::new(serve);
    running.spawn(async move {
        while let Some(incoming) = accepting.accept().await {
            if handshakes.count() >= handshakes_max && !incoming.remote_address_validated() {
                // It fails only for a client that was already asked.
                let _asked = incoming.retry();
                continue;
            }
            let (transport, leave, blocked) = settings.of_one();
            let mut server = server.clone();
            server.transport_config(transport);
            let source = incoming.remote_address().ip();
            // A failure here is a broken first packet; the engine notifies the client.
            let Ok(mut connecting) = incoming.accept_with(Arc::new(server)) else { continue };
            let (serve, ledger) = (Rc::clone(&serve), ledger.clone());
            let several = settings.several.clone();
            let (standing, shaking) = (Standing::new(source), handshakes.begin());
            let shown = standing.clone();
            connections.admit(standing, async move {
                // The client's first packet may be lost, and a later one arrive without the
                // ClientHello. Streams that are opened before the ClientHello wait forever: the
                // engine does not wake them when the client's limits become known.
                if connecting.handshake_data().await.is_err() {
                    return;
                }
                let Ok((connection, established)) = connecting.into_0rtt() else { return };
                let until_established = async move {
                    established.await;
                    drop(shaking);
                };
                spawn(until_established).detach();
                spawn(probing::probe(connection.weak_handle(), leave, Occasion::Delay)).detach();
                let _account = Accounted::new(connection.clone(), ledger.as_ref());
                let _paths = several.map(|several| several.enter(&connection, blocked));
                serve(connection, shown).await;
            });
        }
    });
    let open = Open { endpoint, _running: running };
    Ok(ServerHandle::new(local, Some(tls.trust), Rc::new(open)).counting(count))
}

/// A server's endpoint, closed when the server stops.
struct Open {
    endpoint: Endpoint,
    _running: Nursery,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.endpoint.close(VarInt::from_u32(0), b"the server has stopped");
    }
}

fn bind(
    host: &dyn Host,
    local: SocketAddr,
    source: Option<IpAddr>,
    randomness: &Randomness,
    server: Option<noq::ServerConfig>,
) -> Result<Endpoint, String> {
    let config = settings::endpoint(randomness).map_err(|error| error.to_string())?;
    let socket = host.bind_udp(local).map_err(|error| format!("{local}: {error}"))?.into();
    let socket = Socket { socket, source, arrivals: Arrivals::default() };
    Endpoint::new_with_abstract_socket(config, server, Box::new(socket), Arc::new(Runtime))
        .map_err(|error| error.to_string())
}

/// Keeps a finished stream until the peer has all of it. If the peer asks to stop before that, the
/// rest is not sent (RFC 9000 section 3.5): the engine, which holds much of a body by then, leaves
/// the reset to the owner of the handle.
pub(crate) async fn see_off(stream: &mut SendStream) {
    if let Ok(Some(code)) = stream.stopped().await {
        // It fails only for a stream that has ended.
        let _ended = stream.reset(code);
    }
}

/// Converts the loss of a connection. An untrusted or invalid peer is a lasting failure; anything
/// else is transient.
pub(crate) fn connection_failed(
    protocol: &'static str,
    step: Step,
    error: &ConnectionError,
) -> Error {
    match error {
        ConnectionError::TransportError(_) | ConnectionError::VersionMismatch => {
            Error::lasting(protocol, step, explained(error))
        }
        ConnectionError::ConnectionClosed(close)
            if CRYPTO_ERRORS.contains(&close.error_code.into()) =>
        {
            Error::lasting(protocol, step, explained(error))
        }
        ConnectionError::ConnectionClosed(_)
        | ConnectionError::ApplicationClosed(_)
        | ConnectionError::Reset
        | ConnectionError::LocallyClosed
        | ConnectionError::CidsExhausted => Error::transient(protocol, step, error),
        ConnectionError::TimedOut => {
            Error::transient(protocol, step, format!("{error} (idle-timeout)"))
        }
    }
}

/// RFC 9001 section 4.6.1: QUIC limits early data, so the value in TLS is always this one.
pub(crate) const EARLY_DATA_MAX: u32 = u32::MAX;

/// The bytes that may wait in a client: more than windows allow an honest server.
const BUFFERED_MAX: usize = 512 << 20;

/// Failures of TLS (RFC 9000 section 20.1).
const CRYPTO_ERRORS: RangeInclusive<u64> = 0x100..=0x1ff;
