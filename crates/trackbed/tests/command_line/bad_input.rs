//! Every bad input gives status 2, nothing on standard output, and one message with the place and what to write
//! instead.

use super::*;

/// The command must be refused with one message that has all of `parts`, and begin no results.
fn refused(scratch: &Scratch, words: &str, parts: &[&str]) {
    scratch.refuse(words, parts);
    assert!(!scratch.path("trackbed-out").exists(), "{words}: results were begun");
}

#[test]
fn mistakes_in_a_scenario_are_shown_with_their_line_and_the_remedy() {
    let scratch = Scratch::new();
    for (from, to, parts) in [
        (
            "delay =",
            "dellay =",
            ["bad.toml:5:1", "unknown key \"dellay\"", "did you mean \"delay\"?"],
        ),
        ("\"5 ms\"", "\"5\"", ["bad.toml:5:9", "has no unit", "write a time as \"10 ms\""]),
        ("\"5 ms\"", "\"5 kg\"", ["bad.toml:5:9", "not a unit of a time", "write a time as"]),
        ("rate = \"50", "rate = \"-50", ["bad.toml:4:8", "is negative", "write a rate as"]),
        ("delay =", "loss = 1.5\ndelay =", ["bad.toml:5:8", "more than 100 %", "0 and 1"]),
        ("delay =", "delay = \"1 ms\"\ndelay =", ["bad.toml:6:1", "duplicate key", "write a list"]),
        ("runs = 2", "runs = 0", ["bad.toml:2:8", "0 is too small", "write at least 1"]),
        ("\"quic\"", "[]", ["bad.toml:1:12", "nothing would run", "write at least one value"]),
        (
            "\"quic\"",
            "\"quik\"",
            ["bad.toml:1:12", "unknown value \"quik\"", "did you mean \"quic\"?"],
        ),
        (
            "count = 2",
            "payload = \"none.bin\"",
            ["bad.toml:8:11", "cannot read none.bin", "path of a file"],
        ),
        ("[link]", "[link", ["bad.toml:3:", "[link", "|"]),
    ] {
        assert!(SCENARIO.contains(from), "{from}");
        scratch.write("bad.toml", &SCENARIO.replacen(from, to, 1));
        refused(&scratch, "run bad.toml", &parts);
        refused(&scratch, "run bad.toml --json", &parts);
    }
}

#[test]
fn files_that_are_no_scenario_are_called_so() {
    let scratch = Scratch::new();
    fs::write(scratch.path("binary.toml"), [0xff_u8, 0x00, 0x80, 0xfe]).unwrap();
    scratch.write("empty.toml", "");
    fs::create_dir(scratch.path("folder.toml")).unwrap();
    let built_in = "a built-in scenario: vru, crowd, lte, loaded, fairness, web, streaming, migration, train, hsr, edge, v2x, quantum, costs, bulk";
    for (name, parts) in [
        ("binary.toml", ["not valid UTF-8", "save the file as UTF-8"]),
        ("empty.toml", ["is empty", "write a scenario"]),
        ("folder.toml", ["is a folder", built_in]),
        ("missing.toml", ["cannot read missing.toml", built_in]),
        ("vrv", ["unknown scenario \"vrv\"", "did you mean \"vru\"?"]),
    ] {
        refused(&scratch, &format!("run {name}"), &parts);
    }
}

#[test]
fn arguments_are_refused_with_advice() {
    let scratch = scenario();
    for (words, part) in [
        ("run a.toml --set link.loss", "write key=value, for example link.loss=0.3%"),
        ("run a.toml --set link.loss=150%", "a share is between 0 and 1"),
        ("run a.toml --set link.los=1%", "did you mean \"loss\"?"),
        ("run a.toml --runs 0", "write a whole number, 1 or more"),
        ("run a.toml --jobs many", "write a whole number from 1 to"),
        ("run a.toml --seed -1", "write a whole number, 0 or more"),
        ("run a.toml --seed x", "write a whole number, 0 or more"),
        ("run a.toml --substrate cloud", "[possible values: virtual, emulated, live]"),
        ("run a.toml --substrate live", "--server <HOST[:PORT]>"),
        (
            "run vru --set protocol=http2 --set congestion=bbr",
            "\"bbr\" cannot run in virtual time\n  help: add --substrate emulated",
        ),
        ("relay", "--transparent <ADDRESS:PORT>|--socks <ADDRESS:PORT>"),
        ("run a.toml --set name=../../etc", "cannot be stored under this name"),
        ("paper nothing", "write trackbed paper vru"),
        ("list nothing", "[possible values: scenarios, protocols"),
        ("replay", "<DIRECTORY>"),
    ] {
        scratch.refuse(words, &[part]);
    }
}

#[test]
fn a_place_that_cannot_be_written_is_refused() {
    let scratch = scenario();
    scratch.write("file", "");
    refused(&scratch, "run a.toml --out file", &["file: ", "where you may write"]);
    refused(&scratch, "run a.toml --out file/below", &["file/below: ", "where you may write"]);
    fs::create_dir(scratch.path("mine")).unwrap();
    scratch.write("mine/thesis.tex", "years of work");
    refused(&scratch, "run a.toml --out mine", &["is not a run directory", "a new or an empty"]);
    assert_eq!(fs::read_dir(scratch.path("mine")).unwrap().count(), 1);
}

