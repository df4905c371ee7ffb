//! `trackbed relay` and malicious clients, on loopback.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket, socket_with,
};
use trackbed_linux::allow_descriptors;
use trackbed_linux::processes::resident_max;

use super::support::{Kept, ask_socks, listening, socks_request, wait_until};
use super::*;

/// A relay with a SOCKS5 front.
struct Relay {
    _scratch: Scratch,
    process: Kept,
    front: SocketAddr,
}

impl Relay {
    fn start(more: &str) -> Relay {
        let scratch = Scratch::new();
        let words = format!("relay --socks 127.0.0.1:0 --log json {more}");
        let (process, front) = listening(scratch.command(&words));
        Relay { _scratch: scratch, process, front: front.parse().unwrap() }
    }

    /// A client at `source` requests `to`. Returns its stream, and the code of the answer (RFC 1928 section 6).
    fn ask(&self, source: &str, to: SocketAddr) -> (TcpStream, u8) {
        let own = SocketAddr::new(source.parse::<IpAddr>().unwrap(), 0);
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &own).unwrap();
        connect(&socket, &self.front).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let SocketAddr::V4(to) = to else { panic!("IPv4") };
        let code = ask_socks(&stream, to);
        (stream, code)
    }
}

#[test]
fn the_relays_own_addresses_and_metadata_are_out_of_reach_unless_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap();
    let relay = Relay::start("--connect-timeout 2s");
    for to in [own, "169.254.169.254:80".parse().unwrap(), "0.0.0.0:80".parse().unwrap()] {
        assert_eq!(relay.ask("127.0.0.1", to).1, NOT_ALLOWED, "{to}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing came through");
    listener.set_nonblocking(false).unwrap();
    let relay = Relay::start("--allow 127.0.0.1");
    assert_eq!(relay.ask("127.0.0.1", own).1, 0);
    listener.accept().unwrap();
}

/// A server that sends back what it is sent, until the test ends.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let _server = thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    place
}

/// A client that holds every place loses the places that others need, and no other client does.
#[test]
fn one_client_cannot_hold_all_places() {
    let echo = echo();
    let relay = Relay::start("--allow 127.0.0.1 --connections 20");
    let hold = |count: usize| -> Vec<TcpStream> {
        (0..count).map(|_| relay.ask("127.0.0.1", echo).0).collect()
    };
    let held = hold(20);
    let (mut honest, said) = relay.ask("127.0.0.2", echo);
    assert_eq!(said, 0);
    // The flood continues.
    let more = hold(40);
    comes_back(&mut honest);
    // The first connections of the flood are closed.
    let is_reset = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        let ended = stream.read(&mut [0]).map_err(|why| why.kind());
        assert_ne!(ended, Ok(0), "what is broken off does not look as if it were complete");
        ended == Err(std::io::ErrorKind::ConnectionReset)
    };
    wait_until("those that were silent for longest go", || is_reset(&held[0]));
    drop((held, more));
}

/// A listener on an address of the loopback network that completes no handshake: its queue is full, and what
/// comes then is dropped (listen(2)).
fn unanswering(address: &str) -> (OwnedFd, Vec<OwnedFd>, SocketAddr) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
    listen(&listener, 0).unwrap();
    let place = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
    let fill = |_| {
        let flags = SocketFlags::NONBLOCK;
        let filler = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        let _in_progress = connect(&filler, &place);
        filler
    };
    let filling = (0..4).map(fill).collect();
    (listener, filling, place)
}

/// Clients that send nothing, that stop in the middle of their request, and that request a destination that
/// does not answer or a name that is not found: `count` of each, from one address. Another address is served meanwhile.
fn half_open(count: usize) {
    allow_descriptors();
    let echo = echo();
    let (_listener, _filling, silent) = unanswering("127.0.0.9");
    let relay = Relay::start("--allow 127.0.0.1 --allow 127.0.0.9 --connect-timeout 60s");
    let mut held = Vec::new();
    for number in 0..4 * count {
        let mut stream = TcpStream::connect(relay.front).unwrap();
        let SocketAddr::V4(to) = silent else { panic!("IPv4") };
        let whole = socks_request(to);
        let said: &[u8] = match number % 4 {
            0 => b"",
            1 => &whole[..7],
            2 => b"\x05\x01\x00\x05\x01\x00\x03\x09a.invalid\x00\x50",
            _ => &whole,
        };
        // It may have been thrown out already.
        let _gone = stream.write_all(said);
        held.push(stream);
        if number % 1_000 == 0 {
            exchanges(&relay, echo);
        }
    }
    for _ in 0..20 {
        exchanges(&relay, echo);
    }
    let process = relay.process.0.id();
    let resident = resident_max(process).unwrap();
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().count();
    println!("{} half-open connections, {resident} bytes, {threads} threads", held.len());
    assert!(threads < 32, "{threads} threads");
    assert!(resident < 200_000_000, "{resident} bytes");
    drop(held);
    exchanges(&relay, echo);
}

/// A client from elsewhere gets through.
fn exchanges(relay: &Relay, echo: SocketAddr) {
    let (mut honest, said) = relay.ask("127.0.0.2", echo);
    assert_eq!(said, 0);
    comes_back(&mut honest);
}

fn comes_back(stream: &mut TcpStream) {
    stream.write_all(b"x").unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    assert_eq!(byte, *b"x");
}

#[test]
fn three_thousand_half_open_connections_displace_themselves() {
    half_open(750);
}

#[test]
#[ignore = "thorough: real time"]
fn fifteen_thousand_half_open_connections_displace_themselves() {
    half_open(3_750);
}

/// RFC 1928 section 6: connection not allowed by ruleset.
const NOT_ALLOWED: u8 = 2;
