//! Peers that do not follow the protocol, over the kernel's loopback interface: a server keeps
//! serving, and a client gets an error and does not hang.

use std::io;
use std::net::Shutdown;
use std::thread;

use trackbed_connection::Error;
use trackbed_protocols::ServerLimits;
use trackbed_substrate::kernel::Machine;

use crate::support::{self, *};
use crate::traffic::{post, random};

fn for_each_protocol<F: Future<Output = ()>>(main: impl Fn(&'static dyn Protocol, Machine) -> F) {
    for protocol in registry() {
        run(protocol.name(), |machine| main(*protocol, machine));
    }
}

fn transport() -> TransportParameters {
    TransportParameters { idle_timeout: Some(Duration::from_secs(1)), ..support::transport() }
}

fn serve(protocol: &dyn Protocol, host: Arc<dyn Host>, limits: ServerLimits) -> ServerHandle {
    let config = ServerConfig { limits, transport: transport(), ..ServerConfig::default() };
    let echo = |request: Request| async { Response { status: 200, body: request.body } };
    protocol.serve((host, SocketAddr::new(HERE, 0)), &config, Rc::new(echo)).unwrap()
}

fn dialer(protocol: &dyn Protocol, host: Arc<dyn Host>, server: &ServerHandle) -> Rc<dyn Dialer> {
    let trust = server.trust().cloned();
    let config = ClientConfig { trust, transport: transport(), ..ClientConfig::default() };
    protocol.dialer(host, &config).unwrap()
}

async fn echo(dialer: &dyn Dialer, remote: SocketAddr) -> Result<Vec<u8>, Error> {
    let connection = dialer.connect(remote).await?;
    let response = connection.exchange(post("/echo", body::full("hello"))).await?;
    let answer = body::collect(response.body, 100).await?;
    connection.close().await;
    Ok(answer.to_vec())
}

/// What hostile clients send: noise of all lengths, valid beginnings followed by noise, and lengths
/// that exceed the data.
fn utterances(rng: &mut Rng) -> Vec<Vec<u8>> {
    let beginnings: [&[u8]; 9] = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        // Settings of HTTP/2, then a frame that claims 16 MB.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\xff\xff\xff\0\0\0\0\0\x01",
        // A TLS record with a handshake message that claims 64 KiB.
        b"\x16\x03\x01\x00\x20\x01\x00\xff\xff\x03\x03",
        // A TLS alert, and a record that is too long.
        b"\x15\x03\x03\x00\x02\x02\x28\x17\x03\x03\xff\xff",
        // A QUIC Initial packet (RFC 9000 section 17.2.2), and one of an unknown version.
        b"\xc3\x00\x00\x00\x01\x08\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x44\xd0",
        b"\xc3\xfa\xce\xb0\x0c\x08\x01\x02\x03\x04\x05\x06\x07\x08\x00",
        // A QUIC packet with a short header.
        b"\x40\x01\x02\x03\x04\x05\x06\x07\x08",
    ];
    let mut all = Vec::new();
    for beginning in beginnings {
        for len in [0, 1, 7, 100, 1_182] {
            all.push([beginning, &random(len, rng)].concat());
        }
    }
    all
}

/// Sends each to a TCP server on a separate connection; some half-close, some abort, and the others
/// stay open and idle. Returns those.
fn shout(server: SocketAddr, rng: &mut Rng) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for (number, words) in utterances(rng).iter().enumerate() {
        let mut stream = TcpStream::connect(server).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        // The server may have hung up already.
        let _ = stream.write_all(words);
        match number % 3 {
            0 => drop(stream.shutdown(Shutdown::Write)),
            // Unread data from the server makes this a reset.
            1 => drop(stream.read(&mut [0])),
            _ => open.push(stream),
        }
    }
    open
}

#[test]
#[ignore = "thorough: real time"]
fn a_server_survives_hostile_input() {
    for_each_protocol(async |protocol, machine| {
        let host = machine.host("server", [HERE]);
        let server = serve(protocol, host, ServerLimits::default());
        let remote = server.local_addr();
        let dialer = dialer(protocol, machine.host("client", [HERE]), &server);
        let mut rng = Seed::of_run(1, 0).stream(protocol.name());
        for round in 0..3 {
            let connections = match protocol.capabilities().transport {
                Transport::Tcp => shout(remote, &mut rng),
                Transport::Udp | Transport::Coap | Transport::Sctp => {
                    let socket = UdpSocket::bind((HERE, 0)).unwrap();
                    for words in utterances(&mut rng) {
                        socket.send_to(&words, remote).unwrap();
                    }
                    Vec::new()
                }
            };
            // The server receives them, and then serves a correct client.
            sleep(Duration::from_millis(10)).await;
            let answer = echo(&*dialer, remote).await;
            let name = protocol.name();
            assert_eq!(answer.unwrap_or_else(|why| panic!("{name} {round}: {why}")), b"hello");
            drop(connections);
        }
    });
}

