//! `coap-client` and our CoAP client with libcoap's server.

use std::process::Command;
use std::time::Instant;

use trackbed_connection::{CipherSuite, Request, TlsVersion, body};
use trackbed_protocols::{CoapParameters, TlsParameters, TransportParameters};
use trackbed_substrate::now;

use crate::Pair;
use crate::server::Server;

struct Coap(Server);

pub fn start() -> Option<Box<dyn Pair>> {
    let server = Server::start("coap-server", &[CLIENT])?;
    let pair = Coap(server);
    for (name, blocks) in [("short", 1), ("long", BLOCKS + 1)] {
        let content = pair.0.file(name);
        std::fs::write(&content, vec![b'x'; blocks * BLOCK]).expect("a folder");
        pair.ask(&["-m", "put", "-f", &content], name);
    }
    Some(Box::new(pair))
}

impl Coap {
    #[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    fn ask(&self, words: &[&str], path: &str) -> f64 {
        let begun = Instant::now();
        let output = Command::new(CLIENT)
            .args(["-n", "-v", "3", "-R", &self.0.file("certificate.pem")])
            .args(words)
            .arg(format!("coaps://{}/{path}", self.0.address))
            .output()
            .expect("it starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        begun.elapsed().as_secs_f64()
    }
}

impl Pair for Coap {
    fn native(&mut self) -> Vec<f64> {
        let block = BLOCK.to_string();
        let get = |path| self.ask(&["-b", &block], path);
        let each = |_| (get("long") - get("short")) * 1e6 / BLOCKS as f64;
        (0..DOWNLOADS).map(each).collect()
    }

    fn ours(&mut self) -> Vec<f64> {
        let tls = TlsParameters::only(TlsVersion::Tls12, CipherSuite::Aes128Gcm);
        let coap = CoapParameters { block_size: BLOCK as u16, ..CoapParameters::default() };
        let transport = TransportParameters { coap, ..TransportParameters::default() };
        self.0.with_client("coap+dtls", tls, transport, async |connection| {
            let get = async |path: &str, blocks: usize| {
                let begun = now();
                let response = connection
                    .exchange(Request::new(path, body::empty()))
                    .await
                    .expect("an answer");
                assert_eq!(body::drain(response.body).await, Ok((blocks * BLOCK) as u64));
                (now() - begun).as_secs_f64()
            };
            let mut each = Vec::new();
            for _ in 0..DOWNLOADS {
                let (long, short) = (get("/long", BLOCKS + 1).await, get("/short", 1).await);
                each.push((long - short) * 1e6 / BLOCKS as f64);
            }
            each
        })
    }
}

const CLIENT: &str = "coap-client-openssl";
/// Bytes per block (the smallest size in RFC 7959).
const BLOCK: usize = 16;
/// How many blocks the long resource has more than the short one.
const BLOCKS: usize = 1_000;
const DOWNLOADS: usize = 5;
