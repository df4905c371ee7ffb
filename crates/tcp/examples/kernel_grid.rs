//! Compares the engine with the measured kernel.

#[path = "../tests/track/mod.rs"]
mod track;

use std::collections::BTreeMap;
use std::time::Duration;

use track::{Fate, Link, Track, request};
use trackbed_core::{Bitrate, Ratio, Seed};
use trackbed_tcp::{Config, algorithms};

fn main() {
    let text = include_str!("../tests/data/kernel-tcp.csv");
    let mut grid: BTreeMap<(u64, u64, String, usize, usize, String), Vec<(f64, f64)>> =
        BTreeMap::new();
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let key = (
            f[0].parse().unwrap(),
            f[1].parse().unwrap(),
            f[2].to_owned(),
            f[3].parse().unwrap(),
            f[4].parse().unwrap(),
            f[5].to_owned(),
        );
        grid.entry(key)
            .or_default()
            .push((f[7].parse().unwrap(), f[8].parse().unwrap_or(f64::NAN)));
    }
    let lossy = std::env::args().nth(1).is_some_and(|a| a == "lossy");
    let (mut good, mut all) = (0, 0);
    for ((rate, delay, loss, queue, size, congestion), samples) in grid {
        if (loss != "0") != lossy {
            continue;
        }
        let n = samples.len() as f64;
        let mean = samples.iter().map(|s| s.0).sum::<f64>() / n;
        let lo = samples.iter().map(|s| s.0).fold(f64::MAX, f64::min);
        let hi = samples.iter().map(|s| s.0).fold(0.0, f64::max);
        let rtx = samples.iter().map(|s| s.1).sum::<f64>() / n;
        let seeds = if lossy { 60 } else { 40 };
        let (mut olo, mut ohi) = (f64::MAX, 0f64);
        let (mut ours, mut ours_rtx) = (0.0, 0.0);
        for seed in 0..seeds {
            let config = Config {
                congestion: *algorithms().iter().find(|a| a.name() == congestion).unwrap(),
                ..Config::default()
            };
            let link = || Link::new(Bitrate::from_mbps(rate), Duration::from_millis(delay), queue);
            let fate = if lossy {
                let rng = Seed::of_run(1, seed).stream("loss");
                Fate::Random(loss.parse::<Ratio>().unwrap(), Box::new(rng))
            } else {
                Fate::Pass
            };
            let mut track = Track::new([config.clone(), config], [link(), link().with_fate(fate)]);
            if let Ok(j) = std::env::var("JITTER") {
                for l in 0..2 {
                    let rng = Seed::of_run(2, seed).stream(["a", "b"][l]);
                    track.links[l].jitter =
                        Some((Duration::from_micros(j.parse().unwrap()), Box::new(rng)));
                }
            }
            let one = request(&mut track, size).as_millis_f64();
            (olo, ohi) = (olo.min(one), ohi.max(one));
            ours += one / seeds as f64;
            ours_rtx += track.server().stats().retransmissions as f64 / seeds as f64;
        }
        let deviation = (ours / mean - 1.0) * 100.0;
        let ok = deviation.abs() <= if lossy { 10.0 } else { 3.0 } || (ours >= lo && ours <= hi);
        good += usize::from(ok);
        all += 1;
        println!(
            "{rate:3} {delay:3} {loss:5} {queue:4} {size:9} {congestion:6} kernel {mean:9.2} [{lo:9.2} {hi:9.2}] rtx {rtx:6.1} ours {ours:9.2} [{olo:.0} {ohi:.0}] rtx {ours_rtx:6.1} {deviation:+6.1} % {}",
            if ok { "" } else { "<<<" }
        );
    }
    println!("{good} of {all}");
}
