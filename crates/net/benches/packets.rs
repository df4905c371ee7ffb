//! How many packets a second pass through links and a network, in real time: one line each, the
//! best of several rounds, since what else the machine does can only slow a round down.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use trackbed_core::packet::{Ecn, UdpDatagram};
use trackbed_core::{Bitrate, Packet, Ratio, Seed, Time};
use trackbed_net::models::delay::{Delay, Uniform};
use trackbed_net::models::{Loss, Rate};
use trackbed_net::queue::{Codel, DropTail};
use trackbed_net::{DropReason, Duplex, End, LinkSpec, Network, NetworkBuilder, NodeId, Outlet};

fn main() {
    let rate = Bitrate::from_mbps(100);
    let queue = DropTail::of_packets(100);
    let delay = Duration::from_millis(10);
    let simple = LinkSpec::simple(rate, queue, delay);
    link("rate, drop-tail, delay", &simple);
    let loss = Loss::bernoulli(Ratio::from_parts(1, 100));
    link("rate, drop-tail, loss, delay", &simple.clone().with(loss));
    let codel = LinkSpec::new().then(Rate::new(rate, Codel::default())).then(Delay::fixed(delay));
    link("rate, CoDel, delay", &codel);
    let jitter = Uniform::new(delay, delay * 2).expect("ordered bounds");
    let jitter = Delay::new(jitter).with_overtaking();
    link("rate, drop-tail, jitter", &LinkSpec::new().then(Rate::new(rate, queue)).then(jitter));
    network("network of one such link", 1, &simple);
    network("10,000 hosts behind a router", 10_000, &simple);
}

const PACKETS: u32 = 20_000;
const ROUNDS: u32 = 150;
const GAP: Duration = Duration::from_micros(121);

fn link(name: &str, spec: &LinkSpec) {
    let mut link = spec.build(&Seed::of_run(1, 0));
    let packet = packet(host_address(0), SERVER);
    let (mut now, mut out) = (Time::ZERO, Counter(0));
    best_round(name, || {
        for _ in 0..PACKETS {
            now += GAP;
            while let Some(at) = link.next_wake().filter(|at| *at <= now) {
                link.advance(at, &mut out);
            }
            link.push(now, packet.clone(), &mut out);
        }
    });
    assert!(out.0 > 0, "packets pass");
}

struct Counter(u64);

impl Outlet for Counter {
    fn deliver(&mut self, _at: Time, _packet: Packet) {
        self.0 += 1;
    }

    fn drop(&mut self, _at: Time, _packet: Packet, _why: DropReason) {}
}

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn network(name: &str, hosts: u32, spec: &LinkSpec) {
    let begin = Instant::now();
    let (mut network, hosts) = star(hosts, spec);
    if hosts.len() > 1 {
        println!("{:<36}{:>12.1} ms to build", name, begin.elapsed().as_secs_f64() * 1e3);
    }
    let packets: Vec<Packet> =
        (0..hosts.len() as u32).map(|host| packet(host_address(host), SERVER)).collect();
    let (mut now, mut delivered) = (Time::ZERO, 0);
    best_round(name, || {
        for index in 0..PACKETS as usize {
            now += GAP;
            while let Some(at) = network.next_wake().filter(|at| *at <= now) {
                network.advance(at);
                while network.poll_delivery().is_some() {
                    delivered += 1;
                }
            }
            let host = index % hosts.len();
            network.send(now, hosts[host], packets[host].clone());
        }
    });
    assert!(delivered > 0, "packets pass");
}

/// The server is the router's neighbour if there is more than one host, else the host's own.
fn star(count: u32, spec: &LinkSpec) -> (Network, Vec<NodeId>) {
    let mut builder = NetworkBuilder::new();
    let seed = Seed::of_run(1, 0);
    let server = builder.host("server");
    let mut middle = server;
    if count > 1 {
        middle = builder.router("router");
        let link = Duplex::new(spec, spec, &seed.child("server"));
        builder.connect(End::new(middle, []), End::new(server, [SERVER]), link);
    }
    let hosts = (0..count).map(|number| {
        let host = builder.host(format!("host {number}"));
        let link = Duplex::new(spec, spec, &seed.child(&number.to_string()));
        let addresses = (count == 1).then_some(SERVER);
        builder.connect(End::new(host, [host_address(number)]), End::new(middle, addresses), link);
        host
    });
    let hosts = hosts.collect();
    (builder.build().expect("a star is a network"), hosts)
}

fn host_address(number: u32) -> IpAddr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)) + number).into()
}

fn packet(from: IpAddr, to: IpAddr) -> Packet {
    let (from, to) = (SocketAddr::new(from, 1), SocketAddr::new(to, 2));
    UdpDatagram::emit(from, to, Ecn::NotCapable, &[0; 1472])
}

fn best_round(name: &str, mut round: impl FnMut()) {
    let elapsed = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        round();
        begin.elapsed()
    });
    let nanos = elapsed.min().unwrap_or_default().as_nanos() as f64 / f64::from(PACKETS);
    println!("{name:<36}{nanos:>8.0} ns a packet{:>8.2} M packets/s", 1e3 / nanos);
}
