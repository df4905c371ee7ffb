//! Runs in an environment, in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;

use trackbed_core::event::{Disturbance, Event, Playback, Record};
use trackbed_core::packet::{Ecn, UdpDatagram};
use trackbed_core::{Seed, Time};
use trackbed_workloads::environment::{Change, Course};

use super::{REAL_LEAD, VIRTUAL_LEAD, course, under};
use crate::testing::{events, plan, samples};
use crate::topology::{Clients, Ends, Phones, Track, path_addresses};
use trackbed_archive::keep_timelines;
use trackbed_scenario::{Cell, Plan, SERVER_ADDRESSES};

fn lively(more: &str) -> String {
    format!(
        "protocol = [\"http1\", \"http2\", \"http3\", \"quic\", \"tcp\", \"tcp+tls\"]\n{more}\n\
         [link]\nrate = \"50 Mbit/s\"\n\
         [environment]\ndelay = \"30 ms\"\nreconnections = 2\nseek = \"30 %\"\nduration = \"6 s\"\n\
         [workload]\nkind = \"streaming\"\nduration = \"6 s\"\nends = \"elapsed\"\n\
         seeks = \"always\"\npiece-size = \"450 kB\"\n"
    )
}

/// The environment's changes that the clients followed, counted from the start: the second that
/// they sought, or nothing for a reconnection.
fn followed(records: &[Record]) -> Vec<(Time, Option<u32>)> {
    let start = records.iter().find(|record| record.event == Event::Started).unwrap().at;
    let step = |record: &Record| {
        let at = Time::ZERO + (record.at - start);
        match record.event {
            Event::Playback { step: Playback::Sought { second }, .. } => Some((at, Some(second))),
            Event::Disturbed { disturbance: Disturbance::Reconnection, .. } => Some((at, None)),
            _ => None,
        }
    };
    records.iter().filter_map(step).collect()
}

#[test]
fn all_protocols_and_handshakes_meet_the_same_timeline() {
    let plan = plan(&lively("handshake = [\"new\", \"resumed\", \"early\"]"));
    assert!(plan.cells.len() >= 12);
    for run in 0..2 {
        let timeline = plan.cells[0].environment.timeline(&Seed::of_run(plan.seed, run.into()));
        let expected: Vec<(Time, Option<u32>)> = timeline
            .moments()
            .iter()
            .filter_map(|moment| {
                let at = Time::ZERO + moment.at;
                match moment.change {
                    Change::Delay(_) => None,
                    Change::Reconnect => Some((at, None)),
                    Change::Seek(place) => Some((at, Some((place.as_f64() * 600.0) as u32))),
                }
            })
            .collect();
        assert!(expected.len() >= 2, "{expected:?}");
        for cell in 0..plan.cells.len() {
            assert_eq!(followed(&events(&plan, cell, run)), expected, "cell {cell}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let plan = plan(&lively(""));
    for cell in 0..plan.cells.len() {
        assert_eq!(events(&plan, cell, 0), events(&plan, cell, 0), "cell {cell}");
        assert_ne!(events(&plan, cell, 0), events(&plan, cell, 1), "cell {cell}");
    }
}

/// A scenario with a timeline of these lines.
fn under_delays(lines: &str, text: &str) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("delays.csv");
    std::fs::write(&file, format!("at,change,value\n{lines}")).unwrap();
    plan(&format!("{text}[environment]\ntimeline = {file:?}\n"))
}

/// A message every second over TCP, on a link with only a delay: the first takes a handshake of one
/// round trip plus one, the others a round trip each, by the current delay.
#[test]
fn packets_take_the_delay_that_the_timeline_says() {
    let plan = under_delays(
        "0 s,delay,10 ms\n1500 ms,delay,200 ms\n2500 ms,delay,40 ms\n",
        "protocol = \"tcp\"\n[link]\nmtu = \"1500 B\"\n\
         [workload]\nkind = \"messages\"\ncount = 4\nrate = \"1 /s\"\n",
    );
    let found = samples("rtt_ms", &events(&plan, 0, 0));
    let expected = [40.0, 20.0, 400.0, 80.0];
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-3;
    assert!(found.len() == 4 && found.iter().zip(&expected).all(near), "{found:?}");
}

/// A shrinking delay does not reorder packets: while it falls from 200 to 5 ms, a transfer loses
/// nothing and retransmits nothing.
#[test]
fn a_delay_that_shrinks_keeps_packets_in_order() {
    let plan = under_delays(
        "0 s,delay,200 ms\n1700 ms,delay,5 ms\n",
        "protocol = [\"tcp\", \"quic\"]\n[link]\nrate = \"20 Mbit/s\"\nqueue = \"10 MB\"\n\
         [workload]\nkind = \"bulk\"\nsize = \"3 MB\"\n",
    );
    for cell in 0..2 {
        let records = events(&plan, cell, 0);
        assert!(samples("completion_ms", &records)[0] > 1_700.0);
        assert_eq!(samples("retransmission_percent", &records), [0.0], "cell {cell}");
    }
}

#[test]
fn the_environment_begins_when_sessions_are_warm() {
    let plan = plan(&lively("handshake = [\"new\", \"resumed\"]"));
    let seed = Seed::of_run(1, 0);
    let begins = |name: &str| {
        let named = |cell: &&Cell| cell.endpoint.handshake.name() == name;
        let cell = plan.cells.iter().find(named).unwrap();
        [VIRTUAL_LEAD, REAL_LEAD].map(|lead| course(cell, &seed, lead).begin())
    };
    assert_eq!(begins("new"), [Time::ZERO; 2]);
    assert_eq!(begins("resumed"), [Time::ZERO + VIRTUAL_LEAD, Time::ZERO + REAL_LEAD]);
}

#[test]
fn timelines_are_kept_once_for_each_environment_and_can_be_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let drawn = plan(&lively("runs = 2").replace("seek = \"30 %\"", "seek = [\"30 %\", \"0 %\"]"));
    keep_timelines(&drawn, folder).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["cell-0-run-0.csv", "cell-0-run-1.csv", "cell-1-run-0.csv", "cell-1-run-1.csv"]
    );
    let file = folder.join("cell-0-run-1.csv").display().to_string();
    let environment = "delay = \"30 ms\"\nreconnections = 2\nseek = \"30 %\"\nduration = \"6 s\"";
    let given = plan(&lively("").replace(environment, &format!("timeline = {file:?}")));
    assert_eq!(followed(&events(&given, 3, 0)), followed(&events(&plan(&lively("")), 3, 1)));
}

