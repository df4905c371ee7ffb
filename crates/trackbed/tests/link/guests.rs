//! Programs behind a link that connect to the servers in `outward`, whose address they are given.

use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_linger, tcp_congestion};

use crate::roles::{now, unspecified};

/// Sends that many bytes, ends, reads the answer, and prints the time to connect; returns the digest of the answer.
pub fn exchange(address: SocketAddr, bytes: usize) -> io::Result<u64> {
    let begun = now();
    let mut stream = TcpStream::connect(address)?;
    println!("connected {}", begun.elapsed().as_micros());
    stream.write_all(&pattern(1, bytes))?;
    stream.shutdown(Shutdown::Write)?;
    digest(&mut stream)
}

/// That many connections at once, each with different bytes that must be returned.
pub fn many(address: SocketAddr, count: u64) {
    let one = move |seed| {
        let mut stream = TcpStream::connect(address).unwrap();
        let sent = pattern(seed, 100_000);
        let mut writer = stream.try_clone().unwrap();
        let copy = sent.clone();
        let writing = thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        writing.join().unwrap();
        assert!(received == sent, "connection {seed} got other bytes than it sent");
    };
    let all: Vec<_> = (0..count).map(|seed| thread::spawn(move || one(seed))).collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    println!("all came back");
}

pub fn connect(address: SocketAddr) {
    let ended = TcpStream::connect(address).and_then(|mut stream| {
        println!("over {}", tcp_congestion(&stream)?);
        stream.read(&mut [0; 10])
    });
    println!("{:?}", ended.map_err(|why| why.kind()));
}

/// Sends a byte, waits for one, and resets the connection.
pub fn abort(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0; 1]).unwrap();
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

/// Datagrams of many sizes must be returned unchanged and in order.
pub fn datagrams(address: SocketAddr) -> String {
    let socket = UdpSocket::bind((unspecified(address.ip()), 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.connect(address).unwrap();
    let sizes = [1, 0, 1_200, 1_200, 1_200, 7, 1_452, 1_453, 5_000, 20_000];
    for (seed, size) in sizes.into_iter().enumerate() {
        // What became of an earlier datagram may be told here.
        if let Err(why) = socket.send(&pattern(seed as u64, size)) {
            return format!("{:?}", why.kind());
        }
    }
    for (seed, size) in sizes.into_iter().enumerate() {
        let mut buffer = vec![0; 65_536];
        match socket.recv(&mut buffer) {
            Ok(length) => assert!(buffer[..length] == pattern(seed as u64, size), "{size} bytes"),
            Err(why) => return format!("{:?}", why.kind()),
        }
    }
    "all came back".to_owned()
}

/// Sends a datagram, and that many bytes on a connection, and waits for nothing.
pub fn leave(address: SocketAddr, bytes: usize) {
    let socket = UdpSocket::bind((unspecified(address.ip()), 0)).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&pattern(1, bytes)).unwrap();
    socket.send_to(b"bye", address).unwrap();
}

/// Bytes that no program sends by accident.
pub fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        // xorshift64*.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

pub fn digest(stream: &mut impl Read) -> io::Result<u64> {
    let (mut hasher, mut buffer) = (DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            count => buffer[..count].iter().for_each(|byte| hasher.write_u8(*byte)),
        }
    }
}
