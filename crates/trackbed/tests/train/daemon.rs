//! Failures around the daemon: every flag is cleared.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::process::Signal;
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use trackbed_core::Time;
use trackbed_emulator::namespace::set_sysctl;
use trackbed_railway::handover::{Learner, RideRecord, Settings};
use trackbed_railway::motion::Direction;

use crate::gpsd::{Behaviour, Gpsd};
use crate::railway::Railway;
use crate::ride::ride;
use crate::rides::Daemon;
use crate::support::{Ended, wait_within};
use crate::{alone, file, path, read, trackbed};

/// A railway, and a table with one range of A, which the train reaches after half a second and leaves after a
/// minute.
struct Stage {
    railway: Railway,
    name: &'static str,
    _gpsd: Option<Gpsd>,
}

impl Stage {
    fn new(name: &'static str, behaviour: Behaviour) -> Stage {
        let mut stage = Stage::without_gpsd(name);
        let (train, clock) = (&stage.railway.train, stage.railway.clock);
        stage._gpsd = Some(Gpsd::start(train, &ride(), clock, behaviour));
        stage
    }

    fn without_gpsd(name: &'static str) -> Stage {
        let railway = Railway::new();
        let ride = ride();
        let mut learner = Learner::new(Arc::clone(ride.track()), Settings::default()).unwrap();
        for _ in 0..3 {
            let mut record = RideRecord::new(Direction::Forward);
            record.handover("A", 1_100.0, 6_000.0);
            record.handover("B", 15_000.0, 15_100.0);
            learner.ride(&record);
        }
        learner.table().save(&file(&format!("{name}.geojson"))).unwrap();
        file(&format!("{name}.json"));
        Stage { railway, name, _gpsd: None }
    }

    fn arguments(&self) -> [String; 4] {
        let file = |end: &str| path(&format!("{}.{end}", self.name)).display().to_string();
        ["--table".to_owned(), file("geojson"), "--state".to_owned(), file("json")]
    }

    fn start(&self, more: &[&str]) -> Daemon {
        let own = self.arguments();
        let all: Vec<&str> = own.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Daemon::start(&self.railway, &all, &format!("{}.log", self.name))
    }

    /// Runs the daemon with an option that makes it exit.
    fn run(&self, more: &[&str]) -> Ended {
        let mut command = trackbed(&["phad", "--operator", "A=10.10.0.1", "--operator", "B=id:2"]);
        command.args(self.arguments()).args(more);
        self.railway.train.run(|| Ended::of(&mut command)).unwrap()
    }

    fn restore(&self) -> String {
        let mut command = trackbed(&["phad", "--restore"]);
        command.args(&self.arguments()[2..]);
        let ended = self.railway.train.run(|| Ended::of(&mut command)).unwrap();
        ended.says(0, &[]);
        ended.stdout
    }

    fn until_flagged(&self) {
        wait_within(30, "the flag", || self.railway.backups() == [true, false]);
    }

    fn log(&self) -> String {
        read(&format!("{}.log", self.name))
    }
}

#[test]
#[ignore = "thorough: real time"]
fn what_a_killed_daemon_has_left_is_taken_back_by_the_next_one_or_on_request() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::new("killed", Behaviour::Honest);
    let daemon = stage.start(&[]);
    stage.until_flagged();
    drop(daemon);
    assert_eq!(stage.railway.backups(), [true, false], "nothing can clear a flag after a kill");
    assert_eq!(stage.restore(), "backup flags cleared: 1\n");
    assert_eq!(stage.railway.backups(), [false; 2]);
    assert_eq!(stage.restore(), "backup flags cleared: 0\n");

    let daemon = stage.start(&[]);
    stage.until_flagged();
    drop(daemon);
    let daemon = stage.start(&[]);
    wait_within(30, "the restoration", || {
        stage.log().contains("backup flags left by a crash and cleared: 1")
    });
    stage.until_flagged();
    stage.run(&[]).says(2, &["another phad"]);
    assert!(daemon.end(), "in good order");
    assert_eq!(stage.railway.backups(), [false; 2]);
}

#[test]
#[ignore = "thorough: real time"]
fn a_dry_run_says_what_it_would_do_and_leaves_the_kernel_alone() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::new("dry", Behaviour::Honest);
    let daemon = stage.start(&["--dry-run", "--log", "json"]);
    wait_within(30, "the dry run", || read("dry.out").contains("\"dry_run\":true"));
    let log = read("dry.out");
    let events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let flag = events.iter().find(|event| event["event"] == "flag").unwrap();
    assert_eq!((&flag["operator"], &flag["backup"]), (&"A".into(), &true.into()));
    assert_eq!((&flag["from_m"], &flag["until_m"]), (&1_090.0.into(), &6_010.0.into()));
    assert_eq!(stage.railway.backups(), [false; 2]);
    assert!(daemon.end());
}

#[test]
#[ignore = "thorough: real time"]
fn when_gpsd_vanishes_the_flag_goes_and_when_it_babbles_positions_count_all_the_same() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::new("vanishes", Behaviour::Vanishes(2_500));
    let daemon = stage.start(&["--fix-timeout", "1 s"]);
    stage.until_flagged();
    wait_within(30, "the end of the flag", || stage.railway.backups() == [false; 2]);
    // The flag goes before it is said why.
    for said in
        ["operator A is no longer a backup: no position received", "no positions from gpsd at"]
    {
        wait_within(10, said, || stage.log().contains(said));
    }
    assert!(daemon.end());

    let stage = Stage::new("babbles", Behaviour::Babbles);
    let daemon = stage.start(&[]);
    stage.until_flagged();
    assert!(daemon.end());
    assert_eq!(stage.railway.backups(), [false; 2]);
}

