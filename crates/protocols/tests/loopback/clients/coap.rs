//! CoAP over DTLS against libcoap and OpenSSL, both ways.

use trackbed_connection::Security;

use crate::support::*;
use crate::traffic::random;

/// `/small` and `/noise` are files, `/slow` answers late, `/echo` returns what it receives.
async fn service(request: Request) -> Response {
    let body = match request.path.as_str() {
        "/small" => body::full(&b"small"[..]),
        "/noise" => body::full(noise()),
        "/slow" => {
            sleep(Duration::from_millis(600)).await;
            body::full(&b"slow"[..])
        }
        "/echo" => request.body,
        "/parts?a=b&c" => body::full(&b"parts"[..]),
        _ => return Response { status: 404, body: body::empty() },
    };
    Response { status: 200, body }
}

fn noise() -> Vec<u8> {
    random(20_000, &mut Seed::of_run(1, 0).stream("noise"))
}

/// Sends a request to `server` with libcoap's client; returns the content and its error messages.
fn ask(program: &Path, server: &Server, words: &[&str], path: &str) -> (Vec<u8>, String) {
    let (root, output) = (server.certificate(), file(b""));
    let run = Command::new(program)
        .args(["-n", "-B", "20", "-v", "3", "-R"])
        .arg(root.path())
        .arg("-o")
        .arg(output.path())
        .args(words)
        .arg(format!("coaps://{}{path}", server.address))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].concat();
    (fs::read(output.path()).unwrap(), String::from_utf8_lossy(&said).into_owned())
}

/// Both builds of libcoap's client, with OpenSSL and with GnuTLS.
#[test]
fn clients_of_libcoap_are_answered() {
    let programs = ["coap-client-openssl", "coap-client-gnutls"];
    let programs: Vec<PathBuf> = programs.iter().filter_map(|name| look_for(name)).collect();
    if programs.is_empty() {
        return skip("no coap-client-openssl and no coap-client-gnutls: apt install libcoap3-bin");
    }
    for program in programs {
        let server = Server::start("coap+dtls", service);
        let upload = file(&noise());
        let ask = |words: &[&str], path: &str| ask(&program, &server, words, path);
        let content = |words: &[&str], path: &str| {
            let (content, said) = ask(words, path);
            assert!(!content.is_empty(), "{program:?} {words:?} {path}: {said}");
            content
        };
        assert_eq!(content(&[], "/small"), b"small");
        assert_eq!(content(&["-N"], "/small"), b"small");
        assert_eq!(content(&[], "/parts?a=b&c"), b"parts");
        assert_eq!(content(&[], "/slow"), b"slow");
        assert_eq!(content(&["-N"], "/slow"), b"slow");
        for method in ["put", "post"] {
            assert_eq!(content(&["-m", method, "-e", "hello"], "/echo"), b"hello");
        }
        for block in ["16", "256", "1024"] {
            assert!(content(&["-b", block], "/noise") == noise(), "{block}");
        }
        for words in [&["-m", "post"][..], &["-m", "put", "-b", "64"]] {
            let words = [words, &["-f", upload.path().to_str().unwrap()]].concat();
            assert!(content(&words, "/echo") == noise(), "{words:?}");
        }
        let (_, said) = ask(&[], "/nowhere");
        assert!(said.contains("4.04"), "{said}");
        let (_, said) = ask(&["-m", "delete"], "/small");
        assert!(said.contains("4.05"), "{said}");
    }
}

/// The name of OpenSSL for a cipher of TLS 1.2 with ECDHE and ECDSA.
fn openssl_name(cipher: CipherSuite) -> &'static str {
    match cipher {
        CipherSuite::Aes128Gcm => "ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::Aes256Gcm => "ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::ChaCha20Poly1305 => "ECDHE-ECDSA-CHACHA20-POLY1305",
    }
}

