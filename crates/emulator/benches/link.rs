//! How exact and how fast an emulated link is, and what it costs.
//!
//! `cargo bench -p trackbed-emulator` prints a line for each measurement; arguments select some of
//! them by name: `delay`, `idle`, `one`, `four`, `wide`, `super`, `tun`. Delays are
//! meaningful only on a quiet machine; the certificate beside them shows whether it was.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use trackbed_core::Seed;
use trackbed_emulator::namespace::{self, Interface, NetNamespace};
use trackbed_emulator::{
    Attachment, Backstage, Certificate, Clock, DeviceKind, Edges, Emulator, Finished, PortOptions,
    Remote, SuperPackets,
};
use trackbed_net::models::Delay;
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if let Err(why) = namespace::acquire() {
        return println!("not measured: {why}");
    }
    if wanted("delay") {
        added_delay(1_000);
    }
    if wanted("idle") {
        idle();
    }
    for (name, flows) in [("one", 1), ("four", 4)] {
        if wanted(name) {
            throughput(flows, Lab::new());
        }
    }
    let both = |title: &str, lab: &dyn Fn() -> Lab| {
        println!("{title}:");
        [1, 4].into_iter().for_each(|flows| throughput(flows, lab()));
    };
    if wanted("wide") {
        both("64 MB of buffers", &|| Lab::new().wide());
    }
    let supers = SuperPackets { from_host: true, to_host: true };
    for (name, device) in [("super", DeviceKind::Veth), ("tun", DeviceKind::Tun)] {
        if wanted(name) {
            let title = format!("{device:?}, super-packets");
            both(&title, &|| Lab::with(supers, device).wide());
        }
    }
    if wanted("tun") {
        both("TUN, single packets", &|| Lab::with(SuperPackets::default(), DeviceKind::Tun));
    }
}

