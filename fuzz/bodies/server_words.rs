//! Anything said to a server of any protocol: the first byte chooses it from the registry, then come
//! pieces with two bytes of length before each. Over UDP each is a datagram; over TCP they are written
//! one after the other, and after an empty one on another connection at the same time. Whatever they are, a
//! client is served afterwards, and the server keeps no more connections than it may.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use trackbed_connection::{Dialer, Error, Request, Response, Transport, body};
use trackbed_core::Seed;
use trackbed_core::packet::Ecn;
use trackbed_net::models::loss::Listed;
use trackbed_net::models::{Delay, Loss};
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};
use trackbed_protocols::intruder::Intruder;
use trackbed_protocols::{ClientConfig, Protocol, ServerConfig, ServerLimits, find, registry};
use trackbed_substrate::simulated::{Hosts, Simulation};
use trackbed_substrate::{Datagram, Host, UdpSocket, before, now, sleep};

pub fn run(data: &[u8]) {
    let Some((&which, pieces)) = data.split_first() else { return };
    let limits = ServerLimits { connections: 4, handshakes: 2, ..ServerLimits::default() };
    say(registry()[usize::from(which) % registry().len()], limits, pieces);
}

/// The same for `coap` if the first byte is even, and for `coap+dtls` otherwise, with room.
pub fn run_coap(data: &[u8]) {
    let Some((&kind, pieces)) = data.split_first() else { return };
    let name = if kind % 2 == 0 { "coap" } else { "coap+dtls" };
    say(find(name).expect("it is registered"), ServerLimits::default(), pieces);
}

fn say(protocol: &'static dyn Protocol, limits: ServerLimits, pieces: &[u8]) {
    serve(protocol, limits, 0, async |client: &Arc<dyn Host>, config: &_, _: &dyn Dialer| {
        match protocol.capabilities().transport {
            Transport::Tcp => write(client, config, pieces).await,
            Transport::Udp | Transport::Coap | Transport::Sctp => shout(client, pieces).await,
        }
    });
}

/// Lets `act` use a server, and then a client, which has to be served. Of each eight of the first packets in
/// each direction those are lost that have a bit in `lost`.
pub fn serve(
    protocol: &dyn Protocol,
    limits: ServerLimits,
    lost: u8,
    act: impl AsyncFnOnce(&Arc<dyn Host>, &ClientConfig, &dyn Dialer) + Send,
) {
    let lost = (0..LOSSES_UNTIL).filter(|number| lost >> (number % 8) & 1 != 0);
    let attempts = 1 + lost.clone().count();
    simulate(Loss::new(Listed::new(lost)), async |client, server| {
        let most = limits.connections;
        let config = ServerConfig { limits, ..ServerConfig::default() };
        let echo = async |request: Request| Response { status: 200, body: request.body };
        let server = protocol.serve((server, SERVER), &config, Rc::new(echo));
        let server = server.expect("the port is free");
        let config = ClientConfig { trust: server.trust().cloned(), ..ClientConfig::default() };
        let dialer = protocol.dialer(Arc::clone(&client), &config).expect("it is supported");
        act(&client, &config, &*dialer).await;
        assert!(server.connections() <= most, "{} connections", server.connections());
        let mut end = None;
        for _ in 0..attempts {
            // TCP without keep-alives waits for ever if the server's reset is lost.
            end = before(now() + Duration::from_secs(200), exchange(&*dialer)).await;
            if let Some(Ok(answer)) = &end {
                assert_eq!(answer, "hello", "the answer is what was sent");
                return;
            }
        }
        panic!("a client is not served: {end:?}");
    });
}

/// Runs `main` with a client's and a server's host, and a link between them that loses packets.
pub fn simulate(loss: Loss, main: impl AsyncFnOnce(Arc<dyn Host>, Arc<dyn Host>) + Send) {
    let seed = Seed::of_run(1, 0);
    let mut builder = NetworkBuilder::default();
    let (client, server) = (builder.host("client"), builder.host("server"));
    let link = LinkSpec::new().then(Delay::fixed(Duration::from_millis(1))).then(loss);
    let end = |node, number: u8| End::new(node, [[10, 0, 0, number].into()]);
    builder.connect(end(client, 1), end(server, 2), Duplex::new(&link, &link, &seed));
    let network = builder.build().expect("two hosts and a link are a network");
    let outcome = Simulation::default().run(seed, network, async |hosts: Hosts| {
        let host = |name| hosts.get(name).expect("it was made");
        main(host("client"), host("server")).await;
    });
    outcome.expect("the run ends");
}

/// What a server answers.
pub async fn exchange(dialer: &dyn Dialer) -> Result<Bytes, Error> {
    let connection = dialer.connect(SERVER).await?;
    let response = connection.exchange(Request::new("/", body::full(&b"hello"[..]))).await?;
    body::collect(response.body, 5).await
}

async fn shout(client: &Arc<dyn Host>, pieces: &[u8]) {
    let socket = client.bind_udp(([10, 0, 0, 1], 9).into()).expect("the port is free");
    for payload in split(pieces) {
        send(&*socket, SERVER, payload).await;
        sleep(Duration::from_micros(10)).await;
    }
}

pub async fn send(socket: &dyn UdpSocket, destination: SocketAddr, payload: &[u8]) {
    let (source, segment_size, ecn) = (None, None, Ecn::NotCapable);
    let datagram = Datagram { source, destination, ecn, payload, segment_size };
    let _refused = poll_fn(|cx| socket.poll_send(cx, &datagram)).await;
}

/// Each connection says what comes before the next empty piece.
async fn write(client: &Arc<dyn Host>, config: &ClientConfig, pieces: &[u8]) {
    let pieces: Vec<Vec<u8>> = split(pieces).map(<[u8]>::to_vec).collect();
    let all = pieces.split(Vec::is_empty);
    let say = |words| Intruder::bare().connect((Arc::clone(client), SERVER), config, words);
    let _gone = join_all(all.map(say)).await;
}

pub fn split(mut pieces: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (len, rest) = pieces.split_first_chunk()?;
        let len = usize::from(u16::from_be_bytes(*len)).min(rest.len()).min(1_472);
        let (piece, rest) = rest.split_at(len);
        pieces = rest;
        Some(piece)
    })
}

/// Afterwards the link has healed: few enough packets that no timer backs off for an hour.
const LOSSES_UNTIL: u64 = 16;

pub const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)), 443);
