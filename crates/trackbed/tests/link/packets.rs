//! The effects of the link on packets. The tests need programs on both sides, so each link is inside another one:
//! the outside of the inner link is the inside of the outer link.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::roles::play;
use crate::{PROGRAM, User, link, users};

/// Runs `outside` in front of the inner link (which has no address there until the link is up) and `inside` behind it, and returns their
/// output.
fn between(user: User, outside: &str, options: &str, inside: &str) -> String {
    let program = PROGRAM.display();
    // An `echo` does not end; it is killed with its namespace.
    let end = if outside.starts_with("echo") { "" } else { "wait $first" };
    let (outside, inside) = (play(outside), play(inside));
    let script =
        format!("{outside} & first=$!; sleep 0.3; {program} link {options} -- {inside}; {end}");
    let (status, text) = link(user, &["--", "sh", "-c", &script]);
    assert_eq!(status, 0, "{text}");
    text
}

/// A folder that every user may write to.
pub fn open_folder() -> tempfile::TempDir {
    let all = fs::Permissions::from_mode(0o777);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(&folder, all).unwrap();
    folder
}

/// The numbers after a word, line by line.
fn numbers(text: &str, word: &str) -> Vec<u64> {
    let line = |line: &str| line.strip_prefix(word)?.trim().split(' ').next()?.parse().ok();
    text.lines().filter_map(line).collect()
}

#[test]
#[ignore = "thorough: real time"]
fn a_round_trip_takes_both_delays() {
    for user in users() {
        for (any, address, options) in [
            ("0.0.0.0", "100.72.0.1", "--delay 20ms"),
            ("::", "fd74:7261:2000::1", "--up delay=5ms --down delay=35ms"),
        ] {
            let (echo, ping) = (format!("echo {any}"), format!("ping {address} 10"));
            let times = numbers(&between(user, &echo, options, &ping), "rtt");
            assert_eq!(times.len(), 10);
            assert!(times.iter().all(|micros| *micros >= 40_000), "{times:?}");
        }
    }
}

#[test]
#[ignore = "thorough: real time"]
fn every_fifth_packet_is_lost_where_the_link_says_so() {
    for user in users() {
        let options = "--up loss={periodic=5} --rate 20mbit";
        let text = between(user, "count 0.0.0.0 500", options, "flood 100.72.0.1 50 500");
        assert_eq!(numbers(&text, "counted"), [40]);
    }
}

#[test]
#[ignore = "thorough: real time"]
fn packets_leave_no_faster_than_the_rate() {
    for user in users() {
        let options = "--rate 10mbit --queue '1000 packets'";
        let text = between(user, "count 0.0.0.0 500", options, "flood 100.72.0.1 200 1222");
        assert_eq!(numbers(&text, "counted"), [200]);
        // 1,250 B with headers take 1 ms; the first one is not counted.
        let line = text.lines().find(|line| line.starts_with("counted")).unwrap();
        let micros: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        // The first may have been read late; nothing else can make the time shorter.
        assert!(micros > 150_000, "{micros}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn settings_change_at_their_time() {
    for user in users() {
        let options = "--delay 1ms --at '500ms up.delay=60ms'";
        let times = numbers(&between(user, "echo 0.0.0.0", options, "ping 100.72.0.1 300"), "rtt");
        let slow = times.iter().position(|micros| *micros >= 60_000).expect("the delay has grown");
        assert!(times[slow..].iter().all(|micros| *micros >= 61_000), "and stays so");
        assert!(slow > 0, "it began small");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn settings_change_when_a_file_says_so() {
    for user in users() {
        let folder = open_folder();
        let file = folder.path().join("settings");
        fs::write(&file, "# slow at first\ndelay = 50ms\n").unwrap();
        let options = format!("--delay 1ms --control {}", file.display());
        let writer = std::thread::spawn(move || {
            #[expect(clippy::disallowed_methods, reason = "the link runs in real time")]
            std::thread::sleep(Duration::from_millis(2_000));
            fs::write(&file, "delay = 2ms\n").unwrap();
        });
        let text = between(user, "echo 0.0.0.0", &options, "ping 100.72.0.1 200");
        writer.join().unwrap();
        let times = numbers(&text, "rtt");
        assert!(times[0] >= 100_000, "{}", times[0]);
        assert!(times.last().unwrap() < &100_000, "{times:?}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn the_log_and_the_captures_hold_every_packet() {
    for user in users() {
        let folder = open_folder();
        let (log, pcap) = (folder.path().join("log"), folder.path().join("pcap"));
        let options =
            format!("--up loss={{periodic=5}} --log {} --pcap {}", log.display(), pcap.display());
        between(user, "count 0.0.0.0 500", &options, "flood 100.72.0.1 50 500");
        let text = fs::read_to_string(&log).unwrap();
        let lines = |verb: &str| {
            let is = |line: &&str| line.split(' ').nth(1) == Some(verb) && line.contains(" 528 ");
            text.lines().filter(is).count()
        };
        assert_eq!((lines("+"), lines("-")), (50, 40));
        assert_eq!(text.lines().filter(|line| line.contains(" d 1 528 up loss")).count(), 10);
        let size = |name: &str| fs::metadata(pcap.join(format!("{name}.pcapng"))).unwrap().len();
        assert!(size("inside") > 50 * 528 && size("inside") > size("outside"));
        assert!(size("outside") > 40 * 528 && size("dropped") > 10 * 528);
    }
}
