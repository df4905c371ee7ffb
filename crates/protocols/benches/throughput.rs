//! Performance of the protocols: packets per second of processor time in a transfer of 200 MB (over
//! CoAP a hundredth of that).
//!
//! `cargo bench -p trackbed-protocols` prints one line for each; arguments choose some by name.

#[path = "../tests/track/support.rs"]
#[allow(dead_code, reason = "the tests use the rest of it")]
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{fetch, network, simulate_on};
use trackbed_core::{Bitrate, ByteSize, Packet, Seed, Time};
use trackbed_net::queue::DropTail;
use trackbed_net::{Direction, LinkId, LinkSpec, Point, Tap};
use trackbed_protocols::{Protocol, registry};

const TRANSFERS: usize = 7;
const BULK: u64 = 200_000_000;

/// The allocator of the `trackbed` binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for protocol in registry() {
        if chosen.is_empty() || chosen.iter().any(|name| name == protocol.name()) {
            bulk(*protocol);
        }
    }
}

/// Several times 200 MB through a link of 50 Mbit/s and 10 ms each way with a queue of one
/// bandwidth-delay product, so that the congestion controller is active.
fn bulk(protocol: &'static dyn Protocol) {
    let mut times: Vec<(f64, u64)> = (0..TRANSFERS).map(|_| transfer(protocol)).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, packets) = times[TRANSFERS / 2];
    let rate = |seconds: f64| packets as f64 / seconds;
    let name = protocol.name();
    println!(
        "{name}, {} MB: {packets} packets in {seconds:.2} s, {:.0} packets/s (median of {TRANSFERS}, \
         {:.0} to {:.0})",
        bytes(protocol) / 1_000_000,
        rate(seconds),
        rate(times[TRANSFERS - 1].0),
        rate(times[0].0),
    );
}

/// The processor time of one transfer, and its packets.
fn transfer(protocol: &'static dyn Protocol) -> (f64, u64) {
    let packets = Count::default();
    let seed = Seed::of_run(1, 0);
    let queue = DropTail::of_bytes(ByteSize::from_bytes(125_000));
    let link = LinkSpec::simple(Bitrate::from_mbps(50), queue, Duration::from_millis(10));
    let mut network = network(&link, &link, &seed);
    network.set_tap(Some(Box::new(packets.clone())));
    let start = processor_seconds();
    simulate_on(network, seed, |track| async move {
        let (_server, connection) = track.connected(protocol).await;
        fetch(&*connection, bytes(protocol)).await;
    });
    let seconds = processor_seconds() - start;
    let packets = *packets.0.lock().unwrap();
    (seconds, packets)
}

/// The share of the bytes that is requested from a protocol: CoAP sends a block of 1,024 in each
/// round trip (RFC 7959), and would take hours.
fn bytes(protocol: &dyn Protocol) -> u64 {
    if protocol.name().starts_with("coap") { BULK / 100 } else { BULK }
}

/// Counts the packets that enter links.
#[derive(Clone, Default)]
struct Count(Arc<Mutex<u64>>);

impl Tap for Count {
    fn see(&mut self, _: Time, _: LinkId, _: Direction, point: Point, _: &Packet) {
        if matches!(point, Point::Entered) {
            *self.0.lock().unwrap() += 1;
        }
    }
}

/// The processor time that this process has used, in user and system mode (`utime` and `stime` of
/// proc(5), counted in hundredths of a second).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
