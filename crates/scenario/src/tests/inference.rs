//! The table `[inference]`, and cells without communication.

use tempfile::TempPath;

use super::{expect_words, factors, plan, rows};
use crate::{Home, Work};

/// Telemetry with these lines in its table, followed by `more`.
fn telemetry(inference: &str, more: &str) -> String {
    format!(
        "protocol = [\"http2\", \"http3\"]\n[link]\ndelay = \"5 ms\"\n[inference]\n{inference}\n\
         [workload]\nkind = \"telemetry\"\nduration = \"6 s\"\n{more}\n"
    )
}

#[test]
fn its_kind_is_a_factor_and_may_be_an_axis() {
    let plan = plan(&telemetry("kind = [\"none\", \"detector\"]\nthreads = 2", ""));
    assert_eq!(
        factors(&plan).join("; "),
        "protocol=http2 inference=none; protocol=http2 inference=detector; protocol=http3 \
         inference=none; protocol=http3 inference=detector"
    );
    assert_eq!(plan.conditions, ["inference"]);
    let work = |cell: usize| plan.cells[cell].inference.clone().unwrap().work;
    assert_eq!(work(0), None);
    let detector = Work::Detector { runtime: None, model: None, frames: None, threads: Some(2) };
    assert_eq!(work(1), Some(detector));
}

