//! Hooks on UDP and TCP packets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use trackbed_test::{End, Link, TcpListener, TcpStream, Track, UdpSocket, elapsed, spawn};

/// What the server receives over TCP if the client sends `text`.
async fn over_tcp(client: End, server: End, text: &'static str) -> String {
    let listener = TcpListener::bind(&server, server.address(80)).unwrap();
    let sending = spawn(async move {
        let mut stream = TcpStream::connect(&client, server.address(80)).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        stream
    });
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).await.unwrap();
    drop(sending.await);
    received
}

#[test]
fn a_changed_tcp_payload_arrives_with_a_correct_checksum() {
    let mut track = Track::new(1);
    let (client, server) = track.link(Link::new());
    track.on_send(&client, |packet| {
        if packet.payload() == b"hello" {
            packet.set_payload(b"HELLO");
        }
    });
    assert_eq!(track.run(over_tcp(client, server, "hello")), "HELLO");
}

/// TCP repairs a lost SYN after its initial timeout of one second (RFC 6298).
#[test]
fn a_discarded_syn_is_sent_again_after_a_second() {
    let mut track = Track::new(1);
    let (client, server) = track.link(Link::new());
    track.on_send(&client, |packet| {
        if packet.number() == 1 {
            packet.discard();
        }
    });
    let (text, took) = track.run(async { (over_tcp(client, server, "hello").await, elapsed()) });
    assert_eq!((text.as_str(), took.as_secs()), ("hello", 1));
}

#[test]
fn a_tcp_payload_keeps_its_length() {
    let mut track = Track::new(1);
    let (client, server) = track.link(Link::new());
    track.on_send(&client, |packet| {
        if packet.payload() == b"hello" {
            packet.set_payload(b"longer");
        }
    });
    let failure = track.try_run(over_tcp(client, server, "hello")).unwrap_err().to_string();
    assert!(
        failure.contains("only a UDP payload can change its length; give 5 bytes"),
        "{failure}"
    );
}

#[test]
fn hooks_see_what_their_end_sends_in_both_ip_versions() {
    let mut track = Track::new(1);
    let (a, b) = track.link(Link::new());
    let (of_a, of_b) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
    let (seen, counted) = (Arc::clone(&of_a), Arc::clone(&of_b));
    track.on_send(&a, move |packet| seen.lock().unwrap().push(packet.payload().to_vec()));
    track.on_send(&a, |packet| packet.set_payload(b"a longer one"));
    track.on_send(&b, move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let received = track.run(async {
        let receiver = UdpSocket::bind(&b, "[::]:9".parse().unwrap()).unwrap();
        let sender = UdpSocket::bind(&a, (a.ipv6(), 0).into()).unwrap();
        sender.send_to(b"short", (b.ipv6(), 9).into()).await.unwrap();
        let mut buffer = [0; 100];
        let (length, from) = receiver.recv_from(&mut buffer).await.unwrap();
        assert_eq!(from, sender.local_addr());
        buffer[..length].to_vec()
    });
    assert_eq!(received, b"a longer one");
    assert_eq!(*of_a.lock().unwrap(), [b"short"]);
    assert_eq!(of_b.load(Ordering::Relaxed), 0);
}

/// The sockets that the failed run drops send again, and the hook would panic twice.
#[test]
fn a_panic_in_a_hook_fails_the_run() {
    let mut track = Track::new(1);
    let (client, server) = track.link(Link::new());
    track.on_send(&client, |packet| assert!(packet.number() < 3, "the third packet"));
    let failure = track.try_run(over_tcp(client, server, "hello")).unwrap_err().to_string();
    assert!(failure.contains("the third packet"), "{failure}");
}
