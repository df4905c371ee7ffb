//! SCTP over UDP (RFC 6951) against usrsctp, the implementation of FreeBSD: on the loopback
//! interface, as client and as server, with and without loss.

mod compiled;
mod relay;

use self::relay::Relay;
use crate::support::*;
use crate::traffic::echo;

/// The other side; `None` if the machine cannot compile it.
fn peer() -> Option<PathBuf> {
    compiled::program("loopback/usrsctp/peer.c", &["-lusrsctp", "-lpthread"])
}

fn start(program: &Path, words: &[String]) -> Kept {
    let child = Command::new(program).args(words).stdout(Stdio::piped()).spawn();
    Kept(child.unwrap())
}

fn sctp() -> &'static dyn Protocol {
    find("sctp").unwrap()
}

/// Our client against its server, through a relay that loses one datagram in `loss`, if any.
fn our_client(loss: Option<u64>) {
    let Some(program) = peer() else { return };
    let udp = free_port();
    let relay = Relay::to(SocketAddr::new(HERE, udp), loss);
    let address = relay.address();
    // The port of SCTP is the one that the client dials.
    let mut server =
        start(&program, &["server".to_owned(), udp.to_string(), address.port().to_string()]);
    let mut ready = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready.trim(), "ready");
    run("sctp", async |machine| {
        let host = machine.host("client", [HERE]);
        let dialer = sctp().dialer(host, &ClientConfig::default()).unwrap();
        let connection = dialer.connect(address).await.unwrap();
        for len in [0, 1, 1_440, 1_441, 10_000] {
            echo(&*connection, len, len as u64).await;
        }
        join_all((0..10).map(|n| echo(&*connection, 100_000 + n, n as u64))).await;
        assert!(connection.transport().packets_sent > 700);
        connection.close().await;
        // The end is acknowledged.
        sleep(Duration::from_millis(50)).await;
    });
    if loss.is_none() {
        assert!(server.0.wait().unwrap().success());
    }
}

#[test]
fn our_client_is_understood_by_its_server() {
    our_client(None);
}

#[test]
fn our_client_and_its_server_get_over_losses() {
    our_client(Some(30));
}

/// Its client against our server, through a relay that loses one datagram in `loss`, if any.
fn our_server(loss: Option<u64>) {
    let Some(program) = peer() else { return };
    run("sctp", async |machine| {
        let host = machine.host("server", [HERE]);
        let echo = |request: Request| async { Response { status: 200, body: request.body } };
        let listen = SocketAddr::new(HERE, 0);
        let server = sctp().serve((host, listen), &ServerConfig::default(), Rc::new(echo)).unwrap();
        let relay = Relay::to(server.local_addr(), loss);
        let ports = [free_port(), free_port(), relay.address().port(), server.local_addr().port()];
        let [streams, len] = ["8", "100000"].map(str::to_owned);
        let words: Vec<String> = ["client".to_owned()]
            .into_iter()
            .chain(ports.map(|port| port.to_string()))
            .chain([streams, len])
            .collect();
        let mut client = start(&program, &words);
        let status = loop {
            match client.0.try_wait().unwrap() {
                Some(status) => break status,
                None => sleep(Duration::from_millis(10)).await,
            }
        };
        assert!(status.success(), "{status}");
    });
}

#[test]
fn its_client_is_understood_by_our_server() {
    our_server(None);
}

#[test]
fn its_client_and_our_server_get_over_losses() {
    our_server(Some(30));
}
