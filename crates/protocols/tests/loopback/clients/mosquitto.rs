//! MQTT inside TLS with Mosquitto: its clients at our broker, ours at its broker.

use std::process::Child;

use trackbed_protocols::{MqttAnswer, MqttParameters, MqttQos, MqttVersion};

use crate::broker;
use crate::support::*;

/// `/echo` returns what it is sent.
async fn service(request: Request) -> Response {
    let status = if request.path == "/echo" { 200 } else { 404 };
    Response { status, body: request.body }
}

/// Mosquitto's clients, and what they need to trust our broker.
struct Clients {
    server: Server,
    certificate: NamedTempFile,
}

fn clients(tls: TlsParameters) -> Option<Clients> {
    if ["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"]
        .iter()
        .any(|name| look_for(name).is_none())
    {
        skip("Mosquitto's clients are not installed: apt install mosquitto-clients");
        return None;
    }
    let server = Server::start_with("mqtt", HERE, tls, service);
    let certificate = server.certificate();
    Some(Clients { server, certificate })
}

impl Clients {
    fn command(&self, program: &[&str], words: &[&str]) -> Command {
        let port = self.server.address.port().to_string();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]);
        // The certificate is for a name that only our own clients look for.
        command.args(["-h", "127.0.0.1", "-p", &port, "--insecure", "--cafile"]);
        command.arg(self.certificate.path()).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, program: &str, words: &[&str]) -> String {
        finish(program, self.command(&[program], words).spawn().unwrap())
    }

    /// A subscriber that has subscribed when this returns: it says so by its debug output, which it
    /// would keep back from a pipe.
    fn subscriber(&self, words: &[&str]) -> Child {
        use std::io::{BufRead as _, BufReader};
        let mut command = self.command(&["stdbuf", "-oL", "mosquitto_sub"], words);
        command.arg("-d");
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Subscribed (mid") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ends before it has subscribed");
        }
        child.stdout = Some(lines.into_inner());
        child
    }
}

fn finish(program: &str, child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {:?} {errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const VERSIONS: [&str; 2] = ["mqttv311", "mqttv5"];

#[test]
fn their_clients_publish_and_subscribe_at_our_broker() {
    let Some(clients) = clients(TlsParameters::default()) else { return };
    for version in VERSIONS {
        for qos in ["0", "1", "2"] {
            let ends = ["-V", version, "-q", qos, "-t"];
            let wait = ["-C", "2", "-W", "60"];
            let subscriber = clients.subscriber(&[&ends[..], &["home/+/#"], &wait].concat());
            for text in ["on", "off"] {
                let what = ["home/hall/light", "-m", text];
                clients.run("mosquitto_pub", &[&ends[..], &what].concat());
            }
            let heard = finish("mosquitto_sub", subscriber);
            let heard: Vec<&str> = heard.lines().filter(|it| ["on", "off"].contains(it)).collect();
            assert_eq!(heard, ["on", "off"], "{version} {qos}");
        }
    }
}

#[test]
fn their_clients_leave_retained_messages_and_wills() {
    let Some(clients) = clients(TlsParameters::default()) else { return };
    for version in VERSIONS {
        let ends = ["-V", version, "-q", "1"];
        let keep = ["-t", "kept/x", "-m", "here", "-r"];
        clients.run("mosquitto_pub", &[&ends[..], &keep].concat());
        let read = ["-t", "kept/#", "-C", "1", "-W", "60"];
        let heard = clients.run("mosquitto_sub", &[&ends[..], &read].concat());
        assert_eq!(heard, "here\n", "{version}");

        let wait = ["-t", "wills/#", "-C", "1", "-W", "60"];
        let watcher = clients.subscriber(&[&ends[..], &wait].concat());
        let will = ["-t", "other", "--will-topic", "wills/x", "--will-payload", "gone"];
        let mut victim = clients.subscriber(&[&ends[..], &will].concat());
        victim.kill().unwrap();
        victim.wait().unwrap();
        let heard = finish("mosquitto_sub", watcher);
        assert!(heard.lines().any(|line| line == "gone"), "{version}: {heard}");
    }
}

#[test]
fn the_service_answers_their_requests() {
    let Some(clients) = clients(TlsParameters::default()) else { return };
    let ask =
        ["-V", "mqttv5", "-t", "service/request/echo", "-e", "mine", "-m", "hello", "-W", "60"];
    assert_eq!(clients.run("mosquitto_rr", &ask), "hello\n");
}

#[test]
fn their_clients_take_each_cipher() {
    for cipher in CipherSuite::ALL {
        for version in TlsVersion::ALL {
            let Some(clients) = clients(TlsParameters {
                key_exchanges: vec![KeyExchange::X25519, KeyExchange::P256],
                ..TlsParameters::only(*version, *cipher)
            }) else {
                return;
            };
            let what = ["-V", "mqttv5", "-q", "1", "-t", "a", "-m", "x", "-r"];
            clients.run("mosquitto_pub", &what);
            assert_eq!(clients.run("mosquitto_sub", &["-t", "a", "-C", "1", "-W", "60"]), "x\n");
        }
    }
}

/// Mosquitto's broker, which ends with the test.
struct Mosquitto {
    _process: Kept,
    address: SocketAddr,
    identity: Identity,
}

impl Mosquitto {
    fn start() -> Option<Mosquitto> {
        let identity = Identity::new();
        let more = format!(
            "certfile {}\nkeyfile {}\n",
            identity.certificate.path().display(),
            identity.key.path().display()
        );
        let (_process, address) = broker::start(&more)?;
        Some(Mosquitto { _process, address, identity })
    }

    /// Exchanges of our client that it answers itself, in every quality; what was negotiated is what
    /// was pinned.
    fn answers(&self, version: MqttVersion, tls: &TlsParameters) {
        run("mqtt", async |machine| {
            for &qos in MqttQos::ALL {
                let transport = TransportParameters {
                    mqtt: MqttParameters { version, qos, answer: MqttAnswer::Echo },
                    ..transport()
                };
                let trust = Some(self.identity.trust.clone());
                let config =
                    ClientConfig { trust, tls: tls.clone(), transport, ..ClientConfig::default() };
                let host = machine.host("client", [self.address.ip()]);
                let dialer = find("mqtt").unwrap().dialer(host, &config).unwrap();
                let connection = dialer.connect(self.address).await.unwrap();
                for len in [0, 1, 2_048, 300_000] {
                    let sent = vec![7; len];
                    let request = Request::new("/", body::full(sent.clone()));
                    let response = connection.exchange(request).await.unwrap();
                    let got = body::collect(response.body, 1 << 20).await.unwrap();
                    assert!(got == sent, "{len} B in {version:?} with {qos:?}");
                }
                let negotiated = connection.security().unwrap();
                assert_eq!([negotiated.cipher], tls.ciphers[..]);
                assert_eq!([negotiated.version], tls.versions[..]);
                connection.close().await;
            }
        });
    }
}

#[test]
fn our_client_gets_its_answers_back_from_their_broker_with_each_cipher() {
    let Some(broker) = Mosquitto::start() else { return };
    for &version in MqttVersion::ALL {
        for &tls in TlsVersion::ALL {
            for &cipher in CipherSuite::ALL {
                let tls = TlsParameters {
                    key_exchanges: vec![KeyExchange::X25519, KeyExchange::P256],
                    ..TlsParameters::only(tls, cipher)
                };
                broker.answers(version, &tls);
            }
        }
    }
}