/// gpsd itself, to which gpsfake replays what a receiver would have said on the ride.
#[test]
#[ignore = "thorough: real time"]
fn the_real_gpsd_is_understood() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::without_gpsd("gpsfake");
    let log = file("gpsfake.nmea");
    std::fs::write(&log, sentences()).unwrap();
    let mut gpsfake = Command::new("gpsfake");
    gpsfake.args(["-q", "-c", "0.05", "-P", "2947"]).arg(&log);
    gpsfake.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut gpsfake) = stage.railway.train.run(|| gpsfake.spawn()).unwrap() else {
        return eprintln!("SKIPPED: there is no gpsfake (Debian package gpsd-clients)");
    };
    let daemon = stage.start(&[]);
    stage.until_flagged();
    assert!(daemon.end());
    // This ends its gpsd too.
    rustix::process::kill_process(rustix::process::Pid::from_child(&gpsfake), Signal::TERM)
        .unwrap();
    gpsfake.wait().unwrap();
    assert_eq!(stage.railway.backups(), [false; 2]);
}

/// Ten positions a second (RMC and GGA of NMEA 0183), for a minute.
fn sentences() -> String {
    let (ride, mut text) = (ride(), String::new());
    for tenth in 0..590_u64 {
        let place = ride.coordinates(Time::from_millis(100 * tenth));
        let (degrees, time) = (place.longitude_deg(), 120_000.0 + tenth as f64 / 10.0);
        let minutes = (degrees - degrees.trunc()) * 60.0;
        let east = format!("{:03}{minutes:09.6},E", degrees.trunc());
        // A knot is 1,852 m per hour.
        let knots = 300.0 / 1.852;
        for body in [
            format!("GPRMC,{time:09.2},A,0000.00000,N,{east},{knots:.2},90.0,010526,,,A"),
            format!("GPGGA,{time:09.2},0000.00000,N,{east},1,10,0.8,100.0,M,0.0,M,,"),
        ] {
            let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
            text += &format!("${body}*{sum:02X}\r\n");
        }
    }
    text
}

#[test]
#[ignore = "thorough: real time"]
fn a_damaged_table_leaves_the_old_one_in_force_and_a_good_one_takes_its_place() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::new("tables", Behaviour::Honest);
    let daemon = stage.start(&["--metrics", "127.0.0.1:9472"]);
    stage.until_flagged();
    let table = path("tables.geojson");
    let good = std::fs::read_to_string(&table).unwrap();
    for damaged in ["", "{", &good[..good.len() / 2]] {
        let before = stage.log().matches("still using the previous one").count();
        std::fs::write(&table, damaged).unwrap();
        daemon.signal(Signal::HUP);
        wait_within(30, "the refusal", || {
            stage.log().matches("still using the previous one").count() > before
        });
    }
    assert_eq!(stage.railway.backups(), [true, false]);
    let figures = stage.railway.figures("127.0.0.1:9472");
    assert!(figures.contains("trackbed_phad_flagged{operator=\"A\"} 1\n"), "{figures}");
    assert!(figures.contains("trackbed_phad_position_known 1\n"), "{figures}");
    // The range is gone from the new table, and stays until it is passed; the table is read without
    // a signal.
    let before = stage.log().matches("2 ranges along").count();
    std::fs::write(&table, &good).unwrap();
    wait_within(30, "the new table", || stage.log().matches("2 ranges along").count() > before);
    assert!(daemon.end());
    assert_eq!(stage.railway.backups(), [false; 2]);
}

#[test]
#[ignore = "thorough: real time"]
fn what_is_missing_is_said_with_its_remedy() {
    let Some(_alone) = alone() else { return };
    let stage = Stage::new("missing", Behaviour::Honest);
    let good = stage.run(&["--check"]);
    good.says(0, &[]);
    let text = good.stdout;
    assert!(text.contains("operator A at 10.10.0.1: 10.10.0.1 (id 1) is up"), "{text}");
    let text = stage.run(&["--once"]).stdout;
    assert!(text.contains(" m/s, forward") && text.contains("operator B: next range"), "{text}");

    stage.run(&["--check", "--operator", "C=wwan2"]).says(2, &["no operator \"C\""]);
    stage.run(&["--check", "--operator", "A=wwan2"]).says(2, &["given twice"]);
    let own = stage.arguments();
    let elsewhere = |more: &[&str], part: &str| {
        let mut command = trackbed(&["phad", "--check", "--operator", "A=wwan0"]);
        command.args(["--operator", "B=wwan1"]).args(more);
        stage.railway.train.run(|| Ended::of(&mut command)).unwrap().says(2, &[part]);
    };
    elsewhere(&["--table", "/nowhere", "--state", &own[3]], "/nowhere");
    elsewhere(&["--table", &own[1], "--state", "/proc/state"], "--state");
    elsewhere(&[], "trackbed handover build");
    let no_right = thread::scope(|scope| {
        let run = || {
            stage.railway.train.enter().unwrap();
            // For this thread and its children.
            remove_capability_from_bounding_set(CapabilitySet::NET_ADMIN).unwrap();
            let own = stage.arguments();
            let operators = ["phad", "--check", "--operator", "A=wwan0", "--operator", "B=wwan1"];
            Ended::of(trackbed(&operators).args(own))
        };
        scope.spawn(run).join().unwrap()
    });
    if rustix::process::getuid().is_root() {
        assert!(no_right.stderr.contains("CAP_NET_ADMIN"), "{}", no_right.stderr);
    }
    stage.railway.train.run(|| set_sysctl("mptcp/enabled", "0").unwrap()).unwrap();
    stage.run(&["--check"]).says(2, &["net.mptcp.enabled=1"]);
}
