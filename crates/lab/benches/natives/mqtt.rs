//! `mosquitto_pub` with `mosquitto_sub`, and our MQTT client, with Mosquitto.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use trackbed_connection::{CipherSuite, TlsVersion};
use trackbed_protocols::{MqttAnswer, MqttParameters, TlsParameters, TransportParameters};

use crate::server::Server;
use crate::{Pair, SIZE};

struct Mqtt {
    publisher: (Child, ChildStdin),
    subscriber: (Child, BufReader<ChildStdout>),
    server: Server,
}

pub fn start() -> Option<Box<dyn Pair>> {
    let clients = ["mosquitto_pub", "mosquitto_sub", "stdbuf"];
    let server = Server::start("mosquitto", &clients)?;
    let spawn = |program: &[&str], words: &[&str]| {
        let port = server.address.port().to_string();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(["-h", "127.0.0.1", "-p", &port]);
        command.args(["-q", "1", "-V", "mqttv5"]);
        command.args(["--insecure", "--tls-version", "tlsv1.3", "--cafile"]);
        command.arg(server.file("certificate.pem")).args(["-t", "bench"]).args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    };
    let mut subscriber = spawn(&["stdbuf", "-oL", "mosquitto_sub"], &["-d"]);
    let mut lines = BufReader::new(subscriber.stdout.take().expect("a pipe"));
    read_until(&mut lines, |line| line.contains("Subscribed (mid"));
    let mut publisher = spawn(&["mosquitto_pub"], &["-l"]);
    let input = publisher.stdin.take().expect("a pipe");
    let pair = Mqtt { publisher: (publisher, input), subscriber: (subscriber, lines), server };
    Some(Box::new(pair))
}

fn read_until(lines: &mut impl BufRead, is_it: impl Fn(&str) -> bool) {
    let mut line = String::new();
    while !is_it(&line) {
        line.clear();
        assert!(lines.read_line(&mut line).expect("a pipe") > 0, "it has ended");
    }
}

impl Pair for Mqtt {
    #[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    fn native(&mut self) -> Vec<f64> {
        let message = format!("{}\n", "x".repeat(SIZE));
        let mut took = Vec::new();
        for _ in 0..ROUND_TRIPS {
            let begun = Instant::now();
            self.publisher.1.write_all(message.as_bytes()).expect("a pipe");
            // Other lines are its reports about packets.
            read_until(&mut self.subscriber.1, |line| line == message);
            took.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        took
    }

    fn ours(&mut self) -> Vec<f64> {
        let tls = TlsParameters::only(TlsVersion::Tls13, CipherSuite::Aes256Gcm);
        let mqtt = MqttParameters { answer: MqttAnswer::Echo, ..MqttParameters::default() };
        let transport = TransportParameters { mqtt, ..TransportParameters::default() };
        self.server.round_trips("mqtt", tls, transport, ROUND_TRIPS)
    }
}

impl Drop for Mqtt {
    fn drop(&mut self) {
        for process in [&mut self.publisher.0, &mut self.subscriber.0] {
            let _gone = process.kill();
            let _waited = process.wait();
        }
    }
}

/// Per round. With Mosquitto's clients each may take 40 ms, because they leave the time of sending
/// to TCP.
const ROUND_TRIPS: usize = 100;
