//! A server, an honest client, a host of attackers and a host of clients behind an attacker, each
//! 25 ms from a central router.

use trackbed_net::Network;
use trackbed_net::models::Delay;

use super::memory::held;
use crate::support::*;

/// From the client, or an attacker, to the server and back.
pub const RTT: Duration = Duration::from_millis(100);

/// The servers of these tests have low limits, so that a few attackers exceed them.
pub const LIMITS: ServerLimits = ServerLimits {
    connections: 48,
    handshakes: 16,
    opening: Duration::from_secs(20),
    writing: Some(Duration::from_secs(20)),
    buffered: Some(4 << 20),
};

/// The path of a long download.
pub const ENDLESS: &str = "/endless";

/// Where the server listens.
pub const SERVER: SocketAddr =
    SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 443);

const LIMIT: Time = Time::from_millis(25 * 3_600_000);

/// The address of the attackers.
pub const ATTACKERS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 2, 1));

fn network(seed: &Seed) -> Network {
    let mut builder = NetworkBuilder::default();
    let router = builder.router("router");
    for (number, name) in [(0, "server"), (1, "client"), (2, "attacker"), (3, "dupe")] {
        let node = builder.host(name);
        let spec = LinkSpec::new().then(Delay::fixed(RTT / 4));
        let link = Duplex::new(&spec, &spec, &seed.child(name));
        let end = |node, last| End::new(node, [[10, 0, number, last].into()]);
        builder.connect(end(node, 1), end(router, 2), link);
    }
    builder.build().unwrap()
}

/// The server of one protocol and the hosts.
pub struct Ground {
    pub protocol: &'static dyn Protocol,
    pub server: ServerHandle,
    pub client: Arc<dyn Host>,
    pub attacker: Arc<dyn Host>,
    /// The host of clients that connect through an attacker's relay.
    pub dupe: Arc<dyn Host>,
    pub seed: Seed,
}

/// Runs `main` for every protocol, saying which one it is.
pub fn for_each_protocol<F: Future<Output = ()>>(main: impl Fn(Rc<Ground>) -> F + Sync) {
    for protocol in registry() {
        eprintln!("{}", protocol.name());
        let seed = Seed::of_run(1, 0);
        let run = |hosts: Hosts| main(Rc::new(Ground::new(*protocol, &hosts, seed)));
        Simulation::default().with_time_limit(LIMIT).run(seed, network(&seed), run).unwrap();
    }
}

impl Ground {
    fn new(protocol: &'static dyn Protocol, hosts: &Hosts, seed: Seed) -> Ground {
        let host = |name| hosts.get(name).unwrap();
        let config = ServerConfig { limits: LIMITS, ..ServerConfig::default() };
        let echo = async |request: Request| match request.path.as_str() {
            ENDLESS => Response { status: 200, body: body::zeros(100_000_000) },
            _ => Response { status: 200, body: request.body },
        };
        let server = protocol.serve((host("server"), SERVER), &config, Rc::new(echo)).unwrap();
        let (client, attacker, dupe) = (host("client"), host("attacker"), host("dupe"));
        Ground { protocol, server, client, attacker, dupe, seed }
    }

    pub fn is_over_tcp(&self) -> bool {
        self.protocol.capabilities().transport == Transport::Tcp
    }

    /// A dialer on `host` that knows the server.
    pub fn dialer(&self, host: &Arc<dyn Host>) -> Rc<dyn Dialer> {
        let transport =
            TransportParameters { window: 256 << 10, ..idle_after(Duration::from_secs(30)) };
        let trust = self.server.trust().cloned();
        let config = ClientConfig { trust, transport, ..Default::default() };
        self.protocol.dialer(Arc::clone(host), &config).unwrap()
    }

    /// A new connection of the honest client, which was answered once, and how long that took.
    pub async fn visit(&self) -> (Rc<dyn Connection>, Duration) {
        let start = now();
        let name = self.protocol.name();
        let connection = self.dialer(&self.client).connect(SERVER).await;
        let connection = connection.unwrap_or_else(|why| panic!("{name}: {why}"));
        ask(&*connection, 100).await.unwrap_or_else(|why| panic!("{name}: {why}"));
        (connection, now() - start)
    }
}

/// Exchanges `len` bytes, and returns the duration.
pub async fn ask(connection: &dyn Connection, len: usize) -> Result<Duration, Error> {
    let start = now();
    let response = connection.exchange(Request::new("/echo", body::full(vec![7; len]))).await?;
    assert_eq!(body::collect(response.body, len).await?.len(), len);
    Ok(now() - start)
}

/// An honest client before, during and after a siege.
pub struct Witness {
    ground: Rc<Ground>,
    connection: Rc<dyn Connection>,
    /// How long a new connection and its first answer take in peace.
    calm: Duration,
    before: isize,
}

impl Witness {
    /// One that has a connection already.
    pub async fn new(ground: &Rc<Ground>) -> Witness {
        let (connection, calm) = ground.visit().await;
        Witness { ground: Rc::clone(ground), connection, calm, before: held() }
    }

    /// Asserts that an exchange on the old connection takes a round trip, and a new connection at most
    /// two more than without an attack: the server may require it to validate its address.
    pub async fn check(&self, when: &str) {
        let name = self.ground.protocol.name();
        let answered = ask(&*self.connection, 100).await;
        let took = answered.unwrap_or_else(|why| panic!("{name}, {when}: {why}"));
        assert_eq!(took, RTT, "{name}, {when}: an exchange");
        let (connection, took) = self.ground.visit().await;
        assert!(took <= self.calm + RTT * 2, "{name}, {when}: {took:?}, not {:?}", self.calm);
        connection.close().await;
        let present = self.ground.server.connections();
        assert!(present <= LIMITS.connections, "{name}, {when}: {present} connections");
    }

    /// The growth of memory since its beginning.
    pub fn memory(&self) -> isize {
        held() - self.before
    }

    /// Asserts that memory has grown by at most this much.
    pub fn check_memory(&self, when: &str, most: isize) {
        let more = self.memory();
        eprintln!("  {when}: {} kB more", more / 1_000);
        assert!(more <= most, "{}, {when}: {more} bytes more", self.ground.protocol.name());
    }
}