#[test]
fn the_digest_follows_what_is_run() {
    let digest = |lines: &str| plan(&telemetry(lines, "")).hash;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.onnx");
    let model = format!("kind = \"detector\"\nmodel = {:?}", file);
    // Not a text, as a model need not be one.
    std::fs::write(&file, [8, 0xff, 0xfe]).unwrap();
    let first = digest(&model);
    std::fs::write(&file, [8, 0xff, 0xfd]).unwrap();
    let all = [
        first,
        digest(&model),
        digest("kind = \"none\""),
        digest("kind = \"detector\""),
        digest("kind = \"detector\"\nthreads = 3"),
        digest("kind = \"detector\"\nruntime = \"rten\""),
        digest("kind = \"command\"\ncommand = \"./one\""),
        digest("kind = \"command\"\ncommand = \"./other\""),
        plan(&telemetry("", "").replace("[inference]", "")).hash,
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{index}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    for (lines, words) in [
        ("kind = \"command\"", ["the command is missing", "command = "]),
        ("kind = \"command\"\ncommand = \"x\"\nthreads = 2", ["threads has no effect", "detector"]),
        ("threads = 3", ["threads has no effect", "kind = \"detector\""]),
        ("kind = \"detector\"\nthreads = 5000", ["too many threads", "at most 1024"]),
        (
            "kind = \"detector\"\nmodel = \"/nowhere.onnx\"",
            ["cannot read /nowhere.onnx", "a.toml:6"],
        ),
        ("kind = \"detecter\"", ["detecter", "detector"]),
    ] {
        expect_words(&telemetry(lines, ""), &[], &words);
    }
}

/// A file with this text, gone when it is dropped.
fn temporary(text: &str) -> TempPath {
    let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn what_the_device_cannot_be_is_refused_at_its_place() {
    let none = "trackbed-durations 1\nthreads 2\n";
    let short = format!("{none}frame 1000 98000\n");
    let negative = format!("{none}frame -5 1000000\n");
    let mqtt = "trackbed-costs 1\nprotocol mqtt 1 2 3\ncipher aes128gcm 1\n";
    let bare = "trackbed-costs 1\nprotocol other 1 2 3\n";
    let [none, short, negative, mqtt, bare] = [none, &short, &negative, mqtt, bare].map(temporary);
    let files =
        [("NONE", none), ("SHORT", short), ("NEGATIVE", negative), ("MQTT", mqtt), ("BARE", bare)];
    for row in rows(include_str!("inference.txt")) {
        let named = |lines: String, (name, path): &(&str, TempPath)| {
            lines.replace(name, &format!("{path:?}"))
        };
        expect_words(&telemetry(&files.iter().fold(row[0].clone(), named), ""), &[], &row[1..]);
    }
}

#[test]
fn the_device_is_as_the_table_says() {
    let costs = temporary(
        "trackbed-costs 1\nprotocol http2 41000 9000 120\nprotocol other 30000 8000 100\n\
         cipher aes128gcm 300\ncipher chacha20poly1305 900\n",
    );
    // A device may have more threads than cores.
    let lines = format!("kind = \"detector\"\ncores = 2\nthreads = 16\ncosts = {costs:?}");
    let text =
        telemetry(&lines, "").replace("\"http3\"]", "\"coap\"]\ncipher = \"chacha20poly1305\"");
    let plan = plan(&text);
    let device = |cell: usize| plan.cells[cell].inference.clone().unwrap().device;
    let numbers = |cell: usize| {
        let cost = device(cell).cost;
        let packet = cost.packet;
        (cost.message.as_nanos(), packet.packet.as_nanos(), packet.byte_picos)
    };
    assert_eq!(numbers(0), (41_000, 9_000, 1_020));
    // Nothing is encrypted.
    assert_eq!(numbers(1), (30_000, 8_000, 100));
    assert_eq!((device(0).cores, device(0).durations.unwrap().threads), (2, 16));
    let own = "kind = \"none\"\nmessage-cost = \"5 us\"\nkilobyte-cost = \"2 us\"";
    let device = super::plan(&telemetry(own, "")).cells[0].inference.clone().unwrap().device;
    assert_eq!((device.durations, device.cost.packet.byte_picos), (None, 2_000));
    assert_eq!(device.cost.message.as_nanos(), 5_000);
}

/// The built-in tables suffice for every protocol and cipher.
#[test]
fn the_built_in_tables_know_everything() {
    let names = trackbed_protocols::registry().iter().map(|protocol| protocol.name());
    for protocol in names.filter(|name| !["none", "http2"].contains(name)) {
        let text = telemetry("kind = \"detector\"", "").replace(
            "[\"http2\", \"http3\"]",
            &format!(
                "[\"http2\", \"{protocol}\"]\n\
                 cipher = [\"aes128gcm\", \"aes256gcm\", \"chacha20poly1305\"]"
            ),
        );
        for cell in plan(&text).cells {
            let device = cell.inference.unwrap().device;
            assert!(!device.cost.packet.packet.is_zero() && device.durations.is_some());
        }
    }
}

#[test]
fn a_scenario_sets_its_substrate() {
    let text = telemetry("kind = \"none\"", "");
    assert_eq!(plan(&text).home, Home::Virtual);
    let at_home = plan(&format!("substrate = \"emulated\"\n{text}"));
    assert_eq!(at_home.home, Home::Emulated);
    assert_eq!(at_home.hash, plan(&text).hash);
    expect_words(&text, &["substrate=live"], &["live"]);
}

#[test]
fn idle_ends_speak_nothing_whatever_their_keys_say() {
    let idle = "kind = \"idle\"";
    let text = telemetry("kind = \"detector\"", "").replace("kind = \"telemetry\"", idle);
    let plain = plan(&format!(
        "cipher = [\"aes128gcm\", \"chacha20poly1305\"]\nserver = \"nginx\"\n{text}"
    ));
    assert_eq!(factors(&plain), ["cipher=none server=none protocol=none inference=detector"]);
    let none = text.replace("[\"http2\", \"http3\"]", "\"none\"");
    assert_eq!(factors(&plan(&none)), ["protocol=none inference=detector"]);
    let sent = telemetry("kind = \"none\"", "").replace("\"http3\"", "\"none\"");
    expect_words(&sent, &[], &["sends nothing", "\"idle\""]);
}

/// 34 ms by one thread and 307 by two; the scenario's own values win.
#[test]
fn a_device_of_the_study_is_a_model_with_a_name() {
    let device = |lines: &str| {
        let lines = format!("kind = \"detector\"\ndevice = \"raspberry-pi-5\"\n{lines}");
        plan(&telemetry(&lines, "")).cells[0].inference.clone().unwrap().device
    };
    let model = device("");
    assert_eq!((model.cores, model.durations.unwrap().mean().as_millis()), (2, 341));
    assert_eq!(model.cost.message.as_micros(), 800);
    assert!(model.sources.iter().all(|source| source.contains("raspberry-pi-5")));
    let own = device("cores = 4\nmessage-cost = \"1 ms\"");
    assert_eq!((own.cores, own.cost.message.as_micros()), (4, 1_000));
    expect_words(&telemetry("kind = \"detector\"\ndevice = \"pi\"", ""), &[], &["raspberry-pi-5"]);
}
