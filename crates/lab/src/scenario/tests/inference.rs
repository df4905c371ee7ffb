//! The table `[inference]`, and cells without communication.

use super::{factors, plan, plan_with};
use crate::scenario::{Home, Work};
use crate::substrate::{Substrate as _, Virtual};

/// Telemetry with these lines in its table, and `more` behind it.
fn telemetry(inference: &str, more: &str) -> String {
    format!(
        "protocol = [\"http2\", \"http3\"]\n[link]\ndelay = \"5 ms\"\n[inference]\n{inference}\n\
         [workload]\nkind = \"telemetry\"\nduration = \"6 s\"\n{more}\n"
    )
}

fn mistake(text: &str) -> String {
    plan_with(text, &[]).unwrap_err().to_string()
}

#[test]
fn its_kind_is_a_factor_and_may_be_an_axis() {
    let plan = plan(&telemetry("kind = [\"none\", \"detector\"]\nthreads = 2", ""));
    assert_eq!(
        factors(&plan),
        [
            "protocol=http2 inference=none",
            "protocol=http2 inference=detector",
            "protocol=http3 inference=none",
            "protocol=http3 inference=detector",
        ]
    );
    assert_eq!(plan.conditions, ["inference"]);
    let work = |cell: usize| plan.cells[cell].inference.clone().unwrap().work;
    assert_eq!(work(0), None);
    assert_eq!(work(1), Some(Work::Detector { model: None, frames: None, threads: Some(2) }));
}

#[test]
fn the_digest_follows_what_is_run() {
    let digest = |lines: &str| plan(&telemetry(lines, "")).hash;
    let folder = std::env::temp_dir().join(format!("trackbed-model-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("model.onnx");
    let model = format!("kind = \"detector\"\nmodel = {:?}", file.display().to_string());
    // No text: a model is anything but.
    std::fs::write(&file, [8, 0xff, 0xfe]).unwrap();
    let first = digest(&model);
    std::fs::write(&file, [8, 0xff, 0xfd]).unwrap();
    let all = [
        first,
        digest(&model),
        digest("kind = \"none\""),
        digest("kind = \"detector\""),
        digest("kind = \"detector\"\nthreads = 3"),
        digest("kind = \"command\"\ncommand = \"./one\""),
        digest("kind = \"command\"\ncommand = \"./other\""),
        plan(&telemetry("", "").replace("[inference]", "")).hash,
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{index}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    for (lines, words) in [
        ("kind = \"command\"", ["the command is missing", "command = "]),
        ("kind = \"command\"\ncommand = \"x\"\nthreads = 2", ["threads has no effect", "detector"]),
        ("threads = 3", ["threads has no effect", "kind = \"detector\""]),
        ("kind = \"detector\"\nthreads = 5000", ["share no work", "at most 1024"]),
        (
            "kind = \"detector\"\nmodel = \"/nowhere.onnx\"",
            ["cannot read /nowhere.onnx", "a.toml:6"],
        ),
        ("kind = \"detecter\"", ["detecter", "detector"]),
    ] {
        let message = mistake(&telemetry(lines, ""));
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[test]
fn virtual_time_has_none_and_says_what_has() {
    let refusal = |text: &str| Virtual::new().check(&plan(text)).err();
    let why = refusal(&telemetry("kind = \"detector\"", "")).unwrap();
    assert!(why.contains("[inference]") && why.contains("--substrate emulated"), "{why}");
    assert_eq!(refusal(&telemetry("", "").replace("[inference]", "")), None);
}

#[test]
fn a_scenario_says_where_it_is_at_home() {
    let text = telemetry("kind = \"none\"", "");
    assert_eq!(plan(&text).home, Home::Virtual);
    let at_home = plan(&format!("substrate = \"emulated\"\n{text}"));
    assert_eq!(at_home.home, Home::Emulated);
    assert_eq!(at_home.hash, plan(&text).hash);
    assert!(mistake(&format!("substrate = \"live\"\n{text}")).contains("live"));
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
    let message = mistake(&sent);
    assert!(message.contains("carries nothing") && message.contains("\"idle\""), "{message}");
}

/// In virtual time too: six seconds pass, and nothing is sent.
#[test]
fn idleness_passes() {
    let text = telemetry("", "").replace("[inference]", "").replace("telemetry", "idle");
    let plan = plan(&text);
    let run = Virtual::new().execute(&plan, 0, 0).unwrap();
    let samples = run.outcome.samples().unwrap();
    assert_eq!(samples["wire_bytes"], [0.0]);
}
