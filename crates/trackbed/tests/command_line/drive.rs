//! `trackbed drive`: logs of modems become a drive.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use serde_json::Value;
use trackbed_core::Time;
use trackbed_linux::reaping::reap;
use trackbed_railway::motion::Track;
use trackbed_railway::radio::{LinkDirection, RadioTimeline, Service, timelines_from_text};

use crate::support::{Scratch, cases, has, wait_within};

/// What the model of a railway does to the links is exported as logs of three devices, imported, and ridden again.
#[test]
fn a_ride_that_was_exported_to_logs_and_imported_is_the_same_ride() {
    let scratch = Scratch::new();
    let railway = "length = \"8 km\"\nprofile = \"3gpp\"\ninterruption = \"500 ms\"\n";
    scratch.succeed(
        "handover build --rides 20 --direction forward -o line.geojson --set length=8km --set profile=3gpp \
         --set interruption=500ms",
    );
    let scenario = |radio: &str| {
        format!(
            "protocol = \"mptcp\"\ncongestion = \"lia\"\nruns = 1\n[radio]\n{radio}table = \"line.geojson\"\n\
             foresight = [\"none\", \"pha\", \"pha-d\"]\n[workload]\nkind = \"flow\"\nduration = \"24 s\"\n"
        )
    };
    scratch.write(
        "model.toml",
        &scenario(&format!(
            "{railway}gps-error = \"0 m\"\ngps-lag = \"0 ms\"\nduration = \"25 s\"\n"
        )),
    );
    scratch.succeed("run model.toml --out model");
    scratch.succeed("replay model 0 0 --out one");
    let timelines = timelines_from_text(&scratch.read("one/radio-timeline.csv")).unwrap();
    for timeline in &timelines {
        scratch.write(&format!("{}.csv", timeline.operator), &modem(timeline));
    }
    scratch.write("gps.csv", &positions(&scratch.read("one/radio-signal.csv")));
    scratch.succeed("drive import A=A.csv B=B.csv gps.csv -o drive.csv --table learnt.geojson");

    let again = timelines_from_text(&scratch.read("drive.csv")).unwrap();
    for (one, other) in timelines.iter().zip(&again) {
        let cells = |timeline: &RadioTimeline| {
            let handovers = timeline.handovers.iter();
            handovers.map(|one| (one.from.clone(), one.to.clone())).collect::<Vec<_>>()
        };
        assert!(cells(one) == cells(other) && !cells(one).is_empty(), "{one:?}");
        for (one, other) in one.handovers.iter().zip(&other.handovers) {
            for (one, other) in [(one.command, other.command), (one.end, other.end)] {
                let apart_s = one.as_secs_f64() - other.as_secs_f64();
                assert!(apart_s.abs() < 0.02, "{one:?} {other:?}");
            }
        }
    }
    scratch.write("again.toml", &scenario("timeline = \"drive.csv\"\n"));
    scratch.succeed("run again.toml --out again");
    let runs = ["model", "again"].map(|out| scratch.read(&format!("{out}/runs.jsonl")));
    for (one, other) in runs[0].lines().zip(runs[1].lines()) {
        let [one, other] = [one, other].map(|run| serde_json::from_str::<Value>(run).unwrap());
        for metric in ["goodput_mbps", "gap_ms"] {
            let of = |run: &Value| run["outcome"]["samples"][metric][0].as_f64().unwrap();
            let ratio = of(&one) / of(&other);
            assert!((ratio - 1.0).abs() < 0.05, "{metric}: {one} {other}");
        }
    }
    scratch.succeed("drive show drive.csv --table learnt.geojson -o drive.svg");
    assert!(scratch.read("drive.svg").contains("throughput (Mbit/s)"));
}

/// A line every 10 ms, at times since 1970.
fn modem(timeline: &RadioTimeline) -> String {
    let mut text = "time,throughput_mbps,rtt_ms,cell\n".to_owned();
    let held = timeline.spells(LinkDirection::Down, Service::Held);
    let rates = timeline.rates(LinkDirection::Down);
    let [up, down] = LinkDirection::BOTH.map(|direction| timeline.delays(direction));
    for step in 0..2_500 {
        let at = Time::from_millis(10 * step);
        let is_held = held.iter().any(|(from, until)| *from <= at && at < *until);
        let mbps = if is_held { 0.0 } else { last(&rates, at).as_bps() as f64 / 1e6 };
        let rtt = last(&up, at) + last(&down, at);
        let ended = timeline.handovers.iter().rev().find(|handover| handover.end <= at);
        let cell = ended.map_or(&timeline.handovers[0].from, |handover| &handover.to);
        let seconds = 1_767_225_600.0 + at.as_secs_f64();
        let _ = writeln!(text, "{seconds:.3},{mbps},{:.3},{cell}", rtt.as_secs_f64() * 1e3);
    }
    text
}

