//! The speed of the engine: packets per second of wall-clock time, data and acknowledgments
//! counted, for both endpoints and the simulated link together, on one core.
//!
//! `cargo run --release -p trackbed-tcp --example speed`

#[path = "../tests/engine/track/mod.rs"]
mod track;

use std::time::Instant;

use track::{Fate, Link, Track, request};
use trackbed_core::{Ratio, Seed};
use trackbed_tcp::Config;

fn main() {
    println!("{:44} {:>9} {:>12} {:>10}", "link", "packets", "packets/s", "ns/packet");
    for (name, rate_mbps, delay_ms, queue, loss_ppm) in [
        ("100 Mbit/s, 10 ms, clean", 100, 10, 1_000, 0),
        ("10 Gbit/s, 6 ms, window of 10,000", 10_000, 6, 5_000, 0),
        ("1 Gbit/s, 50 ms, every 10^4th packet lost", 1_000, 50, 20_000, 100),
        ("50 Mbit/s, 10 ms, every 100th packet lost", 50, 10, 100, 10_000),
    ] {
        let link = || Link::new(rate_mbps, delay_ms, queue);
        let rng = Seed::of_run(1, 1).stream("loss");
        let fate = Fate::Random(Ratio::from_parts(loss_ppm, 1_000_000), Box::new(rng));
        let links = [link(), link().with_fate(fate)];
        let mut track = Track::new([Config::default(), Config::default()], links);
        #[allow(clippy::disallowed_methods, reason = "this is what is to be measured")]
        let start = Instant::now();
        request(&mut track, 200_000_000);
        let elapsed = start.elapsed();
        let packets = track.links.iter().map(|link| link.packets).sum::<u64>();
        let rate = packets as f64 / elapsed.as_secs_f64();
        println!("{name:44} {packets:9} {rate:12.0} {:10.0}", 1e9 / rate);
    }
}
