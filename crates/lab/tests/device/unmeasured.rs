//! Work for which virtual time has no model, and a cell without any work to model.

use trackbed_lab::backend::{Backend as _, Virtual};

use super::{plan, telemetry};

/// Virtual time has models of measured work only.
#[test]
fn virtual_time_requires_measured_durations() {
    let refusal =
        |lines: &str| Virtual::default().check(&plan(&telemetry("http2", lines, ""))).err();
    assert_eq!(refusal("kind = \"none\""), None);
    assert_eq!(refusal("kind = \"detector\""), None);
    let why = refusal("kind = \"command\"\ncommand = \"./one\"").unwrap();
    let words = ["a command", "--durations FILE --exec", "--substrate emulated"];
    assert!(words.iter().all(|word| why.contains(word)), "{why}");
    let folder = tempfile::tempdir().unwrap();
    let temporary = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let model = temporary("some.onnx", "");
    let why = refusal(&format!("kind = \"detector\"\nmodel = {model:?}")).unwrap();
    assert!(why.contains("this model") && why.contains("--model MODEL"), "{why}");
    let file = temporary("one.txt", "trackbed-durations 1\nthreads 1\nframe 0 5000000\n");
    let lines = format!("kind = \"command\"\ncommand = \"./one\"\ndurations = {file:?}");
    assert_eq!(refusal(&lines), None);
}

/// Also in virtual time: six seconds pass, and nothing is sent.
#[test]
fn idleness_passes() {
    let text = "protocol = \"http2\"\n[link]\ndelay = \"5 ms\"\n\
                [workload]\nkind = \"idle\"\nduration = \"6 s\"\n";
    let run = Virtual::default().execute(&plan(text), &[0], 0).unwrap().remove(0);
    assert_eq!(run.outcome.samples().unwrap()["wire_bytes"], [0.0]);
}