/// Many connections that send nothing, or only a first byte: the server keeps as many as it may,
/// and answers others. (In virtual time: `tests/track/siege`.)
#[test]
#[ignore = "thorough: real time"]
fn a_crowd_of_connections_leaves_room_for_others() {
    for_each_protocol(async |protocol, machine| {
        if protocol.capabilities().transport != Transport::Tcp {
            return;
        }
        let limits = ServerLimits { connections: 16, ..ServerLimits::default() };
        let server = serve(protocol, machine.host("server", [HERE]), limits);
        let remote = server.local_addr();
        let dialer = dialer(protocol, machine.host("client", [HERE]), &server);
        let first = if server.trust().is_some() { 0x16 } else { 0x01 };
        let mut crowd = Vec::new();
        for round in 0..3 {
            for number in 0..100 {
                let mut stream = TcpStream::connect(remote).unwrap();
                if number % 2 == 0 {
                    stream.write_all(&[first]).unwrap();
                }
                crowd.push(stream);
            }
            let answer = echo(&*dialer, remote).await;
            let name = protocol.name();
            assert_eq!(answer.unwrap_or_else(|why| panic!("{name} {round}: {why}")), b"hello");
            assert!(server.connections() <= 16, "{name}: {}", server.connections());
        }
    });
}

/// RFC 8446 section 6.2: nothing is sent after a fatal alert, whichever end has sent it.
#[test]
#[ignore = "thorough: real time"]
fn a_server_does_not_answer_a_fatal_alert() {
    for_each_protocol(async |protocol, machine| {
        let server = serve(protocol, machine.host("server", [HERE]), ServerLimits::default());
        if protocol.capabilities().transport == Transport::Tcp && server.trust().is_some() {
            let mut stream = TcpStream::connect(server.local_addr()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            // unknown_ca
            stream.write_all(&[0x15, 3, 3, 0, 2, 2, 48]).unwrap();
            // Meanwhile the server reads it.
            let dialer = dialer(protocol, machine.host("client", [HERE]), &server);
            echo(&*dialer, server.local_addr()).await.unwrap();
            let said = stream.read(&mut [0; 100]);
            let reset = |why: io::Error| why.kind() == io::ErrorKind::ConnectionReset;
            assert!(said.map_or_else(reset, |len| len == 0), "{}", protocol.name());
        }
    });
}

/// A server that sends `words` to every client, and then closes or stays silent.
fn hostile_server(words: Vec<u8>, hangs_up: bool) -> SocketAddr {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut kept = Vec::new();
        // Clients may try again.
        for stream in listener.incoming().take(3) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(&words);
            if !hangs_up {
                kept.push(stream);
            }
        }
        thread::park();
    });
    address
}

#[test]
#[ignore = "thorough: real time"]
fn a_client_gets_an_error_from_a_server_that_talks_nonsense() {
    for_each_protocol(async |protocol, machine| {
        let host = machine.host("client", [HERE]);
        let known = serve(protocol, machine.host("server", [HERE]), ServerLimits::default());
        let mut rng = Seed::of_run(2, 0).stream(protocol.name());
        if protocol.capabilities().transport != Transport::Tcp {
            let socket = UdpSocket::bind((HERE, 0)).unwrap();
            let address = socket.local_addr().unwrap();
            let words = utterances(&mut rng);
            thread::spawn(move || {
                let mut from = [0; 2_000];
                while let Ok((_, client)) = socket.recv_from(&mut from) {
                    words.iter().for_each(|words| drop(socket.send_to(words, client)));
                }
            });
            let error = echo(&*dialer(protocol, host, &known), address).await.err();
            assert!(error.is_some(), "{} believed nonsense", protocol.name());
            return;
        }
        for (number, words) in utterances(&mut rng).into_iter().enumerate().step_by(4) {
            // Something is sent, or the connection ends: the caller must limit pure silence.
            let hangs_up = number % 8 == 0 || words.len() < 20;
            let said = String::from_utf8_lossy(&words).into_owned();
            let address = hostile_server(words, hangs_up);
            let dialer = dialer(protocol, Arc::clone(&host), &known);
            let error = echo(&*dialer, address).await.err();
            assert!(error.is_some(), "{} believed {said:?}", protocol.name());
        }
    });
}
