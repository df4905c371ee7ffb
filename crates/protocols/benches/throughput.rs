//! Performance of the protocols: packets per second of processor time in a transfer of 200 MB, the
//! cost of a short connection, and the memory of a long transfer (over CoAP a hundredth of both).
//!
//! `cargo bench -p trackbed-protocols` prints one line for each measurement; arguments choose some
//! of them by name: `bulk`, `connections`, `memory`, or a protocol.

#[path = "../tests/track/support.rs"]
#[allow(dead_code, reason = "the tests use the rest of it")]
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{fast, fetch, network, ping, server_address, simulate, simulate_on};
use trackbed_core::{Bitrate, ByteSize, Packet, Seed, Time};
use trackbed_net::queue::DropTail;
use trackbed_net::{Direction, LinkId, LinkSpec, Point, Tap};
use trackbed_protocols::{ClientConfig, Protocol, registry};

const TRANSFERS: usize = 7;
const BULK: u64 = 200_000_000;
const LONG: u64 = 1_000_000_000;

/// The allocator of the `trackbed` binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Measure = fn(&'static dyn Protocol);

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| chosen.iter().any(|chosen| chosen == name);
    let kinds: [(&str, Measure); 3] =
        [("bulk", bulk), ("connections", connections), ("memory", memory)];
    let all_kinds = !kinds.iter().any(|(name, _)| wanted(name));
    let all_protocols = !registry().iter().any(|protocol| wanted(protocol.name()));
    for (name, measure) in kinds {
        for protocol in registry() {
            if (all_kinds || wanted(name)) && (all_protocols || wanted(protocol.name())) {
                measure(*protocol);
            }
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
        bytes(protocol, BULK) / 1_000_000,
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
        fetch(&*connection, bytes(protocol, BULK)).await;
    });
    let seconds = processor_seconds() - start;
    let packets = *packets.0.lock().unwrap();
    (seconds, packets)
}

/// A thousand new connections with one small exchange each.
fn connections(protocol: &'static dyn Protocol) {
    let start = processor_seconds();
    simulate(&fast(1_000), |track| async move {
        let server = track.serve(protocol);
        let dialer = track.dialer(protocol, &server, ClientConfig::default());
        for _ in 0..1_000 {
            let connection = dialer.connect(server_address()).await.unwrap();
            ping(&*connection).await.unwrap();
            connection.close().await;
        }
    });
    let micros = (processor_seconds() - start) * 1e3;
    println!("{}, connection with an exchange: {micros:.0} us", protocol.name());
}

/// The highest memory use of the process after a transfer of 1 GB.
fn memory(protocol: &'static dyn Protocol) {
    let before = peak_mib();
    simulate(&fast(1_000), |track| async move {
        let (_server, connection) = track.connected(protocol).await;
        fetch(&*connection, bytes(protocol, LONG)).await;
    });
    let megabytes = bytes(protocol, LONG) / 1_000_000;
    let name = protocol.name();
    println!("{name}, {megabytes} MB: peak memory {} MiB, before {before}", peak_mib());
}

/// The share of the bytes that is requested from a protocol: CoAP sends a block of 1,024 in each
/// round trip (RFC 7959), and would take hours.
fn bytes(protocol: &dyn Protocol, whole: u64) -> u64 {
    if protocol.name().starts_with("coap") { whole / 100 } else { whole }
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

/// The highest resident memory of this process so far (`VmHWM` of proc(5)).
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|text| text.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0_u64) / 1_024
}
