//! Programs that run inside of namespaces: this test binary, called again with a role.

use std::env;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::{PLAYER, guests, names, outward};

/// A shell command that runs `role`.
pub fn play(role: &str) -> String {
    let player = PLAYER.display();
    format!("env TRACKBED_ROLE='{role}' {player} --exact roles::a_role_is_played --nocapture")
}

/// Not a separate test: the role that other tests run inside a namespace.
#[test]
fn a_role_is_played() {
    let Ok(role) = env::var("TRACKBED_ROLE") else { return };
    let words: Vec<&str> = role.split(' ').collect();
    match words[..] {
        ["echo", address] => echo(SocketAddr::new(address.parse().unwrap(), PORT)),
        ["return", address] => echo(address.parse().unwrap()),
        ["count", address, idle_ms] => count(address.parse().unwrap(), idle_ms.parse().unwrap()),
        ["ping", address, count] => ping(address.parse().unwrap(), count.parse().unwrap()),
        ["flood", address, count, bytes] => {
            flood(address.parse().unwrap(), count.parse().unwrap(), bytes.parse().unwrap());
        }
        ["names", address] => names::serve(address.parse().unwrap()),
        ["lookup", name] => names::look_up(name),
        ["exchange", address, bytes] => {
            let answer = guests::exchange(address.parse().unwrap(), bytes.parse().unwrap());
            println!("digest {:x}", answer.unwrap());
        }
        ["answer", address] => {
            let (listener, _) = outward::tcp(address.parse().unwrap()).unwrap();
            println!("received {:x}", outward::answer(&listener));
        }
        ["many", address, count] => {
            guests::many(address.parse().unwrap(), count.parse().unwrap());
        }
        ["connect", address] => guests::connect(address.parse().unwrap()),
        ["abort", address] => guests::abort(address.parse().unwrap()),
        ["datagrams", address] => println!("{}", guests::datagrams(address.parse().unwrap())),
        ["leave", address, bytes] => {
            guests::leave(address.parse().unwrap(), bytes.parse().unwrap());
        }
        _ => panic!("there is no role \"{role}\""),
    }
}

fn echo(address: SocketAddr) {
    let socket = UdpSocket::bind(address).unwrap();
    let mut buffer = [0; 65_536];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to(&buffer[..length], from).unwrap();
    }
}

/// Counts datagrams until none has come for a while, and prints `count MICROSECONDS` from the
/// first to the last.
fn count(address: IpAddr, idle_ms: u64) {
    let socket = UdpSocket::bind(SocketAddr::new(address, PORT)).unwrap();
    let (mut count, mut buffer) = (0, [0; 2_000]);
    let (mut first, mut last) = (None, None);
    while socket.recv(&mut buffer).is_ok() {
        count += 1;
        last = Some(now());
        first = first.or(last);
        socket.set_read_timeout(Some(Duration::from_millis(idle_ms))).unwrap();
    }
    let span = last.zip(first).map_or(0, |(last, first)| (last - first).as_micros());
    println!("counted {count} {span}");
}

/// Prints `rtt MICROSECONDS` for each of `count` datagrams that came back.
fn ping(address: IpAddr, count: u32) {
    let socket = UdpSocket::bind((unspecified(address), 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut answered = 0;
    // The other side may not have started yet.
    while answered < count {
        let begun = now();
        socket.send_to(b"hello", SocketAddr::new(address, PORT)).unwrap();
        if socket.recv(&mut [0; 100]).is_ok() {
            println!("rtt {}", begun.elapsed().as_micros());
            answered += 1;
        }
    }
}

/// Sends datagrams as fast as the kernel accepts them, and waits until they have arrived, because a link ends with
/// its command.
fn flood(address: IpAddr, count: u32, bytes: usize) {
    let socket = UdpSocket::bind((unspecified(address), 0)).unwrap();
    for _ in 0..count {
        socket.send_to(&vec![0; bytes], SocketAddr::new(address, PORT)).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "the link runs in real time")]
    std::thread::sleep(Duration::from_secs(2));
}

/// The address that stands for all of the same family.
pub fn unspecified(like: IpAddr) -> IpAddr {
    let (v4, v6) = ("0.0.0.0", "::");
    if like.is_ipv4() { v4 } else { v6 }.parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "these programs measure real time")]
pub fn now() -> Instant {
    Instant::now()
}

const PORT: u16 = 7_000;