/// The delay falls from 300 ms to 10 ms at one second: what leaves just after that overtakes what
/// left just before, or waits for it. An empty datagram takes 4.48 us at 50 Mbit/s.
#[test]
fn packets_overtake_one_another_where_the_scenario_says_so() {
    for (overtaking, expected) in [(false, [1_290_004, 1_290_004]), (true, [1_020_004, 1_290_004])]
    {
        let set = format!("[environment]\novertaking = {overtaking}\n");
        let plan = plan(&lively("").replace("[environment]\n", &set));
        let timeline = "at,change,value\n0 s,delay,300 ms\n1 s,delay,10 ms\n".parse().unwrap();
        let changed = under(&plan.cells[0], &Course::new(Time::ZERO, Arc::new(timeline)));
        let phones = vec![Phones { count: 1, access: None, priority: 1 }];
        let clients = Clients { networks: 1, phones };
        let mut track = Track::build(&changed, &clients, &Seed::of_run(1, 0), Ends::Hosts);
        let ends = [SERVER_ADDRESSES[0], path_addresses(0, 0)[0]].map(|ip| SocketAddr::new(ip, 9));
        for at in [990, 1_010] {
            let packet = UdpDatagram::emit(ends[0], ends[1], Ecn::NotCapable, &[]);
            track.network.send(Time::from_millis(at), track.server, packet);
        }
        track.network.advance(Time::from_millis(2_000));
        let arrived = std::iter::from_fn(|| track.network.poll_delivery());
        let arrived: Vec<u64> = arrived.map(|packet| packet.at.as_nanos() / 1_000).collect();
        assert_eq!(arrived, expected);
    }
}

/// Two changes of access point: QUIC resumes with early data from the new addresses, or migrates;
/// TCP opens a new connection each time.
#[test]
fn reconnections_may_change_the_address() {
    for (reconnect, connections) in [("new-address", [3, 3]), ("migration", [1, 3])] {
        let set = format!("[environment]\nreconnect = \"{reconnect}\"\n");
        let plan = plan(&lively("handshake = \"early\"").replace("[environment]\n", &set));
        for (protocol, expected) in ["quic", "http1"].into_iter().zip(connections) {
            let is_it = |cell: &Cell| cell.endpoint.protocol.name() == protocol;
            let records = events(&plan, plan.cells.iter().position(is_it).unwrap(), 0);
            let begun = records.iter().skip_while(|record| record.event != Event::Started);
            let early =
                |record: &&Record| matches!(record.event, Event::Secured { early: true, .. });
            assert_eq!(begun.filter(early).count(), expected, "{protocol} {reconnect}");
        }
    }
}
