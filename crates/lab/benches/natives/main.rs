//! Compares our clients with the native ones of third-party servers over the loopback interface:
//! the median round trip of 512 B, in alternating rounds.
//!
//! `cargo bench -p trackbed-lab --bench natives` prints a line per round, and one per server with
//! the medians over all rounds; arguments select servers by name. A server is skipped if its
//! program or native client is not installed; the Debian package is printed.
//!
//! - `nghttpd`, HTTP/2 and TLS 1.3: `h2load`, which times each request itself.
//! - `mosquitto`, MQTT, TLS 1.3, QoS 1: from a line written to `mosquitto_pub -l` until
//!   `mosquitto_sub` prints it, including the two pipes.
//! - `coap-server`, CoAP and DTLS 1.2: `coap-client`, a process per download. A resource in blocks
//!   of 16 B takes a round trip per block, so the difference between a long and a short one is that
//!   number of round trips, without the start of the process.

mod coap;
mod http2;
mod mqtt;
mod server;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let pairs: [(&str, Start); 3] =
        [("nghttpd", http2::start), ("mosquitto", mqtt::start), ("coap-server", coap::start)];
    for (name, start) in pairs {
        let is_wanted = chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
        if is_wanted && let Some(mut pair) = start() {
            compare(name, &mut *pair);
        }
    }
}

type Start = fn() -> Option<Box<dyn Pair>>;

trait Pair {
    /// Round trips of the native client, in microseconds.
    fn native(&mut self) -> Vec<f64>;
    /// Round trips of our client, in microseconds.
    fn ours(&mut self) -> Vec<f64>;
}

fn compare(name: &str, pair: &mut dyn Pair) {
    let (mut native, mut ours) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let (theirs, own) = (median(pair.native()), median(pair.ours()));
        println!("{name}, round {round}: native {theirs:.1} us, ours {own:.1} us");
        native.push(theirs);
        ours.push(own);
    }
    let (native, ours) = (median(native), median(ours));
    println!("{name}: native {native:.1} us, ours {ours:.1} us, {:.2} of it", ours / native);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

const ROUNDS: usize = 7;
const COUNT: usize = 2_000;
const SIZE: usize = 512;
