//! Key exchanges and chains against Go's TLS as either end, and our client's certificate, over IPv4
//! and IPv6.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trackbed_connection::{Handshake, KeyExchange, Request, Response, TlsVersion, body};
use trackbed_protocols::{
    Chain, ClientConfig, KeyKind, SERVER_NAME, TlsParameters, client_trust, find,
};
use trackbed_substrate::sleep;

use crate::support::{HERE, Identity, Running, Server, look_for, pem_file, run, skip, transport};
use KeyExchange::{P256, P256MlKem768, X25519, X25519MlKem768};

/// Groups of the client and the server, and what they agree on, after a HelloRetryRequest or not.
type Case = (&'static [KeyExchange], &'static [KeyExchange], KeyExchange, bool);

const ADDRESSES: [IpAddr; 2] = [HERE, IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Their numbers, for the command line.
fn numbers(groups: &[KeyExchange]) -> String {
    let number = |group: &KeyExchange| ["29", "23", "4588", "4587"][*group as usize];
    groups.iter().map(number).collect::<Vec<_>>().join(",")
}

fn offer(groups: &[KeyExchange]) -> TlsParameters {
    let (versions, key_exchanges) = (vec![TlsVersion::Tls13], groups.to_vec());
    let kinds = vec![KeyKind::P256, KeyKind::Ed25519];
    let chain = Chain { kinds, staple: 500, sct: 240, compressed: true, ..Chain::default() };
    TlsParameters { versions, key_exchanges, chain, ..TlsParameters::default() }
}

/// The program, built if Go 1.26 is installed, the first with all groups.
fn program() -> Option<PathBuf> {
    let go = look_for("go").filter(|go| {
        let said = Command::new(go).arg("version").output().unwrap().stdout;
        let version = String::from_utf8_lossy(&said).split('.').nth(1).map(str::to_owned);
        version.and_then(|minor| minor.parse::<u32>().ok()).is_some_and(|minor| minor >= 26)
    });
    let Some(go) = go else {
        skip("Go 1.26 is not installed: see https://go.dev/dl");
        return None;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loopback/clients/handshake.go");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("handshake");
    let built = Command::new(go).arg("build").arg("-o").arg(&program).arg(source).status();
    assert!(built.unwrap().success());
    Some(program)
}

#[test]
fn the_key_exchanges_work_with_go() {
    let Some(program) = program() else { return };
    for here in ADDRESSES {
        // Go prefers the hybrid with X25519, then that with P-256, whatever the order.
        let cases: [Case; 5] = [
            (&[X25519], &[X25519], X25519, false),
            (&[X25519MlKem768, X25519], &[X25519MlKem768], X25519MlKem768, false),
            (&[P256MlKem768], &[P256MlKem768, X25519], P256MlKem768, false),
            (&[X25519MlKem768, P256MlKem768], &[P256MlKem768], P256MlKem768, true),
            (&[X25519, P256], &[P256], P256, true),
        ];
        for (client, server, group, retried) in cases {
            let service = async |_: Request| Response { status: 200, body: body::full("small") };
            let server = Server::start_with("http1", here, offer(server), service);
            let certificate = server.certificate();
            let said = Command::new(&program)
                .args(["--connect", &server.address.to_string(), "--name", SERVER_NAME])
                .args(["--groups", &numbers(client), "--trust"])
                .arg(certificate.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let group = numbers(&[group]);
            let first = format!("{group} false {retried} small\n");
            // In a resumed handshake too the group is negotiated anew.
            assert_eq!(said, format!("{first}{group} true {retried} small\n"), "{client:?}");
        }
        let cases: [Case; 4] = [
            (&[X25519], &[X25519], X25519, false),
            (&[X25519MlKem768, X25519], &[X25519MlKem768, X25519], X25519MlKem768, false),
            (&[X25519, X25519MlKem768], &[X25519MlKem768], X25519MlKem768, true),
            (&[P256, P256MlKem768], &[P256MlKem768], P256MlKem768, true),
        ];
        cases.into_iter().for_each(|case| our_client(&program, here, case));
    }
}

fn our_client(program: &Path, here: IpAddr, (client, server, group, retried): Case) {
    let identity = Identity::new();
    let mut tls = offer(client);
    tls.chain.client_auth = true;
    let clients = client_trust(&tls.chain).unwrap();
    let clients = pem_file("CERTIFICATE", clients.as_der());
    let mut child = Command::new(program)
        .arg("--trust")
        .arg(clients.path())
        .args(["--groups", &numbers(server), "--listen", &format!("[{here}]:0"), "--certificate"])
        .arg(identity.certificate.path())
        .arg("--key")
        .arg(identity.key.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let _running = Running(child);
    run("http1", async |machine| {
        let trust = Some(identity.trust.clone());
        let (transport, handshake) = (transport(), Handshake::Resumed);
        let config = ClientConfig { tls, trust, handshake, transport, ..ClientConfig::default() };
        let host = machine.host("client", [here]);
        let dialer = find("http1").unwrap().dialer(host, &config).unwrap();
        for resumed in [false, true] {
            let connection = dialer.connect(address.trim().parse().unwrap()).await.unwrap();
            let response = connection.exchange(Request::new("/", body::empty())).await.unwrap();
            let said = body::collect(response.body, 100).await.unwrap();
            // Afterwards the client knows what the server accepts.
            let retried = retried && !resumed;
            let expected = format!("{} {resumed} {retried} 2", numbers(&[group]));
            assert_eq!(String::from_utf8_lossy(&said), expected, "{client:?}");
            sleep(std::time::Duration::from_millis(10)).await;
            connection.close().await;
        }
    });
}