/// Each cipher of DTLS 1.2, and a ping of CoAP (RFC 7252 section 4.3) inside.
#[test]
fn openssl_agrees_with_our_server_on_every_cipher() {
    let Some(program) = look_for("openssl") else {
        return skip("openssl is not installed: apt install openssl");
    };
    let server = Server::start("coap+dtls", service);
    for &cipher in CipherSuite::ALL {
        let mut client = Command::new(&program)
            .args(["s_client", "-dtls1_2", "-quiet", "-no_ign_eof"])
            .args(["-connect", &server.address.to_string(), "-cipher", openssl_name(cipher)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = client.stdin.take().unwrap();
        input.write_all(&[0x40, 0, 0x12, 0x34]).unwrap();
        input.flush().unwrap();
        let mut answer = [0; 4];
        let mut output = client.stdout.take().unwrap();
        let client = Kept(client);
        output.read_exact(&mut answer).unwrap_or_else(|error| panic!("{cipher:?}: {error}"));
        assert_eq!(answer, [0x70, 0, 0x12, 0x34], "{cipher:?}");
        drop((input, client));
    }
}

/// A third-party server on its own port, with a certificate that our client trusts.
struct Foreign {
    _running: Kept,
    identity: Identity,
    address: SocketAddr,
}

impl Foreign {
    /// Starts `program`; `words` makes its arguments from the port and the files of its certificate
    /// and key.
    fn start(program: &Path, words: impl FnOnce(u16, &str, &str) -> Vec<String>) -> Foreign {
        let (identity, port) = (Identity::new(), free_port());
        let [certificate, key] =
            [&identity.certificate, &identity.key].map(|file| file.path().to_str().unwrap());
        let words = words(port, certificate, key);
        let running = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = SocketAddr::new(HERE, port);
        Foreign { _running: Kept(running), identity, address }
    }
}

/// Runs `main` with a connection of our client over DTLS 1.2 with this cipher.
fn with_our_client(
    foreign: &Foreign,
    cipher: CipherSuite,
    confirmable: bool,
    main: impl AsyncFnOnce(Rc<dyn Connection>),
) {
    run("coap+dtls", async |machine| {
        let host = machine.host("client", [HERE]);
        // OpenSSL wants the certificate's curve among the groups.
        let key_exchanges = vec![KeyExchange::X25519, KeyExchange::P256];
        let tls = TlsParameters { key_exchanges, ..TlsParameters::only(TlsVersion::Tls12, cipher) };
        let trust = Some(foreign.identity.trust.clone());
        let mut config = ClientConfig { tls, trust, ..ClientConfig::default() };
        config.transport.coap.confirmable = confirmable;
        let dialer = find("coap+dtls").unwrap().dialer(host, &config).unwrap();
        // The program takes a moment until it listens.
        sleep(Duration::from_millis(500)).await;
        let connection = dialer.connect(foreign.address).await.unwrap();
        let (version, resumed, early_data) = (TlsVersion::Tls12, false, false);
        assert_eq!(connection.security(), Some(Security { version, cipher, resumed, early_data }));
        main(connection).await;
    });
}

#[test]
fn our_client_is_answered_by_libcoap() {
    let Some(program) = look_for("coap-server-openssl") else {
        return skip("coap-server-openssl is not installed: apt install libcoap3-bin");
    };
    let foreign = Foreign::start(&program, |port, certificate, key| {
        // DTLS is on the port after the one that it is given.
        let port = (port - 1).to_string();
        let words =
            ["-A", "127.0.0.1", "-p", &port, "-c", certificate, "-j", key, "-n", "-d", "100"];
        words.map(str::to_owned).to_vec()
    });
    for (number, &cipher) in CipherSuite::ALL.iter().enumerate() {
        for confirmable in [true, false] {
            with_our_client(&foreign, cipher, confirmable, async |connection| {
                let ask = async |path: &str, content: Vec<u8>| {
                    let request = Request::new(path, body::full(content));
                    let response = connection.exchange(request).await.unwrap();
                    (response.status, body::collect(response.body, 100_000).await.unwrap())
                };
                let (status, page) = ask("/", vec![]).await;
                assert_eq!(status, 200);
                assert!(page.starts_with(b"This is a test server made with libcoap"), "{page:?}");
                // A response after a second, in a separate message.
                let (status, done) = ask("/async?1", vec![]).await;
                assert_eq!((status, &done[..]), (200, &b"done"[..]));
                assert_eq!(ask("/nowhere-at-all", vec![]).await.0, 404);
                // A resource that is made by a request, 20 kB in blocks, and read back.
                let path = format!("/made-{number}-{confirmable}");
                let (status, _) = ask(&path, noise()).await;
                assert_eq!(status, 201, "{path}");
                let (status, content) = ask(&path, vec![]).await;
                assert!(status == 200 && content == noise(), "{status}, {} B", content.len());
            });
        }
    }
}

#[test]
fn our_client_agrees_with_openssl_on_every_cipher() {
    let Some(program) = look_for("openssl") else {
        return skip("openssl is not installed: apt install openssl");
    };
    for &cipher in CipherSuite::ALL {
        let foreign = Foreign::start(&program, |port, certificate, key| {
            let port = format!("127.0.0.1:{port}");
            let words = ["s_server", "-dtls1_2", "-quiet", "-accept", &port, "-listen", "-cert"];
            let more = [certificate, "-key", key, "-cipher", openssl_name(cipher)];
            words.iter().chain(&more).map(|&word| word.to_owned()).collect()
        });
        with_our_client(&foreign, cipher, true, async |connection| connection.close().await);
    }
}
