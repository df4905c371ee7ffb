//! The speed of Multipath TCP: a transfer of 70 s over two paths of 25 Mbit/s, both hosts and the
//! simulated links together, on one core.
//!
//! `cargo run --release -p trackbed-tcp --example multipath_speed`

#[path = "../tests/engine/paths/mod.rs"]
mod paths;

use std::time::{Duration, Instant};

use paths::{Lane, World, client_ip};
use trackbed_core::{Ratio, Time};
use trackbed_tcp::multipath::{Endpoint, MultipathConfig};
use trackbed_tcp::schedulers;

fn main() {
    println!(
        "{:12} {:>9} {:>9} {:>8} {:>10}",
        "scheduler", "packets", "Mbit/s", "wall s", "ns/packet"
    );
    for &scheduler in schedulers::algorithms() {
        let endpoints = vec![Endpoint::subflow(client_ip(1))];
        let config = MultipathConfig { scheduler, endpoints, ..MultipathConfig::default() };
        let lane = |delay_ms| Lane {
            loss: Ratio::from_parts(1, 20_000),
            queue: 150,
            ..Lane::new(25, delay_ms)
        };
        let mut world = World::new(1, [config.clone(), config], vec![lane(25), lane(35)]);
        world.hosts[1].to_write = u64::MAX;
        world.hosts.iter_mut().for_each(|host| host.careless = true);
        #[allow(clippy::disallowed_methods, reason = "this is what is to be measured")]
        let start = Instant::now();
        world.open();
        world.run_until(Time::ZERO + Duration::from_secs(70));
        let elapsed = start.elapsed().as_secs_f64();
        let packets = world.lanes.iter().flat_map(|lane| lane.packets).sum::<u64>();
        let rate = world.hosts[0].read as f64 * 8.0 / 70e6;
        let each = elapsed * 1e9 / packets as f64;
        let name = scheduler.name;
        println!("{name:12} {packets:9} {rate:9.2} {elapsed:8.2} {each:10.0}");
    }
}
