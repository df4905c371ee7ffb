//! Inference beside communication: commands that print a line for each frame, and an object detector if ONNX
//! Runtime is installed.

use std::fs;

use serde_json::Value;

use super::support::{Ended, kill, skip, start, wait_until};
use super::{Scratch, factor, least};

/// A scenario with nothing to send, or telemetry, and this table `[inference]`.
fn scenario(scratch: &Scratch, workload: &str, inference: &str) {
    let text = format!(
        "substrate = \"emulated\"\nprotocol = \"http2\"\n[link]\ndelay = \"1 ms\"\n[inference]\n\
         {inference}\n[workload]\n{workload}\n"
    );
    scratch.write("beside.toml", &text);
}

fn run(scratch: &Scratch) -> Ended {
    let _ = fs::remove_dir_all(scratch.path("out"));
    scratch.trackbed("run ./beside.toml --runs 1 --allow-commands --keep-invalid --out out --json")
}

/// The only cell of a run that succeeds.
fn cell(scratch: &Scratch) -> Value {
    let ended = run(scratch);
    ended.says(0, &[]);
    let document = ended.json();
    assert_eq!(document["substrate"], "emulated");
    document["cells"][0].clone()
}

fn command(text: &str) -> String {
    format!("kind = \"command\"\ncommand = {text:?}")
}

/// Seven frames in twelve seconds, however late their lines come: the first line says that the program
/// is ready, and the frame of the second began before the run.
#[test]
#[ignore = "thorough: real time"]
fn frames_are_counted_as_lines() {
    let Some(scratch) = Scratch::new() else { return };
    let lines = "echo ready; sleep 5; for i in 1 2 3 4 5 6 7 8; do echo; done; exec sleep 600";
    scenario(&scratch, "kind = \"idle\"\nduration = \"12 s\"\nwarm-up = \"0 s\"", &command(lines));
    let cell = &cell(&scratch);
    assert_eq!((factor(cell, "protocol"), factor(cell, "inference")), ("none", "command"));
    assert_eq!(cell["metrics"]["frame_ms"]["samples"], 7, "{cell}");
    assert!((least(cell, "fps") - 7.0 / 12.0).abs() < 1e-9, "{cell}");
    // CPU time is counted in ticks; an idle machine may have none in a second.
    assert!(cell["metrics"]["machine_cpu_percent"]["mean"].as_f64().unwrap() > 0.0, "{cell}");
}

/// A line every 50 ms, with any traffic: 20 per second, or fewer on a busy machine.
#[test]
#[ignore = "thorough: real time"]
fn telemetry_and_frames_go_side_by_side() {
    let Some(scratch) = Scratch::new() else { return };
    let workload = "kind = \"telemetry\"\nrate = \"50 /s\"\nduration = \"7 s\"\nwarm-up = \"1 s\"";
    scenario(&scratch, workload, &command("while true; do echo; sleep 0.05; done"));
    let cell = cell(&scratch);
    let fps = least(&cell, "fps");
    // In six seconds there may be one more than there are intervals.
    assert!(fps > 1.0 && fps <= 20.0 + 1.0 / 6.0, "{cell}");
    assert_eq!(cell["metrics"]["frame_ms"]["samples"], (fps * 6.0).round() as u64, "{cell}");
    assert_eq!(least(&cell, "sent_count"), 300.0, "{cell}");
    // The client sends, and the command sleeps; what both use is the sum.
    let mean = |metric: &str| cell["metrics"][metric]["mean"].as_f64().unwrap();
    let parts = mean("client_cpu_percent") + mean("inference_cpu_percent");
    assert!(mean("client_cpu_percent") > 0.0 && mean("server_cpu_percent") > 0.0, "{cell}");
    assert!((mean("cpu_percent") - parts).abs() < 0.01, "{cell}");
    assert!(mean("memory_percent") > 0.0 && mean("memory_percent") < 100.0, "{cell}");
}

#[test]
#[ignore = "thorough: real time"]
fn without_inference_the_load_is_read_all_the_same() {
    let Some(scratch) = Scratch::new() else { return };
    let workload = "kind = \"telemetry\"\nrate = \"50 /s\"\nduration = \"5 s\"\nwarm-up = \"1 s\"";
    scenario(&scratch, workload, "kind = \"none\"");
    let cell = cell(&scratch);
    assert!(least(&cell, "cpu_percent") >= 0.0);
    assert!(cell["metrics"]["fps"].is_null() && cell["metrics"]["inference_cpu_percent"].is_null());
}

