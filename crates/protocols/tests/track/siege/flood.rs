//! Floods: of connections without requests, and of first packets from addresses that never respond.

use trackbed_substrate::TcpStream;

use super::ground::{ATTACKERS, Ground, LIMITS, RTT, SERVER, Witness, for_each_protocol};
use super::memory::held;
use crate::support::*;

/// Six times what the server takes.
const CROWD: usize = 6 * LIMITS.connections;

#[test]
fn a_crowd_leaves_room_for_others() {
    for_each_protocol(|ground| async move {
        let witness = Witness::new(&ground).await;
        let mut before = witness.memory();
        let (mut streams, mut words) = (Vec::new(), Vec::new());
        if ground.is_over_tcp() {
            streams = connections(&ground).await;
        } else {
            words = first_words(&ground, CROWD).await;
            // The words themselves are not the server's.
            before = witness.memory();
            shout(&ground, &words, 0).await;
        }
        sleep(RTT).await;
        witness.check("in the middle of a crowd").await;
        let present = ground.server.connections();
        assert!(present <= LIMITS.connections, "{}: {present}", ground.protocol.name());
        let more = witness.memory() - before;
        eprintln!("  {present} present, {} kB more", more / 1_000);
        // A handshake's state for each that is present; of the others, the crowd's own ends of TCP.
        let own = if ground.is_over_tcp() { 20_000 * CROWD } else { 0 };
        let most = (150_000 * LIMITS.connections + own) as isize;
        assert!(more < most, "{}: {more} bytes", ground.protocol.name());
        for again in 1..4 {
            shout(&ground, &words, again).await;
            witness.check("as more of them come").await;
        }
        drop(streams);
        sleep(Duration::from_secs(20)).await;
        witness.check("when they have gone").await;
        sleep(Duration::from_secs(20)).await;
        witness.check("later").await;
    });
}

/// A cookie is good for the client that it was given to (RFC 9260 section 5.1.3).
#[test]
fn a_copied_cookie_makes_no_association() {
    for_each_protocol(|ground| async move {
        if ground.protocol.name() != "sctp" {
            return;
        }
        let bound = |port| ground.attacker.bind_udp(SocketAddr::new(ATTACKERS, port)).unwrap();
        let [front, back, other] = [NOWHERE.port(), 8, 9].map(bound);
        let _client = spawn(call(ground.dialer(&ground.dupe)));
        let (client, init) = hear(&*front).await;
        say(&*back, SERVER, &init).await;
        say(&*front, client, &hear(&*back).await.1).await;
        let (_, cookie_echo) = hear(&*front).await;
        for (socket, associations) in [(&other, 0), (&back, 1)] {
            say(&**socket, SERVER, &cookie_echo).await;
            sleep(RTT).await;
            assert_eq!(ground.server.connections(), associations);
        }
    });
}

/// A request over CoAP from each of 20,000 ports, at a server with the usual limits: little is kept of a client
/// that has sent one datagram.
#[test]
fn twenty_thousand_ports_hold_little_of_coap() {
    for_each_protocol(|ground| async move {
        if ground.protocol.name() != "coap" {
            return;
        }
        let listen = SocketAddr::new([10, 0, 1, 1].into(), 5683);
        let service = Rc::new(async |_| Response { status: 200, body: body::full("pong") });
        let host = Arc::clone(&ground.client);
        let server =
            ground.protocol.serve((host, listen), &ServerConfig::default(), service).unwrap();
        let words = first_words(&ground, 1).await;
        let before = held();
        for port in 2_000..22_000 {
            let socket = ground.attacker.bind_udp(SocketAddr::new(ATTACKERS, port)).unwrap();
            say(&*socket, server.local_addr(), &words[0]).await;
        }
        sleep(RTT).await;
        let more = held() - before;
        let peers = server.connections() as isize;
        assert!(peers > 10_000 && more < 6_000 * peers, "{more} bytes for {peers} peers");
    });
}

/// A port of the attackers that does not answer by itself.
const NOWHERE: SocketAddr = SocketAddr::new(ATTACKERS, 7);

/// Half of them send nothing, the others the first byte of a TLS record or of a request.
async fn connections(ground: &Rc<Ground>) -> Vec<Box<dyn TcpStream>> {
    let first = if ground.server.trust().is_some() { 0x16 } else { 0x01 };
    let one = async |number| {
        let opened = ground.attacker.connect_tcp(None, SERVER, &TcpOptions::default()).await;
        let mut stream = opened.unwrap();
        if number % 2 == 0 {
            let _it_may_be_over = stream.write_all(&[first]).await;
            let _it_may_be_over = stream.flush().await;
        }
        stream
    };
    join_all((0..CROWD).map(one)).await
}

/// The first packets of this many clients, captured at a port that does not respond.
async fn first_words(ground: &Rc<Ground>, count: usize) -> Vec<Vec<u8>> {
    let listener = ground.attacker.bind_udp(NOWHERE).unwrap();
    let mut words = Vec::new();
    while words.len() < count {
        let client = spawn(call(ground.dialer(&ground.dupe)));
        words.push(hear(&*listener).await.1);
        drop(client);
    }
    words
}

async fn call(dialer: Rc<dyn Dialer>) {
    let Ok(connection) = dialer.connect(NOWHERE).await else { return };
    let _unanswered = connection.exchange(Request::new("/echo", body::full(vec![1; 100]))).await;
}

/// Sends each from a separate port, which is closed afterwards.
async fn shout(ground: &Rc<Ground>, words: &[Vec<u8>], again: u16) {
    for (number, words) in (0..).zip(words) {
        let port = 2_000 + again * 2_000 + number;
        let socket = ground.attacker.bind_udp(SocketAddr::new(ATTACKERS, port)).unwrap();
        say(&*socket, SERVER, words).await;
    }
}
