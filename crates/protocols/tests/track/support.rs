//! A client, a server, a link between them, and a service to talk to.
#![allow(unused_imports, reason = "not every binary uses every part")]

#[path = "../shared/traffic.rs"]
mod traffic;

use std::future::poll_fn;
use std::io::IoSliceMut;
use std::net::Ipv4Addr;

use sha2::{Digest as _, Sha256};
use trackbed_connection::Service;
use trackbed_core::packet::Ecn;
use trackbed_net::models::Delay;
use trackbed_net::{Network, NodeId};
use trackbed_substrate::{Datagram, Multipath, ReceivedMeta};

// The vocabulary of these tests.
pub use futures_util::future::{join_all, select};
pub use futures_util::{AsyncReadExt as _, AsyncWriteExt as _, StreamExt as _};
pub use std::cell::{Cell, RefCell};
pub use std::collections::BTreeMap;
pub use std::net::{IpAddr, SocketAddr};
pub use std::path::Path;
pub use std::pin::pin;
pub use std::rc::Rc;
pub use std::sync::{Arc, Mutex};
pub use std::time::Duration;
pub use trackbed_connection::{
    CipherSuite, Connection, Dialer, Error, Handshake, KeyExchange, Request, Response, Security,
    TlsVersion, Transport, body,
};
pub use trackbed_core::{Bitrate, ByteSize, Packet, Ratio, Rng, Seed, Time};
pub use trackbed_net::models::loss::Listed;
pub use trackbed_net::models::{Loss, Outage, Spells};
pub use trackbed_net::queue::DropTail;
pub use trackbed_net::{Direction, Duplex, End, LinkId, LinkSpec, NetworkBuilder, Point, Tap};
pub use trackbed_protocols::{
    ClientConfig, CongestionOf, Encapsulation, Ledger, Protocol, SctpParameters, ServerConfig,
    ServerHandle, ServerLimits, TlsParameters, TransportParameters, congestion, registry,
};
pub use trackbed_substrate::simulated::{Hosts, Simulation};
pub use trackbed_substrate::{Host, TcpOptions, UdpSocket, now, sleep, sleep_until, spawn};

pub use traffic::*;

/// The round-trip time of [`clean`].
pub const RTT: Duration = Duration::from_millis(100);

/// A link that does nothing but delay, so that times are exact to the nanosecond.
pub fn clean() -> LinkSpec {
    LinkSpec::new().then(Delay::fixed(RTT / 2))
}

/// A link of `rate` with a delay of 10 ms each way and a queue that is never full.
pub fn fast(mbps: u64) -> LinkSpec {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(100_000_000));
    LinkSpec::simple(Bitrate::from_mbps(mbps), queue, Duration::from_millis(10))
}

/// Two hosts, `client` and `server`, and a link in each direction.
pub fn network(up: &LinkSpec, down: &LinkSpec, seed: &Seed) -> Network {
    let mut builder = NetworkBuilder::default();
    let (client, server) = (builder.host("client"), builder.host("server"));
    let addresses =
        |n: u8| [format!("10.0.0.{n}"), format!("fd00::{n}")].map(|a| a.parse().unwrap());
    builder.connect(
        End::new(client, addresses(1)),
        End::new(server, addresses(2)),
        Duplex::new(up, down, &seed.child("link")),
    );
    builder.build().unwrap()
}

/// The client's addresses, one on each path.
pub const ENDS: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 1, 0, 1))];

/// Two ways from the client, which meet in front of the server.
pub fn fork(ways: [&LinkSpec; 2], seed: &Seed) -> Network {
    let mut builder = NetworkBuilder::default();
    let (client, server) = (builder.host("client"), builder.host("server"));
    let crossing = builder.router("crossing");
    let wire = || Duplex::new(&LinkSpec::new(), &LinkSpec::new(), seed);
    builder.connect(End::new(crossing, []), End::new(server, [server_address().ip()]), wire());
    for (number, way) in ways.into_iter().enumerate() {
        let link = Duplex::new(way, way, &seed.child(&format!("way/{number}")));
        builder.connect(End::new(client, [ENDS[number]]), End::new(crossing, []), link);
    }
    builder.build().unwrap()
}

