//! Key exchanges and chains against Go's TLS as either end, and our client's certificate, over IPv4
//! and IPv6.

use trackbed_protocols::{Chain, KeyKind, client_trust};

use KeyExchange::{P256, P256MlKem768, X25519, X25519MlKem768};

use crate::support::*;

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

/// Go's end, built by Go 1.26, the first with all groups.
fn program() -> Option<PathBuf> {
    let version = |go: &PathBuf| Command::new(go).arg("version").output().unwrap().stdout;
    let is_old = |said: &str| [" go1.24", " go1.25"].iter().any(|old| said.contains(old));
    let go = look_for("go").filter(|go| !is_old(&String::from_utf8_lossy(&version(go))));
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
fn key_exchanges_and_chains_work_with_go() {
    let Some(program) = program() else { return };
    // Groups of the client and the server; the last of the server is taken. Go as a client has a share
    // of the hybrid with X25519 first, whatever the order.
    for (client, server, go_retries) in [
        (&[X25519][..], &[X25519][..], false),
        (&[X25519, X25519MlKem768], &[X25519MlKem768], false),
        (&[P256MlKem768], &[X25519, P256MlKem768], false),
        (&[X25519MlKem768, P256MlKem768], &[P256MlKem768], true),
        (&[X25519, P256], &[P256], true),
    ] {
        let group = numbers(&server[server.len() - 1..]);
        for here in [HERE, IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let service = async |_: Request| Response { status: 200, body: body::full("small") };
            let ours = Server::start_with("http1", here, offer(server), service);
            let said = Command::new(&program)
                .args(["--connect", &ours.address.to_string(), "--name", SERVER_NAME])
                .args(["--groups", &numbers(client), "--trust"])
                .arg(ours.certificate().path())
                .output();
            let said = String::from_utf8(said.unwrap().stdout).unwrap();
            let [first, later] =
                [false, true].map(|old| format!("{group} {old} {go_retries} small\n"));
            assert_eq!(said, first + &later, "{client:?}");
            our_client(&program, here, (client, server), &group);
        }
    }
}

fn our_client(program: &Path, here: IpAddr, ends: (&[KeyExchange], &[KeyExchange]), group: &str) {
    let (identity, mut tls) = (Identity::new(), offer(ends.0));
    tls.chain.client_auth = true;
    let clients = pem_file("CERTIFICATE", client_trust(&tls.chain).unwrap().as_der());
    let files = [identity.certificate.path(), identity.key.path(), clients.path()];
    let mut child = Command::new(program)
        .args(["--groups", &numbers(ends.1), "--listen", &format!("[{here}]:0")])
        .args(
            ["--certificate", "--key", "--trust"]
                .iter()
                .map(Path::new)
                .zip(files)
                .flat_map(<[_; 2]>::from),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let _running = Kept(child);
    let retried = !ends.1.contains(&ends.0[0]);
    run("http1", async |machine| {
        let (transport, handshake) = (transport(), Handshake::Resumed);
        let trust = Some(identity.trust.clone());
        let config = ClientConfig { tls, trust, handshake, transport, ..ClientConfig::default() };
        let dialer =
            find("http1").unwrap().dialer(machine.host("client", [here]), &config).unwrap();
        for resumed in [false, true] {
            let connection = dialer.connect(address.trim().parse().unwrap()).await.unwrap();
            let response = connection.exchange(Request::new("/", body::empty())).await.unwrap();
            let said = body::collect(response.body, 100).await.unwrap();
            // Afterwards the client knows what the server accepts. Its chain has two certificates.
            let expected = format!("{group} {resumed} {} 2", retried && !resumed);
            assert_eq!(String::from_utf8_lossy(&said), expected, "{ends:?}");
            sleep(Duration::from_millis(10)).await;
            connection.close().await;
        }
    });
}
