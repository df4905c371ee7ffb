//! Connections over several paths of QUIC (draft-ietf-quic-multipath), in virtual time.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt as _;
use trackbed_core::{Bitrate, ByteSize, Seed, Time};
use trackbed_net::models::{Delay, Outage, Spells};
use trackbed_net::queue::DropTail;
use trackbed_net::{Duplex, End, LinkSpec, Network, NetworkBuilder};
use trackbed_protocols::{
    ClientConfig, Connection, PathControl, ServerConfig, ServerHandle, TransportParameters, body,
};
use trackbed_substrate::{Multipath, PathWish, TcpOptions, TcpPath, now, sleep, sleep_until};

use crate::support::{
    PacketDigest, Track, digest, get, noise, ping, post, protocol, server_address, service,
    simulate_on,
};

/// The client's addresses, one on each path.
const ENDS: [IpAddr; 2] = [
    IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)),
    IpAddr::V4(std::net::Ipv4Addr::new(10, 1, 0, 1)),
];

/// A link as an operator's cell has it.
fn cell(mbps: u64, one_way: Duration) -> LinkSpec {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(250_000));
    LinkSpec::simple(Bitrate::from_mbps(mbps), queue, one_way)
}

/// Two ways from the client, which meet in front of the server.
fn fork(ways: [&LinkSpec; 2], seed: &Seed) -> Network {
    let mut builder = NetworkBuilder::new();
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

/// What either end is told of paths.
fn transport(scheduler: &str, addresses: Vec<IpAddr>, proactive: bool) -> TransportParameters {
    let multipath =
        Multipath { addresses, scheduler: scheduler.to_owned(), proactive, ..Multipath::default() };
    let tcp = TcpOptions { multipath: Some(multipath), ..TcpOptions::default() };
    TransportParameters { tcp, ..TransportParameters::default() }
}

/// A connection whose client opens a second path, and who has a say about the paths at either end.
struct Joined {
    _server: ServerHandle,
    connection: Rc<dyn Connection>,
    client_paths: PathControl,
    server_paths: PathControl,
}

async fn join(track: &Track, scheduler: &str) -> Joined {
    join_to(track, scheduler, "mpquic").await
}

/// The same to a server of the protocol `served`.
async fn join_to(track: &Track, scheduler: &str, served: &str) -> Joined {
    let (client_paths, server_paths) = (PathControl::default(), PathControl::default());
    let config = ServerConfig {
        transport: transport(scheduler, Vec::new(), true),
        paths: server_paths.clone(),
        ..ServerConfig::default()
    };
    let server = track.serve_with(protocol(served), &config, Rc::new(service));
    let config = ClientConfig {
        transport: transport(scheduler, vec![ENDS[1]], false),
        paths: client_paths.clone(),
        ..ClientConfig::default()
    };
    let dialer = track.dialer(protocol("mpquic"), &server, config);
    let connection = dialer.connect(server_address()).await.unwrap();
    Joined { _server: server, connection, client_paths, server_paths }
}

/// Runs `main` over two ways.
fn over<T: Send, F: Future<Output = T>>(
    ways: [&LinkSpec; 2],
    run: u64,
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    let seed = Seed::of_run(1, run);
    simulate_on(fork(ways, &seed), seed, main)
}

/// What has arrived when, of a download that goes on until `end`.
async fn download(connection: &dyn Connection, end: Time) -> Vec<(Time, u64)> {
    let response = connection.exchange(get("/zeros?1000000000")).await.unwrap();
    let (mut body, mut all, mut arrived) = (response.body, Vec::new(), 0);
    while now() < end {
        arrived += body.next().await.unwrap().unwrap().len() as u64;
        all.push((now(), arrived));
    }
    all
}

fn at(arrivals: &[(Time, u64)], time: Time) -> u64 {
    arrivals.iter().take_while(|(at, _)| *at <= time).last().map_or(0, |(_, bytes)| *bytes)
}

fn mbps(arrivals: &[(Time, u64)], from: Time, until: Time) -> f64 {
    (at(arrivals, until) - at(arrivals, from)) as f64 * 8.0 / (until - from).as_secs_f64() / 1e6
}

fn longest_gap(arrivals: &[(Time, u64)], from: Time, until: Time) -> Duration {
    let within = arrivals.iter().map(|(at, _)| *at).filter(|at| *at >= from && *at <= until);
    let times: Vec<Time> = within.collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
}

/// What the client has received so far on each path.
fn received(control: &PathControl) -> [u64; 2] {
    let of = |end| {
        let paths = control.paths();
        let mut on = paths.iter().filter(|path: &&TcpPath| path.local.ip() == end);
        on.next().map_or(0, |path| path.info.bytes_received)
    };
    ENDS.map(of)
}

const fn seconds(seconds: u64) -> Time {
    Time::from_millis(1_000 * seconds)
}

#[test]
fn two_clean_paths_are_pooled() {
    let way = cell(25, Duration::from_millis(20));
    for scheduler in ["minrtt", "roundrobin"] {
        let arrivals = over([&way, &way], 0, |track| async move {
            let joined = join(&track, scheduler).await;
            download(&*joined.connection, seconds(20)).await
        });
        let rate = mbps(&arrivals, seconds(2), seconds(20));
        eprintln!("{scheduler}: {rate} Mbit/s");
        // A packet of 1,452 bytes carries about 1,410 of a stream and crosses the link as 1,480.
        assert!(rate > 45.0 && rate < 50.0, "{scheduler}: {rate} Mbit/s of 50");
    }
}
