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

use lab::{Lab, Setting};
use trackbed_emulator::DeviceKind;
use trackbed_emulator::namespace;

#[path = "../tests/emulator/lab.rs"]
mod lab;

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
            throughput(flows, lab());
        }
    }
    let both = |title: &str, lab: &dyn Fn() -> Lab| {
        println!("{title}:");
        [1, 4].into_iter().for_each(|flows| throughput(flows, lab()));
    };
    if wanted("wide") {
        both("64 MB of buffers", &|| wide(lab()));
    }
    for (name, device) in [("super", DeviceKind::Veth), ("tun", DeviceKind::Tun)] {
        if wanted(name) {
            let title = format!("{device:?}, super-packets");
            both(&title, &|| wide(lab_with([true; 2], device)));
        }
    }
    if wanted("tun") {
        both("TUN, single packets", &|| lab_with([false; 2], DeviceKind::Tun));
    }
}

/// What a link adds to the 20 ms of a round trip, and what a bare relay adds at the same time: the
/// latter share is the machine's.
fn added_delay(count: u32) {
    let lab = lab();
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
    let certificate = lab.end().certificate;
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
    let lab = lab();
    thread::sleep(Duration::from_secs(2));
    let certificate = lab.end().certificate;
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
    let certificate = lab.end().certificate;
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
fn lab() -> Lab {
    lab_with([false; 2], DeviceKind::Veth)
}

fn lab_with([from_near, from_far]: [bool; 2], device: DeviceKind) -> Lab {
    let setting = Setting::new(device, from_near, from_far);
    Lab::new(Setting { delay: DELAY, records: false, ..setting })
}

/// By default a sender may buffer 4 MB, which is about 1.2 Gbit/s over 20 ms. Here it is 64 MB.
fn wide(lab: Lab) -> Lab {
    let widen = |name| namespace::set_sysctl(name, "4096 131072 67108864").unwrap();
    for host in [&lab.near, &lab.far] {
        host.run(|| ["ipv4/tcp_wmem", "ipv4/tcp_rmem"].map(widen)).unwrap();
    }
    lab
}

const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PORT: u16 = 7;
const DELAY: Duration = Duration::from_millis(10);
const AWAKE: Duration = Duration::from_micros(200);
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(4);
