//! `h2load` and our HTTP/2 client with nghttpd, which echoes messages.

use std::fs;
use std::process::Command;

use trackbed_connection::{CipherSuite, TlsVersion};
use trackbed_protocols::{TlsParameters, TransportParameters};

use crate::server::Server;
use crate::{COUNT, Pair};

struct Http2(Server);

pub fn start() -> Option<Box<dyn Pair>> {
    Some(Box::new(Http2(Server::start("nghttpd", &["h2load"])?)))
}

impl Pair for Http2 {
    /// Its log has a line per request: start time, status, and duration in microseconds.
    fn native(&mut self) -> Vec<f64> {
        let log = self.0.file("h2load.log");
        let _first_time = fs::remove_file(&log);
        let output = Command::new("h2load")
            .args(["-c", "1", "-m", "1", "-n", &COUNT.to_string(), "--log-file", &log])
            .args(["-d", &self.0.file("site/message")])
            .arg(format!("https://{}/message", self.0.address))
            .output()
            .expect("h2load starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let log = fs::read_to_string(log).expect("a log");
        let took = |line: &str| {
            let mut fields = line.split_whitespace().skip(1);
            assert_eq!(fields.next(), Some("200"), "{line}");
            fields.next().and_then(|micros| micros.parse().ok()).expect("microseconds")
        };
        log.lines().map(took).collect()
    }

    fn ours(&mut self) -> Vec<f64> {
        let tls = TlsParameters::only(TlsVersion::Tls13, CipherSuite::Aes128Gcm);
        self.0.round_trips("http2", tls, TransportParameters::default(), COUNT)
    }
}