/// The path settings of either end.
pub fn transport_over_paths(
    scheduler: &str,
    addresses: Vec<IpAddr>,
    proactive: bool,
) -> TransportParameters {
    let multipath =
        Multipath { addresses, scheduler: scheduler.to_owned(), proactive, ..Multipath::default() };
    let tcp = TcpOptions { multipath: Some(multipath), ..TcpOptions::default() };
    TransportParameters { tcp, ..TransportParameters::default() }
}

/// Runs `main` in virtual time over a network with the same link in both directions.
pub fn simulate<T: Send, F: Future<Output = T>>(
    link: &LinkSpec,
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    simulate_over([link, link], main)
}

/// Runs `main` in virtual time over a network with these links, up and down.
pub fn simulate_over<T: Send, F: Future<Output = T>>(
    [up, down]: [&LinkSpec; 2],
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    let seed = Seed::of_run(1, 0);
    simulate_on(network(up, down, &seed), seed, main)
}

/// Runs `main` in virtual time over `network`.
pub fn simulate_on<T: Send, F: Future<Output = T>>(
    network: Network,
    seed: Seed,
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    let run = |hosts: Hosts| {
        let host = |name| hosts.get(name).unwrap();
        main(Track { client: host("client"), server: host("server") })
    };
    Simulation::default().run(seed, network, run).unwrap()
}

/// Runs `main` in virtual time over `network`, and returns what `tap` has seen as well.
pub fn simulate_seen<W: Tap + Clone + Default + 'static, T: Send, F: Future<Output = T>>(
    mut network: Network,
    seed: Seed,
    main: impl FnOnce(Track) -> F + Send,
) -> (T, W) {
    let tap = W::default();
    network.set_tap(Some(Box::new(tap.clone())));
    (simulate_on(network, seed, main), tap)
}

/// The two hosts.
pub struct Track {
    pub client: Arc<dyn Host>,
    pub server: Arc<dyn Host>,
}

/// Where servers listen.
pub fn server_address() -> SocketAddr {
    "10.0.0.2:443".parse().unwrap()
}

impl Track {
    /// Starts the test service with the default configuration.
    pub fn serve(&self, protocol: &dyn Protocol) -> ServerHandle {
        self.serve_with(protocol, &ServerConfig::default(), Rc::new(service))
    }

    pub fn serve_with(
        &self,
        protocol: &dyn Protocol,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> ServerHandle {
        protocol.serve((Arc::clone(&self.server), server_address()), config, service).unwrap()
    }

    /// A dialer that trusts `server`.
    pub fn dialer(
        &self,
        protocol: &dyn Protocol,
        server: &ServerHandle,
        config: ClientConfig,
    ) -> Rc<dyn Dialer> {
        let config = ClientConfig { trust: server.trust().cloned(), ..config };
        protocol.dialer(Arc::clone(&self.client), &config).unwrap()
    }

    /// A server, and a connection to it, with the default configurations.
    pub async fn connected(&self, protocol: &dyn Protocol) -> (ServerHandle, Rc<dyn Connection>) {
        self.connected_with(protocol, ClientConfig::default()).await
    }

    /// The same with this configuration of the client.
    pub async fn connected_with(
        &self,
        protocol: &dyn Protocol,
        config: ClientConfig,
    ) -> (ServerHandle, Rc<dyn Connection>) {
        let server = self.serve(protocol);
        let connection = self.connect(protocol, &server, config).await;
        (server, connection)
    }

    /// The same where both ends have this transport.
    pub async fn connected_over(
        &self,
        protocol: &dyn Protocol,
        transport: TransportParameters,
    ) -> (ServerHandle, Rc<dyn Connection>) {
        let config = ServerConfig { transport: transport.clone(), ..ServerConfig::default() };
        let server = self.serve_with(protocol, &config, Rc::new(service));
        let config = ClientConfig { transport, ..ClientConfig::default() };
        let connection = self.connect(protocol, &server, config).await;
        (server, connection)
    }

    /// A connection to `server`, which it trusts.
    pub async fn connect(
        &self,
        protocol: &dyn Protocol,
        server: &ServerHandle,
        config: ClientConfig,
    ) -> Rc<dyn Connection> {
        self.dialer(protocol, server, config).connect(server.local_addr()).await.unwrap()
    }
}

/// The default transport with an idle timeout.
pub fn idle_after(limit: Duration) -> TransportParameters {
    TransportParameters { idle_timeout: Some(limit), ..TransportParameters::default() }
}

/// Sends a small request and returns when its response was complete.
pub async fn ping(connection: &dyn Connection) -> Result<Time, Error> {
    let response = connection.exchange(Request::new("/echo", body::full("ping"))).await?;
    assert_eq!(response.status, 200);
    assert_eq!(body::collect(response.body, 100).await?, "ping");
    Ok(now())
}

/// Fetches a response of `len` bytes.
pub async fn fetch(connection: &dyn Connection, len: u64) {
    let response = connection.exchange(get(&format!("/zeros?{len}"))).await.unwrap();
    assert_eq!(body::drain(response.body).await, Ok(len));
}

pub fn protocol(name: &str) -> &'static dyn Protocol {
    trackbed_protocols::find(name).unwrap()
}