#[test]
fn replay_refuses_what_is_not_there() {
    let scratch = scenario();
    scratch.succeed("run a.toml --out done");
    refused(&scratch, "replay nowhere 0 0", &["nowhere: ", "`trackbed run SCENARIO --out DIR`"]);
    refused(&scratch, "replay done 1 0", &["there is no cell 1", "from 0 to 0"]);
    refused(&scratch, "replay done 0 2", &["there is no run 2", "from 0 to 1"]);
    scratch.write("done/about.json", "{ \"trackbed\": 1");
    refused(&scratch, "replay done 0 0", &["about.json is damaged", "run the scenario again"]);
}

#[cfg(not(feature = "store"))]
#[test]
fn without_object_stores_the_error_says_how_to_get_them() {
    let scratch = Scratch::new();
    scratch.write("good.toml", SCENARIO);
    for words in [
        "run good.toml --out s3://bucket/a",
        "fetch gs://bucket/a here",
        "merge az://bucket/a file:///b --out merged",
    ] {
        refused(&scratch, words, &["without object stores", "--release --features store"]);
    }
    assert!(!scratch.path("merged").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_the_error_says_how_to_get_it() {
    let words = "export results --format parquet";
    refused(&Scratch::new(), words, &["--features parquet", "--format csv"]);
}

/// Each file is taken for what it is; what is left out of it is counted; a bad one has a run's error.
#[test]
fn a_file_is_checked_before_it_is_used() {
    let scratch = Scratch::new();
    scratch.write("my.toml", SCENARIO);
    let said = scratch.succeed("check my.toml").stdout;
    assert_eq!(said, "my.toml: scenario: 1 cell\n");
    for line in FILES.lines() {
        let [name, text, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        scratch.write(name, &text.replace("\\n", "\n"));
        let ended = scratch.trackbed(&format!("check my.toml {name}"));
        ended.says(i32::from(expected.contains("error")), &[]);
        let expected = format!("my.toml: scenario: 1 cell\n{name}: {expected}");
        assert!(ended.stdout.starts_with(&expected), "{expected}, not {}", ended.stdout);
    }
}

/// Names, contents and what is said.
const FILES: &str = r#"drive.nmea | $GPRMC,120000,A,4800.00,N,01100.00,E,60.0,90.0,010124,,*1B\nnoise\n$GPRMC,120001,A,4800.00,N,01100.02,E,60.0,90.0,010124,,*18 | drive (NMEA): 2 positions in 1 s, 1 damaged line skipped
drive.gpx | <gpx version="1.1"><trk><trkseg><trkpt lat="48" lon="11"></trkpt><trkpt lat="48.001" lon="11"></trkpt></trkseg></trk></gpx> | drive (GPX): 2 positions
drive.csv | latitude,longitude\n48,11\n,\n48.001,11 | drive (table): 2 positions, 1 line without a position skipped
page.har | { "log": { "entries": [{ "startedDateTime": "2024-05-01T10:00:00.000Z", "time": 9, "request": { "method": "GET", "url": "http://a/" }, "response": { "status": 200, "bodySize": 20, "content": { "size": 20, "mimeType": "text/html" } }, "timings": { "send": 0, "wait": 5, "receive": 4 } }, { "startedDateTime": "2024-05-01T10:00:01.000Z", "time": 9, "request": { "method": "GET", "url": "http://a/b" }, "response": { "status": 0, "bodySize": 0, "content": { "size": 0, "mimeType": "" } }, "timings": { "send": 0, "wait": 5, "receive": 4 } }] } } | page (HAR): 1 object of 20 bytes, 1 request of other pages, without an answer or not over HTTP skipped
page.toml | [[object]]\npath = "/a"\nkind = "html"\nsize = "2 kB" | page (manifest): 1 object of 2000 bytes
up.trace | # times\n17\n33 | trace: 2 lines until 33 ms
rates.txt | 0 s, 50 Mbit/s\n5 s, 1 Mbit/s | rates: 2 rates until 5 s
rates.csv | time_s,rate_Mbit/s\n0,50\n1,\n2,20 | rates: 2 rates until 2 s, 1 line without a rate skipped
losses.txt | 5 s, 30 % | losses: 1 line until 5 s
delays.txt | 0 12\n250.5 20 | delays: 2 lines until 250.5 ms
warning.json | { "a": 1 } | payload: 10 bytes
bad.trace | 17\n3 | trace: error: line 2 of the rate trace is earlier
bad.json | { a: 1 } | payload: error: payload: bad.json:1:3: a message is not one JSON value
bad.toml | protocol = "tls" | scenario: error: 
bad.txt | hello | unknown: error: no known kind of input
bad.csv | a,b\n1,2 | drive (table): error: "#;
