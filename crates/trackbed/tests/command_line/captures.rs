//! `replay`: the same run again, and captures that third-party tools can read.

use super::support::{command, number, packets, wireshark};
use super::*;

#[test]
fn a_replay_is_the_run_that_was_recorded_and_the_same_each_time() {
    let scratch = Scratch::new();
    scratch.succeed("run vru --runs 2 --set link.loss=2% --out out");
    for cell in [0, 5, 10] {
        let equal = "the result equals the one in the directory";
        scratch.trackbed(&format!("replay out {cell} 1 --out one")).says(0, &[equal]);
        scratch.succeed(&format!("replay out {cell} 1 --out two"));
        let [one, two] = ["one", "two"].map(|name| scratch.entries(name));
        assert!(one.len() >= 4 && one.len() == two.len());
        for (one, two) in one.iter().zip(&two) {
            assert_eq!(one.file_name(), two.file_name());
            assert!(fs::read(one).unwrap() == fs::read(two).unwrap(), "{one:?}");
        }
        fs::remove_dir_all(scratch.path("one")).unwrap();
        fs::remove_dir_all(scratch.path("two")).unwrap();
    }
}

#[test]
fn a_replay_of_a_page_load_writes_its_waterfall() {
    let scratch = Scratch::new();
    scratch.succeed("run web --runs 1 --set protocol=http2 --set link.loss=0 --out out");
    scratch.succeed("replay out 0 0 --out one");
    let table = scratch.read("one/waterfall.csv");
    assert_eq!(table.lines().count(), 1 + 8, "{table}");
    assert!(table.contains(",/images/5.gif,image,20000,"), "{table}");
    let archive = scratch.json("one/page.har");
    assert_eq!(archive["log"]["entries"].as_array().unwrap().len(), 8);
    // The archive can be read by the workload.
    scratch.succeed("run web --runs 1 --set link.loss=0 --set workload.har=one/page.har --out two");
}

/// Both paths of a train are interfaces of one file, and the drive can be driven again.
#[test]
fn a_replay_of_a_train_shows_both_paths_and_writes_the_drive() {
    let scratch = Scratch::new();
    let short = "--set workload.duration=3s --set radio.duration=3s";
    scratch.succeed(&format!("run train --part linux --runs 1 {short} --out out"));
    scratch.succeed("replay out 0 0 --out one");
    let capture = fs::read(scratch.path("one/phone.pcapng")).unwrap();
    let names = |name: &[u8]| capture.windows(name.len()).filter(|window| *window == name).count();
    assert_eq!((names(b"phone-second"), names(b"the same on the second link")), (1, 1));
    let packets = packets(&capture);
    let of = |interface: u32| packets.iter().filter(|it| number(it, 8) == interface).count();
    assert!(of(1) > 100 && of(0) > 100, "{} {}", of(0), of(1));
    let timeline = scratch.read("one/radio-timeline.csv");
    assert!(timeline.contains("at,operator,direction,change,value"), "{timeline}");
    assert!(scratch.read("one/radio-signal.csv").lines().count() > 10);
    scratch.write("again.toml", include_str!("../data/scenarios/train-again.toml"));
    scratch.succeed("run again.toml --out again");
}

#[test]
fn a_directory_that_holds_something_else_than_the_run_gives_is_a_defect() {
    let scratch = scenario();
    scratch.succeed("run a.toml --out out");
    let text = scratch
        .read("out/runs.jsonl")
        .replace("\"answered_count\":[2.0]", "\"answered_count\":[3.0]");
    scratch.write("out/runs.jsonl", &text);
    scratch.trackbed("replay out 0 0").says(2, &["differs from the one in the directory"]);
}

#[test]
fn a_replay_needs_neither_the_folder_nor_the_scenario_file() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("scenarios")).unwrap();
    scratch.write("scenarios/message.json", "{\"warning\":1}");
    scratch.write("other.json", "{\"warning\":22}");
    let text = SCENARIO.replace("count = 2", "count = 2\npayload = \"message.json\"");
    scratch.write("scenarios/a.toml", &text);
    scratch.succeed("run scenarios/a.toml --out own");
    scratch.succeed("run scenarios/a.toml --set workload.payload=other.json --out set");
    let about = scratch.json("own/about.json");
    let path = Path::new(about["scenario"].as_str().unwrap());
    assert!(path.is_absolute() && path.ends_with("scenarios/a.toml"), "{path:?}");
    fs::remove_file(scratch.path("scenarios/a.toml")).unwrap();
    for name in ["own", "set"] {
        let words = format!("replay {} 0 1", scratch.path(name).display());
        Ended::of(&mut command(Path::new("/"), &words)).says(0, &[]);
    }
    // The inputs of the run must not have changed.
    scratch.write("other.json", "{\"warning\":333}");
    scratch.trackbed("replay set 0 0").says(2, &["cannot be repeated"]);
}

/// Replays run 0 of `settings` and returns the capture at the phones' end.
fn captured(scratch: &Scratch, settings: &str) -> PathBuf {
    let _ = fs::remove_dir_all(scratch.path("out"));
    scratch.succeed(&format!("run vru --runs 1 --out out {settings}"));
    scratch.succeed("replay out 0 0");
    scratch.path("out/replay/cell-0-run-0/phone.pcapng")
}

#[test]
fn wireshark_accepts_and_decrypts_http_2_over_every_tls() {
    let scratch = Scratch::new();
    for settings in [
        "--set tls=1.2 --set handshake=new",
        "--set tls=1.2 --set handshake=resumed",
        "--set tls=1.3 --set handshake=new",
        "--set tls=1.3 --set handshake=early",
    ] {
        let capture = captured(&scratch, &format!("--set protocol=http2 {settings}"));
        let Some(found) = wireshark("capinfos", &["-M"], &capture) else { return };
        assert!(found.contains("Number of decryption secrets in file:"), "{found}");
        let fields = ["-T", "fields", "-e", "http2.headers.path", "-e", "http2.headers.status"];
        let Some(found) = wireshark("tshark", &fields, &capture) else { return };
        for message in 0..10 {
            assert!(found.contains(&format!("/messages/0/{message}")), "{settings}:\n{found}");
        }
        assert!(found.contains("200"), "{settings}:\n{found}");
        healthy(&capture, "tls.alert_message.desc != 0");
    }
}

#[test]
fn wireshark_accepts_and_decrypts_http_3() {
    let scratch = Scratch::new();
    for handshake in ["new", "early"] {
        let settings = format!("--set protocol=http3 --set tls=1.3 --set handshake={handshake}");
        let capture = captured(&scratch, &settings);
        let fields = ["-T", "fields", "-e", "http3.frame_type", "-e", "quic.stream_data"];
        let Some(found) = wireshark("tshark", &fields, &capture) else { return };
        // The messages begin with {"header":; the first one is in 0-RTT where there is early data.
        let messages = found.lines().filter(|line| line.contains("7b22686561646572")).count();
        assert!(messages >= 10, "{handshake}: {messages} messages in\n{found}");
        // HEADERS (1) and DATA (0) of the other nine, and of all answers.
        let exchanges = found.lines().filter(|line| line.starts_with("1,0")).count();
        assert!(exchanges >= 19, "{handshake}: {exchanges} requests and answers in\n{found}");
        healthy(&capture, "quic.decryption_failed");
    }
}

fn healthy(capture: &Path, complaint: &str) {
    let filter = format!("_ws.malformed || {complaint}");
    if let Some(found) = wireshark("tshark", &["-Y", &filter], capture) {
        assert_eq!(found, "", "{}", capture.display());
    }
}
