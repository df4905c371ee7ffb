//! `trackbed relay` and malicious clients, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serde_json::Value;

use super::Scratch;
use super::support::wait_until;

/// A relay with a SOCKS5 front.
struct Relay {
    _scratch: Scratch,
    process: Child,
    front: SocketAddr,
}

impl Relay {
    fn start(more: &str) -> Relay {
        let scratch = Scratch::new();
        let words = format!("relay --socks 127.0.0.1:0 --log json {more}");
        let mut process = scratch.command(&words).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let front = told["address"].as_str().unwrap().parse().unwrap();
        Relay { _scratch: scratch, process, front }
    }

    /// A client at `source` requests `to`. Returns its stream, and the code of the answer (RFC 1928 section 6).
    fn ask(&self, source: &str, to: SocketAddr) -> (TcpStream, u8) {
        let own = SocketAddr::new(source.parse::<IpAddr>().unwrap(), 0);
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &own).unwrap();
        connect(&socket, &self.front).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let SocketAddr::V4(to) = to else { panic!("IPv4") };
        let request =
            [b"\x05\x01\x00\x05\x01\x00\x01", &to.ip().octets()[..], &to.port().to_be_bytes()];
        stream.write_all(&request.concat()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        (stream, answer[3])
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
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

/// A client with all connections loses those that other clients need; the others lose none.
#[test]
fn one_client_cannot_hold_all_places() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let echo = listener.local_addr().unwrap();
    let _server = std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            held.push(stream.try_clone().unwrap());
            std::thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    let relay = Relay::start("--allow 127.0.0.1 --connections 20");
    let hold = |count: usize| -> Vec<TcpStream> {
        (0..count).map(|_| relay.ask("127.0.0.1", echo).0).collect()
    };
    let held = hold(20);
    let (mut honest, said) = relay.ask("127.0.0.2", echo);
    assert_eq!(said, 0);
    // The flood continues.
    let more = hold(40);
    honest.write_all(b"x").unwrap();
    let mut byte = [0];
    honest.read_exact(&mut byte).unwrap();
    assert_eq!(byte, *b"x");
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

/// RFC 1928 section 6: connection not allowed by ruleset.
const NOT_ALLOWED: u8 = 2;
