//! The same seed gives the same packets at the same nanoseconds; another seed gives others.

use std::fmt::Write as _;
use std::io;

use sha2::{Digest as _, Sha256};
use trackbed_protocols::{Observer, Side};

use crate::support::*;

/// Everything observable of a run: packets, times, keys and traces.
fn traces(protocol: &'static dyn Protocol, run: u64) -> (Vec<u8>, Seen) {
    let seed = Seed::of_run(1, run);
    let lossy = fast(20).with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    let network = network(&lossy, &lossy, &seed);
    let watcher = Watcher::default();
    let observer: Arc<dyn Observer> = Arc::new(watcher.clone());
    let ((), packets): (_, PacketDigest) = simulate_seen(network, seed, |track| async move {
        let mut config = ServerConfig::default();
        config.transport.observer = Some(Arc::clone(&observer));
        let has_hybrids = protocol.parameters().iter().any(|key| key.name == "key-exchange");
        if has_hybrids {
            config.tls.key_exchanges = vec![KeyExchange::P256MlKem768];
        }
        let server = track.serve_with(protocol, &config, Rc::new(service));
        let mut config = ClientConfig::default();
        config.transport.observer = Some(observer);
        if has_hybrids {
            // One after the other, by a HelloRetryRequest.
            config.tls.key_exchanges = vec![KeyExchange::X25519MlKem768, KeyExchange::P256MlKem768];
        }
        if protocol.capabilities().handshakes.contains(&Handshake::Early) {
            config.handshake = Handshake::Early;
        }
        let dialer = track.dialer(protocol, &server, config);
        for _ in 0..3 {
            let connection = dialer.connect(server_address()).await.unwrap();
            let pings = join_all((0..5).map(|_| ping(&*connection))).await;
            assert!(pings.iter().all(Result::is_ok), "{pings:?}");
            echo(&*connection, 200_000, 1).await;
            let response = connection.exchange(post("/zeros?100000", body::empty())).await.unwrap();
            assert_eq!(body::drain(response.body).await, Ok(100_000));
            sleep(RTT).await;
            connection.close().await;
        }
    });
    let seen = watcher.0.lock().unwrap().clone();
    (packets.sum(), seen)
}

#[test]
fn a_run_follows_from_its_seed() {
    for protocol in registry() {
        let [first, second] = [traces(*protocol, 0), traces(*protocol, 0)];
        assert_eq!(first, second, "{}", protocol.name());
        assert_ne!(first.0, traces(*protocol, 1).0, "{}", protocol.name());
    }
}

#[test]
fn an_observer_sees_keys_and_traces() {
    let (_, seen) = traces(protocol("http3"), 0);
    let is_key = |line: &&str| {
        let mut parts = line.split(' ');
        let label = parts.next().unwrap();
        let random = parts.next().unwrap();
        let secret = parts.next().unwrap();
        label.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
            && random.len() == 64
            && [64, 96].contains(&secret.len())
            && parts.next().is_none()
    };
    assert!(seen.keys.lines().all(|line| is_key(&line)), "{}", seen.keys);
    for label in
        ["CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"]
    {
        assert!(seen.keys.contains(label), "{label}");
    }
    // Three connections, two sides.
    assert_eq!(seen.qlogs, 6);
    let (_, seen) = traces(protocol("tcp+tls"), 0);
    assert!(seen.keys.contains("CLIENT_TRAFFIC_SECRET_0"));
    assert_eq!(traces(protocol("tcp"), 0).1, Seen::default());
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    keys: String,
    qlogs: u32,
    qlog_sum: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
struct Watcher(Arc<Mutex<Seen>>);

impl Observer for Watcher {
    fn tls_key(&self, line: &str) {
        writeln!(self.0.lock().unwrap().keys, "{line}").unwrap();
    }

    fn qlog(&self, side: Side, connection: &str) -> Option<Box<dyn io::Write + Send + Sync>> {
        let mut seen = self.0.lock().unwrap();
        seen.qlogs += 1;
        seen.qlog_sum = Sha256::digest(format!("{:?}{side:?}{connection}", seen.qlog_sum)).to_vec();
        Some(Box::new(Trace(self.clone())))
    }
}

/// Folds what is written into the digest that the watcher keeps.
struct Trace(Watcher);

impl io::Write for Trace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut seen = self.0.0.lock().unwrap();
        let mut sum = Sha256::new();
        sum.update(&seen.qlog_sum);
        sum.update(bytes);
        seen.qlog_sum = sum.finalize().to_vec();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
