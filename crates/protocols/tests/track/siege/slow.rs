//! Clients that stop in the middle of a handshake, a head, a body or a packet, or go on byte by byte.

use super::ground::{ENDLESS, LIMITS, SERVER, Witness, ask, for_each_protocol};
use super::memory::held;
use super::relay::{Manner, Then, attacker};
use crate::support::*;

/// Where they stop: everywhere in a handshake and what follows it, in bytes over TCP, in datagrams
/// otherwise.
const BYTES: [usize; 20] = [
    0, 1, 4, 5, 6, 50, 150, 230, 260, 300, 330, 360, 400, 450, 500, 700, 1_000, 2_000, 3_000, 3_300,
];
const DATAGRAMS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

#[test]
fn slow_clients_block_no_others() {
    for_each_protocol(|ground| async move {
        let witness = Witness::new(&ground).await;
        let cuts: &[usize] = if ground.is_over_tcp() { &BYTES } else { &DATAGRAMS };
        let mut attackers = Vec::new();
        let mut port = 10_000;
        for then in [Then::Silence, Then::Drip] {
            for &whole in cuts {
                attackers.push(attacker(&ground, port, Manner { whole, then }));
                port += 1;
            }
        }
        witness.check("while they come").await;
        sleep(Duration::from_secs(2)).await;
        witness.check("while they are there").await;
        // Otherwise this is no siege.
        let present = ground.server.connections();
        assert!(present > attackers.len() / 3, "{}: {present}", ground.protocol.name());
        witness.check_memory("while they are there", 512_000 * attackers.len() as isize);
        let before = held();
        for _ in 0..6 {
            sleep(LIMITS.opening / 2).await;
            witness.check("as they go on").await;
        }
        let more = held() - before;
        let name = ground.protocol.name();
        assert!(more < 200_000, "{name}: a minute of it costs {more} bytes");
        drop(attackers);
        sleep(Duration::from_secs(5)).await;
        witness.check("afterwards").await;
    });
}

/// Over TCP, clients with an unfinished request are disconnected in time; clients that sent nothing
/// inside, and clients that got a response, may stay.
#[test]
fn who_begins_and_does_not_go_on_is_sent_away() {
    for_each_protocol(|ground| async move {
        if !ground.is_over_tcp() {
            return;
        }
        let witness = Witness::new(&ground).await;
        let is_bare = ground.server.trust().is_none();
        // In the middle of a ClientHello (RFC 8446 section 4.1.2), or before a request path that
        // takes 21 s to arrive.
        let whole = if is_bare { 1 } else { 100 };
        let attackers: Vec<_> = (10_000..10_010)
            .map(|port| attacker(&ground, port, Manner { whole, then: Then::Drip }))
            .collect();
        sleep(Duration::from_secs(5)).await;
        assert_eq!(ground.server.connections(), 11, "{}", ground.protocol.name());
        sleep(LIMITS.opening).await;
        assert_eq!(ground.server.connections(), 1, "{}", ground.protocol.name());
        witness.check("when they are gone").await;
        drop(attackers);
    });
}

/// Ten thousand phones are ten thousand of these. 47 kB of each are a buffer for received packets, most of which is
/// never touched and so takes no memory.
#[test]
fn an_idle_connection_over_quic_holds_little() {
    for_each_protocol(|ground| async move {
        let (dialer, mut idle, mut memory) = (ground.dialer(&ground.client), vec![], vec![]);
        for _ in 0..41 {
            idle.push(dialer.connect(SERVER).await.unwrap());
            ask(&**idle.last().unwrap(), 100).await.unwrap();
            sleep(Duration::from_millis(200)).await;
            memory.push(held());
        }
        let (name, each) = (ground.protocol.name(), (memory[40] - memory[0]) / 40);
        let most = match name {
            "quic" => 82_000,
            "mpquic" => 92_000,
            "http3" => 107_000,
            _ => isize::MAX,
        };
        assert!(each < most, "{name}: {each} bytes in both ends");
        // Nor is a body copied that waits for its turn: a window of 256 KiB.
        let _begun = idle[40].exchange(Request::new(ENDLESS, body::empty())).await.unwrap();
        let more = held() - memory[40];
        assert!(more < 200_000 || most == isize::MAX, "{name}: {more} bytes of a body");
    });
}

/// Clients that begin downloads and do not read them, beside one that is served: each holds little, in both ends
/// and in the buffers of the simulated kernels. Over TCP they are disconnected in time, unless they read what
/// carries their windows (HTTP/2) or their messages (MQTT).
#[test]
fn who_does_not_read_holds_little() {
    for_each_protocol(|ground| async move {
        let (name, count) = (ground.protocol.name(), 20);
        let witness = Witness::new(&ground).await;
        let dialer = ground.dialer(&ground.attacker);
        let mut unread = Vec::new();
        for _ in 0..count {
            let connection = dialer.connect(SERVER).await.unwrap();
            let response = connection.exchange(Request::new(ENDLESS, body::empty())).await;
            unread.push((connection, response));
        }
        sleep(Duration::from_secs(10)).await;
        witness.check_memory("while they do not read", count * 2_000_000);
        assert!(ground.server.connections() > count as usize, "{name}");
        for _ in 0..4 {
            witness.check("while they do not read").await;
            sleep(LIMITS.opening / 2).await;
        }
        if ground.is_over_tcp() && !["http2", "mqtt"].contains(&name) {
            assert!(ground.server.connections() < 5, "{name}: {}", ground.server.connections());
        }
    });
}