fn last<T: Copy>(rows: &[(Time, T)], at: Time) -> T {
    rows[rows.partition_point(|(from, _)| *from <= at) - 1].1
}

/// The positions of the signal's table, on the model's straight track.
fn positions(signal: &str) -> String {
    let track = Track::straight(8_000.0).unwrap();
    let mut text = "time,latitude,longitude\n".to_owned();
    let fields: Vec<&str> = signal.lines().nth(1).unwrap().split(',').collect();
    let [at_ms, chainage_m]: [f64; 2] = [0, 2].map(|at| fields[at].parse().unwrap());
    for tenth in 0..250 {
        let since_s = f64::from(tenth) / 10.0;
        // At 300 km/h.
        let place = track.coordinates_at(chainage_m + (since_s - at_ms / 1e3) * 300.0 / 3.6);
        let seconds = 1_767_225_600.0 + since_s;
        let (latitude, longitude) = (place.latitude_deg(), place.longitude_deg());
        let _ = writeln!(text, "{seconds:.4},{latitude:.9},{longitude:.9}");
    }
    text
}

#[test]
fn logs_that_make_no_drive_are_refused_with_the_line_or_the_remedy() {
    let scratch = Scratch::new();
    scratch.write("b.csv", "time,mbps\n11,20\n12,21\n");
    scratch.write("c.csv", "time,rtt_ms,cell\n36000,40,1\n36001,90,2\n36002,90,2\n");
    for row in cases("drive") {
        let [logs, text, told, ref read @ ..] = row[..] else { panic!("{row:?}") };
        scratch.write("a.csv", text);
        let status = if read.is_empty() { 2 } else { 0 };
        scratch.trackbed(&format!("drive import {logs} -o d.csv")).says(status, &[told]);
        if let [_, parts @ ..] = read {
            has(&scratch.read("d.csv"), parts);
        }
    }
    // Foresight by times needs handovers, and by a table a table.
    scratch.write("a.csv", "0\n300\n900\n2500\n");
    scratch.succeed("drive import A=a.csv B=a.csv -o d.csv");
    let ride = |foresight: &str| {
        let radio =
            "--set radio.timeline=d.csv --unset radio.duration --unset radio.profile --runs 1";
        scratch.trackbed(&format!(
            "run train --part foresight {radio} --set radio.foresight={foresight}"
        ))
    };
    ride("oracle").says(2, &["has no handovers"]);
    ride("pha").says(2, &["does not contain the train's position"]);
    scratch.write("a.csv", "time,mbps,cell\n0,20,1\n1,20,2\n2,19,2\n");
    scratch.succeed("drive import A=a.csv -o d.csv");
    ride("reactive").says(2, &["no other path to use"]);
    let note = "the drive has 1 handover in 2 s; a run rides as much of it as its workload lasts";
    ride("none").says(0, &[note]);
    let flapping: String = (0..100_002).map(|at| format!("{at},20,{}\n", at % 2)).collect();
    scratch.write("a.csv", &format!("time,mbps,cell\n{flapping}"));
    let told = ["line 100003: more than 100,000 changes of the cell"];
    scratch.trackbed("drive import A=a.csv -o d.csv").says(2, &told);
}

/// A log is averaged while it is read: to and fro at 80 m/s past a station every 1,500 m, for 14 hours.
#[test]
#[ignore = "thorough: minutes"]
#[expect(clippy::zombie_processes, reason = "it is reaped together with its usage")]
fn ten_million_lines_of_a_log_take_at_most_200_mb() {
    let scratch = Scratch::new();
    let mut log = BufWriter::new(File::create(scratch.path("A.csv")).unwrap());
    writeln!(log, "time,latitude,longitude,throughput_mbps,rtt_ms,cell").unwrap();
    for line in 0..10_000_000_u32 {
        let along = f64::from(line) * 0.4 % 200_000.0;
        let metres = along.min(200_000.0 - along);
        let (seconds, rest, cell) = (line / 200, line % 200 * 5, (metres / 1_500.0).floor());
        let (rate, rtt, degrees) = (20 + line % 7, 40 + line % 5, metres / 111_319.5);
        writeln!(log, "{seconds}.{rest:03},0,{degrees:.7},{rate},{rtt},{cell}").unwrap();
    }
    log.into_inner().unwrap();
    let import = scratch.command("drive import A=A.csv -o line.csv").spawn().unwrap();
    let mut ended = None;
    wait_within(600, "the import ends", || {
        ended = reap(import.id()).unwrap();
        ended.is_some()
    });
    let ended = ended.unwrap();
    assert!(ended.status.success() && ended.usage.memory_bytes < 200_000_000, "{ended:?}");
}