/// What a link adds to the 20 ms of a round trip, and what a bare relay adds at the same time: the
/// latter share is the machine's.
fn added_delay(count: u32) {
    let lab = Lab::new();
    let server = lab.far.run(|| UdpSocket::bind((FAR, PORT)).unwrap()).unwrap();
    let client = lab.near.run(|| UdpSocket::bind((NEAR, 0)).unwrap()).unwrap();
    let loopback = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (bare_server, bare_client) = (loopback(), loopback());
    let bare_address = bare_server.local_addr().unwrap();
    let echo = thread::spawn(move || answer(&server, || {}));
    let relay = thread::spawn(move || answer(&bare_server, || until(Instant::now() + DELAY * 2)));
    let (mut link, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..count {
        link.push(added(&client, (FAR, PORT).into()));
        bare.push(added(&bare_client, bare_address));
    }
    client.send_to(b"", (FAR, PORT)).unwrap();
    bare_client.send_to(b"", bare_address).unwrap();
    [echo, relay].into_iter().for_each(|thread| thread.join().unwrap());
    let certificate = lab.stop();
    for (name, added) in [("a link", &mut link), ("a bare relay", &mut bare)] {
        added.sort_by(f64::total_cmp);
        let at = |q: f64| added[((added.len() - 1) as f64 * q) as usize];
        let (median, p99) = (at(0.5), at(0.99));
        println!("added to 20 ms by {name}: median {median:.3} ms, p99 {p99:.3} ms");
    }
    println!("  {certificate}");
}

/// Answers everything on `server`, after `waiting`, until an empty datagram arrives.
fn answer(server: &UdpSocket, waiting: impl Fn()) {
    let mut buffer = [0; 2_000];
    while let Ok((length @ 1.., from)) = server.recv_from(&mut buffer) {
        waiting();
        server.send_to(&buffer[..length], from).unwrap();
    }
}

/// Waits as exactly as a thread can: asleep, then spinning at the end.
fn until(due: Instant) {
    thread::sleep(due.saturating_duration_since(Instant::now()).saturating_sub(AWAKE));
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

/// What a round trip takes beyond the delays, in milliseconds.
fn added(client: &UdpSocket, server: SocketAddr) -> f64 {
    let begun = Instant::now();
    client.send_to(b"hello", server).unwrap();
    client.recv(&mut [0; 100]).unwrap();
    (begun.elapsed() - DELAY * 2).as_secs_f64() * 1e3
}

/// Processor time while nothing happens.
fn idle() {
    let lab = Lab::new();
    thread::sleep(Duration::from_secs(2));
    let certificate = lab.stop();
    let share = certificate.processor.as_secs_f64() / certificate.elapsed.as_secs_f64();
    println!("idle: {:.3} % of a core", share * 100.0);
}

/// TCP flows through 10 ms each way, without a rate or losses.
fn throughput(flows: usize, lab: Lab) {
    let listener = lab.far.run(|| TcpListener::bind((FAR, PORT)).unwrap()).unwrap();
    let senders: Vec<JoinHandle<()>> = (0..flows)
        .map(|_| {
            let stream = lab.near.run(|| TcpStream::connect((FAR, PORT)).unwrap()).unwrap();
            thread::spawn(move || send(stream))
        })
        .collect();
    let receivers: Vec<JoinHandle<u64>> = (0..flows)
        .map(|_| {
            let (stream, _) = listener.accept().unwrap();
            thread::spawn(move || receive(stream))
        })
        .collect();
    let bytes: u64 = receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum();
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    let certificate = lab.stop();
    println!(
        "{flows} TCP flow(s): {:.2} Gbit/s, {:.2} us of processor time a packet",
        bytes as f64 * 8.0 / MEASURED.as_secs_f64() / 1e9,
        certificate.processor.as_secs_f64() * 1e6 / certificate.packets() as f64,
    );
    println!("  {certificate}");
}

fn send(mut stream: TcpStream) {
    let begun = Instant::now();
    let data = vec![0; 1 << 18];
    while begun.elapsed() < WARM_UP + MEASURED + Duration::from_millis(500) {
        if stream.write_all(&data).is_err() {
            return;
        }
    }
}

/// The bytes that arrive in the measured time.
fn receive(mut stream: TcpStream) -> u64 {
    let begun = Instant::now();
    let (mut buffer, mut bytes) = (vec![0; 1 << 18], 0);
    while begun.elapsed() < WARM_UP + MEASURED {
        let got = stream.read(&mut buffer).unwrap() as u64;
        if begun.elapsed() >= WARM_UP {
            bytes += got;
        }
    }
    bytes
}

/// Two machines and the link between them.
struct Lab {
    near: NetNamespace,
    far: NetNamespace,
    remote: Remote,
    emulation: JoinHandle<Finished>,
}

impl Lab {
    fn new() -> Lab {
        Lab::with(SuperPackets::default(), DeviceKind::Veth)
    }

    fn with(supers: SuperPackets, device: DeviceKind) -> Lab {
        let (near, far) = (NetNamespace::new().unwrap(), NetNamespace::new().unwrap());
        let mut backstage = Backstage::new().unwrap();
        let mut builder = NetworkBuilder::new();
        let mut ports = Vec::new();
        for (name, host, address) in [("near", &near, NEAR), ("far", &far, FAR)] {
            let options = PortOptions { supers, device, ..PortOptions::new("link", 1_500) };
            let port = backstage.attach_with(host, &options).unwrap();
            host.run(|| Interface::named("link")?.add_address((address, 24))).unwrap().unwrap();
            ports.push((builder.edge(name), port));
        }
        let spec = LinkSpec::new().then(Delay::fixed(DELAY));
        let link = Duplex::new(&spec, &spec, &Seed::of_run(1, 0));
        builder.connect(End::new(ports[0].0, []), End::new(ports[1].0, []), link);
        let network = builder.build().unwrap();
        let attach = |(node, port)| Attachment { port, edges: Edges::One(node) };
        let ports = ports.into_iter().map(attach).collect();
        let (emulator, remote) = Emulator::new(network, ports, Clock::start()).unwrap();
        let emulation = thread::spawn(|| emulator.run().unwrap());
        Lab { near, far, remote, emulation }
    }

    /// By default a sender may buffer 4 MB, which is about 1.2 Gbit/s over 20 ms. Here it is 64 MB.
    fn wide(self) -> Lab {
        let widen = |name| namespace::set_sysctl(name, "4096 131072 67108864").unwrap();
        for host in [&self.near, &self.far] {
            host.run(|| ["ipv4/tcp_wmem", "ipv4/tcp_rmem"].map(widen)).unwrap();
        }
        self
    }

    fn stop(self) -> Certificate {
        self.remote.stop();
        self.emulation.join().unwrap().certificate
    }
}

const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PORT: u16 = 7;
const DELAY: Duration = Duration::from_millis(10);
const AWAKE: Duration = Duration::from_micros(200);
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(4);