/// Runs a check for every protocol, saying which one it is if it fails.
pub fn for_each_protocol(check: impl Fn(&'static dyn Protocol)) {
    for protocol in registry() {
        eprintln!("{}", protocol.name());
        check(*protocol);
    }
}

/// The same in virtual time over `link`.
pub fn for_each_protocol_over<F: Future<Output = ()>>(
    link: &LinkSpec,
    check: impl Fn(&'static dyn Protocol, Track) -> F + Sync,
) {
    for_each_protocol(|protocol| simulate(link, |track| check(protocol, track)));
}

/// The time, protocol number and length of every packet that a host sends.
#[derive(Clone, Default)]
pub struct Sent(Arc<Mutex<Vec<(Time, u8, usize)>>>);

impl Sent {
    pub fn all(&self) -> Vec<(Time, u8, usize)> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap for Sent {
    fn see(&mut self, at: Time, _: LinkId, _: Direction, point: Point, packet: &Packet) {
        if point == Point::Entered {
            self.0.lock().unwrap().push((at, packet.protocol(), packet.len()));
        }
    }
}

/// Sends a datagram from `socket`.
pub async fn say(socket: &dyn UdpSocket, destination: SocketAddr, payload: &[u8]) {
    let (source, segment_size, ecn) = (None, None, Ecn::NotCapable);
    let datagram = Datagram { source, destination, ecn, payload, segment_size };
    poll_fn(|cx| socket.poll_send(cx, &datagram)).await.unwrap();
}

/// The next datagram, and its sender.
pub async fn hear(socket: &dyn UdpSocket) -> (SocketAddr, Vec<u8>) {
    let mut buffer = [0; 2_000];
    let mut meta = [ReceivedMeta::default()];
    let heard = poll_fn(|cx| socket.poll_recv(cx, &mut [IoSliceMut::new(&mut buffer)], &mut meta));
    heard.await.unwrap();
    (meta[0].source, buffer[..meta[0].len].to_vec())
}

/// A digest of every packet at every point of a network, with its time.
#[derive(Clone, Default)]
pub struct PacketDigest(Arc<Mutex<Sha256>>);

impl PacketDigest {
    pub fn sum(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone().finalize().to_vec()
    }
}

impl Tap for PacketDigest {
    fn see(&mut self, at: Time, link: LinkId, way: Direction, point: Point, packet: &Packet) {
        let mut digest = self.0.lock().unwrap();
        digest.update(at.as_nanos().to_le_bytes());
        digest.update(format!("{link:?} {way:?} {point:?}"));
        digest.update(packet.bytes());
    }

    fn unroutable(&mut self, _: Time, node: NodeId, packet: &Packet) {
        panic!("{packet:?} got lost at {node:?}");
    }
}