#[test]
#[ignore = "thorough: real time"]
fn what_fails_in_the_inference_fails_the_run_in_its_own_words() {
    let Some(scratch) = Scratch::new() else { return };
    // It would take ten minutes if the failure were not noticed.
    let workload = "kind = \"idle\"\nduration = \"10 min\"\nwarm-up = \"1 s\"";
    for (lines, words) in [
        ("echo no such device >&2; exit 3", ["exit status: 3", "no such device"]),
        ("echo; sleep 2; echo no such device >&2; exit 3", ["exit status: 3", "no such device"]),
        ("echo; sleep 2; echo", ["ended before the run", "no more lines"]),
    ] {
        scenario(&scratch, workload, &command(lines));
        let ended = run(&scratch);
        ended.says(1, &[]);
        let cells = ended.cells();
        let reason = cells[0]["failures"][0]["reason"].as_str().unwrap();
        assert!(words.iter().all(|word| reason.contains(word)), "{reason}");
    }
}

/// Whether a process with this text in its command line is running.
fn is_alive(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
#[ignore = "thorough: real time"]
fn no_process_is_left_after_a_run_or_after_a_killed_tool() {
    let Some(scratch) = Scratch::new() else { return };
    // No other process sleeps for this time.
    let mark = format!("9{}", 1_000_000_000_u64 + u64::from(std::process::id()));
    let lines = format!("echo; exec sleep {mark}");
    let workload =
        |duration| format!("kind = \"idle\"\nduration = \"{duration}\"\nwarm-up = \"0 s\"");
    scenario(&scratch, &workload("2 s"), &command(&lines));
    cell(&scratch);
    assert!(!is_alive(&mark));
    scenario(&scratch, &workload("10 min"), &command(&lines));
    let child = start(scratch.command("run ./beside.toml --runs 1 --allow-commands"));
    wait_until("the command runs", || is_alive(&mark));
    kill(child);
    wait_until("it is gone", || !is_alive(&mark));
}

/// Without ONNX Runtime no run begins; the remedy is printed once, not for each cell.
#[test]
#[ignore = "thorough: real time"]
fn without_onnx_runtime_no_run_begins() {
    let Some(scratch) = Scratch::new() else { return };
    let workload = "kind = \"idle\"\nduration = \"10 min\"\nwarm-up = \"1 s\"";
    scenario(&scratch, workload, "kind = [\"none\", \"detector\"]\nthreads = [1, 2]");
    let mut command = scratch.command("run ./beside.toml --runs 3 --out out --json");
    let ended = Ended::of(command.env("ORT_DYLIB_PATH", scratch.path("libonnxruntime.so")));
    ended.refused(&["libonnxruntime.so"]);
    assert_eq!(ended.stderr.matches("no ONNX Runtime at").count(), 1, "{}", ended.stderr);
}

/// An error in a cell's model or frames is reported for that cell, and the others continue.
#[test]
#[ignore = "thorough: real time"]
fn a_cell_whose_model_or_frames_are_of_no_use_fails_alone() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.write("text.onnx", "this is no model");
    fs::create_dir(scratch.path("empty")).unwrap();
    let workload = "kind = \"idle\"\nduration = \"2 s\"\nwarm-up = \"0 s\"";
    for (key, words) in
        [("model = \"text.onnx\"", "text.onnx"), ("frames = \"empty\"", "no frames")]
    {
        let table = format!("kind = [\"none\", \"detector\"]\nthreads = 1\n{key}");
        scenario(&scratch, workload, &table);
        let ended = run(&scratch);
        if ended.stderr.contains("pip install onnxruntime") {
            return skip(&ended.stderr);
        }
        ended.says(1, &[]);
        for cell in &ended.cells() {
            let is_detector = factor(cell, "inference") == "detector";
            assert_eq!(cell["failed"] == 1, is_detector, "{cell}");
            let reason = cell["failures"][0]["reason"].as_str().unwrap_or_default();
            assert!(!is_detector || reason.contains(words), "{reason}");
        }
    }
}
