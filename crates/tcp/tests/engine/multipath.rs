//! Multipath TCP between two engines: handshakes, data on several paths, ends.

use crate::paths::{Lane, World, client_ip, seconds, server_ip};
use crate::track::*;

fn second_path() -> MultipathConfig {
    MultipathConfig { endpoints: vec![Endpoint::subflow(client_ip(1))], ..Default::default() }
}

#[test]
fn one_path_carries_both_directions_to_their_ends() {
    let mut world = World::new(1, Default::default(), vec![Lane::new(10, 5)]);
    world.begin([300_000, 500_000], Time::ZERO);
    world.finish(seconds(30));
    for host in &mut world.hosts {
        let connection = host.connection();
        assert!(connection.is_multipath() && connection.error().is_none());
        assert!(matches!(connection.state(), State::TimeWait | State::Closed));
    }
    world.run_until(seconds(200));
    assert!(world.hosts[0].connection().is_closed() && world.hosts[1].connection().is_closed());
}

#[test]
fn an_announced_address_is_joined() {
    let signal = MultipathConfig {
        endpoints: vec![Endpoint::signal(server_ip(1))],
        ..MultipathConfig::default()
    };
    let lanes = vec![Lane::new(25, 20), Lane::new(25, 30)];
    let mut world = World::new(3, [MultipathConfig::default(), signal], lanes);
    world.begin([300_000, 500_000], seconds(1));
    let remotes: Vec<_> = world.hosts[0].connection().paths().map(|it| it.remote.ip()).collect();
    assert_eq!(remotes, [server_ip(0), server_ip(1)]);
    world.finish(seconds(20));
}

/// Everything that went over the paths of a lossy transfer.
fn capture(seed: u64) -> Vec<(Time, Packet)> {
    let lane = |delay_ms| Lane { loss: Ratio::from_parts(1, 50), ..Lane::new(10, delay_ms) };
    let config = || MultipathConfig { opportunistic: true, ..second_path() };
    let mut world = World::new(seed, [config(), config()], vec![lane(10), lane(40)]);
    world.capture = Some(Vec::new());
    world.begin([200_000, 600_000], Time::ZERO);
    world.finish(seconds(60));
    world.capture.take().expect("it was asked for")
}

#[test]
fn the_same_seed_gives_the_same_packets_and_another_others() {
    let once = capture(5);
    assert_eq!(once, capture(5));
    assert_ne!(once, capture(6));
}

/// The client loses an address.
fn lose_address(world: &mut World, number: usize) {
    world.hosts[0].connection().remove_address(world.now, client_ip(number));
    world.work(0);
}

/// The client gains an address.
fn gain_address(world: &mut World, number: usize) {
    world.hosts[0].connection().add_address(world.now, Endpoint::subflow(client_ip(number)));
    world.work(0);
}

#[test]
fn a_lost_path_costs_no_byte_and_is_opened_again() {
    let config = MultipathConfig { rejoin: Some(Duration::from_millis(200)), ..second_path() };
    let lanes = vec![Lane::new(10, 10), Lane::new(10, 20)];
    let mut world = World::new(9, [config, MultipathConfig::default()], lanes);
    world.begin([20_000_000, 20_000_000], seconds(2));
    // The one that the connection was opened from.
    lose_address(&mut world, 0);
    world.run_until(seconds(4));
    let ids = |world: &mut World| -> Vec<u32> {
        world.hosts[0].connection().paths().map(|path| path.id.0).collect()
    };
    assert_eq!(ids(&mut world), [1]);
    gain_address(&mut world, 0);
    world.run_until(seconds(6));
    assert_eq!(ids(&mut world), [1, 2]);
    world.finish(seconds(60));
}

#[test]
fn a_connection_without_a_path_waits_for_one() {
    let lanes = vec![Lane::new(10, 10), Lane::new(10, 20)];
    let mut world = World::new(10, Default::default(), lanes);
    world.begin([0, 5_000_000], seconds(1));
    // The removed address does not respond.
    world.lanes[0].outages.push((world.now, Time::MAX));
    lose_address(&mut world, 0);
    world.run_until(seconds(3));
    assert_eq!(world.hosts[0].connection().paths().count(), 0);
    assert!(world.hosts[0].connection().error().is_none());
    gain_address(&mut world, 1);
    world.finish(seconds(60));
}

#[test]
fn an_abort_reaches_the_peer_on_every_path() {
    let lanes = vec![Lane::new(10, 10), Lane::new(10, 20)];
    let mut world = World::new(11, [second_path(), MultipathConfig::default()], lanes);
    world.begin([0, 50_000_000], seconds(1));
    world.hosts[0].connection().abort(world.now);
    world.flush(0);
    world.run_until(seconds(2));
    assert_eq!(world.hosts[0].connection().error(), Some(TcpError::Aborted));
    assert_eq!(world.hosts[1].connection().error(), Some(TcpError::Reset));
    assert!(world.hosts.iter_mut().all(|host| host.connection().paths().count() == 0));
}
