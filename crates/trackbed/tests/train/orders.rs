//! One drive, once in virtual time and once with the daemon in a namespace: both give the same orders.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{Block, parse_pcapng};
use trackbed_core::Packet;
use trackbed_railway::handover::{Learner, RideRecord, Settings};
use trackbed_railway::motion::{Direction, Ride, SpeedProfile, Track};
use trackbed_tcp::Segment;

use crate::gpsd::{Behaviour, Gpsd};
use crate::railway::Railway;
use crate::rides::Daemon;
use crate::support::{Scratch, wait_within};
use crate::{alone, file, read};

/// An order: the operator, whether its path becomes a backup, and where the train is, in metres.
type Order = (&'static str, bool, f64);

/// The third range of B begins before that of A ends, so that B must wait.
const RANGES: [(&str, f64, f64); 4] =
    [("A", 250.0, 350.0), ("B", 450.0, 500.0), ("A", 700.0, 800.0), ("B", 750.0, 900.0)];

const LENGTH_M: f64 = 1_200.0;
const SPEED_M_S: f64 = 300.0 / 3.6;

#[test]
#[ignore = "thorough: real time"]
fn the_daemon_and_a_simulated_train_give_the_same_orders_on_one_drive() {
    let Some(_alone) = alone() else { return };
    let track = Arc::new(Track::straight(LENGTH_M).unwrap());
    let mut learner = Learner::new(Arc::clone(&track), Settings::default()).unwrap();
    let mut record = RideRecord::new(Direction::Forward);
    RANGES
        .iter()
        .for_each(|(operator, from_m, until_m)| record.handover(operator, *from_m, *until_m));
    learner.ride(&record);
    let table = file("orders.geojson");
    learner.table().save(&table).unwrap();

    let railway = Railway::new();
    let ride = Ride::new(track, SpeedProfile::constant(SPEED_M_S).unwrap(), Direction::Forward);
    let _gpsd = Gpsd::start(&railway.train, &ride, railway.clock, Behaviour::Honest);
    let (table, state) = (table.to_str().unwrap().to_owned(), file("orders.json"));
    let arguments = ["--table", &table, "--state", state.to_str().unwrap(), "--log", "json"];
    let daemon = Daemon::start(&railway, &arguments, "orders.log");
    let simulated = simulated(&table);
    wait_within(30, "the last order", || of_daemon().len() >= simulated.len());
    assert!(daemon.end());
    let real = of_daemon();
    assert_eq!(simulated.len(), 2 * RANGES.len(), "{simulated:?}");
    assert_eq!(real.len(), simulated.len(), "{real:?} {simulated:?}");
    for (real, simulated) in real.iter().zip(&simulated) {
        let apart = (real.2 - simulated.2).abs();
        let same = (real.0, real.1) == (simulated.0, simulated.1);
        // Decisions are 0.8 m apart, and this machine may be busy for a tenth of a second.
        assert!(same && apart < 10.0, "{real:?} {simulated:?}");
    }
}

/// The orders in the daemon's log.
fn of_daemon() -> Vec<Order> {
    let log = read("orders.out") + &read("orders.log");
    let events = log.lines().filter_map(|line| serde_json::from_str(line).ok());
    let flags = events.filter(|event: &serde_json::Value| event["event"] == "flag");
    let order = |event: serde_json::Value| {
        let operator = if event["operator"] == "A" { "A" } else { "B" };
        (operator, event["backup"] == true, event["chainage_m"].as_f64().unwrap_or(f64::NAN))
    };
    flags.map(order).collect()
}

/// The orders of PHA-D in virtual time: the MP_PRIO options that the train sends.
fn simulated(table: &str) -> Vec<Order> {
    let scratch = Scratch::new();
    let text = format!(
        "protocol = \"mptcp\"\nruns = 1\n[radio]\nlength = \"{LENGTH_M} m\"\nduration = \"15 s\"\n\
         foresight = \"pha-d\"\nlead = \"300 ms\"\ntable = {table:?}\ngps-error = \"0 m\"\n\
         gps-lag = \"0 ms\"\n[workload]\nkind = \"flow\"\nduration = \"13 s\"\n"
    );
    scratch.write("orders.toml", &text);
    scratch.succeed("run orders.toml --out out");
    scratch.succeed("replay out 0 0 --out one");
    let capture = fs::read(scratch.path("one/phone.pcapng")).unwrap();
    let (mut orders, mut begin) = (Vec::new(), None);
    let sections = parse_pcapng(&capture).unwrap().1.sections;
    for block in sections.into_iter().flat_map(|section| section.blocks) {
        let Block::EnhancedPacket(block) = block else { continue };
        let at = Duration::from_nanos(u64::from(block.ts_high) << 32 | u64::from(block.ts_low));
        let begin = *begin.get_or_insert(at);
        let packet = Packet::parse(block.packet_data().to_vec().into()).unwrap();
        let Ok(segment) = Segment::parse(&packet) else { continue };
        let Some(backup) = segment.options.multipath.and_then(|options| options.priority) else {
            continue;
        };
        let operator = match segment.source.ip().to_string().as_str() {
            "10.1.0.1" => "A",
            "100.65.0.1" => "B",
            // What it echoes.
            _ => continue,
        };
        orders.push((operator, backup, SPEED_M_S * (at - begin).as_secs_f64()));
    }
    orders
}
