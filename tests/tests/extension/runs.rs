//! Runs each extension and checks its behaviour.

use std::net::SocketAddr;
use std::time::Duration;

use trackbed_core::event::Record;
use trackbed_core::packet::{Ecn, UdpDatagram};
use trackbed_core::parameter::{Arguments, Parameter};
use trackbed_core::{Bitrate, Event, Seed, Time};
use trackbed_lab::run::Runner;
use trackbed_net::models::Rate;
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};
use trackbed_protocols::{Protocol as _, TransportParameters};
use trackbed_scenario::{self as scenario, Cell, Source, expectation};
use trackbed_substrate::Cancel;
use trackbed_tcp::Config;
use trackbed_tcp::multipath::{Endpoint, MultipathConfig};

use crate::paths::{Lane, World, client_ip};
use crate::track::{Exchange, Fate, Link, Track};
use crate::{congestion, link_model, protocol, queue, scheduler, workload};

/// One data packet of a thousand is lost, at a window of 79 segments, an eighth of which is 9. In the
/// round trip after it, 70 segments are sent. The others raise the window by one per hundred, so from 70
/// to 79.3, and it begins anew. That takes 1 + 100/70 + 100/71 + ... + 100/78 + 30/79 = 13.6 round trips
/// of 73.7 segments each.
#[test]
fn a_congestion_controller_has_the_window_that_its_paper_says() {
    let config = Config { congestion: &congestion::ENTRY, batching: false, ..Config::default() };
    let fast = || Link::new(100_000, 50, usize::MAX);
    let lossy = fast().with_fate(Fate::Every(1_000, 0));
    let mut track = Track::new([config.clone(), config], [fast(), lossy]);
    let mut exchange = Exchange::begin(&mut track, usize::MAX);
    let [before, after] = [50, 350].map(|it| exchange.run_until(Time::from_millis(it * 1_000)));
    let window = (after - before) as f64 / 300.0 * 0.1 / 1_448.0;
    assert!((window / 73.7 - 1.0).abs() < 0.01, "{window}");
}

#[test]
fn a_scheduler_keeps_to_the_first_path_until_it_is_gone() {
    let endpoints = vec![Endpoint::subflow(client_ip(1))];
    let config =
        MultipathConfig { scheduler: &scheduler::ENTRY, endpoints, ..MultipathConfig::default() };
    let mut lanes = vec![Lane::new(10, 40), Lane::new(10, 10)];
    lanes[0].outages = vec![(Time::from_millis(5_000), Time::MAX)];
    let mut world = World::new(1, [config.clone(), config], lanes);
    world.hosts[1].to_write = 20_000_000;
    world.open();
    world.run_until(Time::from_millis(5_000));
    let [first, second] = [&world.lanes[0], &world.lanes[1]].map(|lane| lane.bytes[1]);
    assert!(first > 5_000_000 && second < 1_000, "{first} and {second}");
    world.run_until(Time::from_millis(60_000));
    assert!(world.is_complete(), "{} read", world.hosts[0].read);
}

/// The first packet is being sent, and of the others the last three wait.
#[test]
fn a_queue_keeps_the_packets_that_came_last() {
    let queue = (queue::ENTRY.read)(&arguments(queue::ENTRY.parameters, "queue_packets", "3"));
    let link = LinkSpec::new().then(Rate::new(Bitrate::from_mbps(1), queue.unwrap()));
    assert_eq!(delivered(&link, &[0; 10]), [0, 7, 8, 9]);
}

#[test]
fn a_link_model_loses_what_follows_a_pause() {
    let entry = &link_model::ENTRY;
    let model = (entry.read)(&arguments(entry.parameters, "pause", "100 ms")).unwrap();
    let link = LinkSpec::new().then(model);
    assert_eq!(delivered(&link, &[0, 50, 149, 249, 250, 400]), [0, 1, 2, 4]);
}

#[test]
fn a_workload_takes_the_round_trips_that_it_expects() {
    let given = arguments(workload::ENTRY.parameters(), "count", "7");
    let mut cell = cell("protocol = \"tcp\"\n[workload]\nkind = \"messages\"");
    cell.workload = (workload::ENTRY.prepare)(&given, ".".as_ref()).unwrap().into();
    let expected = expectation::of(&cell).unwrap();
    assert_eq!(expected.round_trips, 8);
    assert_eq!(completion(&cell), expected.completion);
}

/// Each exchange takes a round trip to connect and one to be answered.
#[test]
fn a_protocol_carries_a_workload() {
    let mut cell = cell("protocol = \"tcp\"\n[workload]\nkind = \"messages\"\ncount = 7");
    cell.endpoint.protocol = &protocol::Once;
    assert_eq!(completion(&cell), Duration::from_millis(14 * 20));
    // A message has 355 B.
    let given = arguments(&protocol::Once.parameters(), "once-longest", "354 B");
    cell.endpoint.transport = TransportParameters::read(&given).unwrap();
    assert!(Runner::new(Cancel::default()).events(&cell, 1, 0).unwrap().iter().any(failed));
}

fn arguments(parameters: &[Parameter], name: &str, text: &str) -> Arguments {
    let parameter = parameters.iter().find(|parameter| parameter.name == name).unwrap();
    Arguments::read(parameters, &[(name, parameter.kind.parse(text).unwrap())]).unwrap()
}

/// The numbers of the packets that come out of `link` if they go in at `times`, in milliseconds.
fn delivered(link: &LinkSpec, times: &[u64]) -> Vec<u8> {
    let mut builder = NetworkBuilder::default();
    let (client, server) = (builder.host("client"), builder.host("server"));
    let [from, to]: [SocketAddr; 2] = ["10.0.0.1:1", "10.0.0.2:1"].map(|end| end.parse().unwrap());
    let ends = (End::new(client, [from.ip()]), End::new(server, [to.ip()]));
    builder.connect(ends.0, ends.1, Duplex::new(link, link, &Seed::of_run(1, 0)));
    let mut network = builder.build().unwrap();
    for (number, at) in (0..).zip(times) {
        let packet = UdpDatagram::emit(from, to, Ecn::NotCapable, &[number; 1_000]);
        network.send(Time::from_millis(*at), client, packet);
    }
    while let Some(at) = network.next_wake() {
        network.advance(at);
    }
    let packets = std::iter::from_fn(|| network.poll_delivery());
    packets.map(|delivery| *delivery.packet.bytes().last().unwrap()).collect()
}

/// The cell of a scenario in which a round trip takes 20 ms and bits take no time.
fn cell(text: &str) -> Cell {
    let text = text.replacen("[workload]", "[link]\ndelay = \"10 ms\"\n\n[workload]", 1);
    let plan = scenario::load(&Source::recorded("extension", &text), &[]);
    plan.unwrap_or_else(|error| panic!("{error}")).cells.remove(0)
}

/// How long the measured part of a run takes, in which nothing fails.
fn completion(cell: &Cell) -> Duration {
    let records = Runner::new(Cancel::default()).events(cell, 1, 0).unwrap();
    assert_eq!(records.iter().find(|record| failed(record)), None);
    let at = |event: &Event| records.iter().find(|record| record.event == *event).unwrap().at;
    at(&Event::Finished).since(at(&Event::Started))
}

fn failed(record: &Record) -> bool {
    matches!(record.event, Event::Failed { .. })
}
