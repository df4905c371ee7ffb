//! Multipath TCP between two engines: handshakes, data on several paths, ends.

mod paths;

use std::time::Duration;

use paths::{Lane, World, client_ip, server_ip};
use trackbed_core::Time;
use trackbed_tcp::State;
use trackbed_tcp::multipath::{Endpoint, MultipathConfig};

fn second_path() -> MultipathConfig {
    MultipathConfig { endpoints: vec![Endpoint::subflow(client_ip(1))], ..Default::default() }
}

fn seconds(value: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(value)
}

#[test]
fn one_path_carries_both_directions_to_their_ends() {
    let mut world = World::new(1, Default::default(), vec![Lane::new(10, 5)]);
    (world.hosts[0].to_write, world.hosts[1].to_write) = (300_000, 500_000);
    world.open();
    world.run_until(seconds(30.0));
    assert!(world.is_complete());
    for host in &mut world.hosts {
        let connection = host.connection();
        assert!(connection.is_multipath() && connection.error().is_none());
        assert!(matches!(connection.state(), State::TimeWait | State::Closed));
    }
    world.run_until(seconds(200.0));
    assert!(world.hosts[0].connection().is_closed() && world.hosts[1].connection().is_closed());
}

#[test]
fn two_paths_add_up() {
    let lanes = vec![Lane::new(25, 20), Lane::new(25, 30)];
    let mut world = World::new(2, [second_path(), MultipathConfig::default()], lanes);
    world.hosts[1].to_write = 30_000_000;
    world.open();
    world.run_until(seconds(20.0));
    assert!(world.is_complete(), "{} read", world.hosts[0].read);
    let log_end = world.lanes.iter().map(|lane| lane.bytes[1]).collect::<Vec<_>>();
    assert!(log_end.iter().all(|&bytes| bytes > 10_000_000), "{log_end:?}");
}

#[test]
fn an_announced_address_is_joined() {
    let signal = MultipathConfig {
        endpoints: vec![Endpoint::signal(server_ip(1))],
        ..MultipathConfig::default()
    };
    let lanes = vec![Lane::new(25, 20), Lane::new(25, 30)];
    let mut world = World::new(3, [MultipathConfig::default(), signal], lanes);
    (world.hosts[0].to_write, world.hosts[1].to_write) = (300_000, 500_000);
    world.open();
    world.run_until(seconds(1.0));
    let remotes: Vec<_> = world.hosts[0].connection().paths().map(|path| path.remote.ip()).collect();
    assert_eq!(remotes, [server_ip(0), server_ip(1)]);
    world.run_until(seconds(20.0));
    assert!(world.is_complete());
}
