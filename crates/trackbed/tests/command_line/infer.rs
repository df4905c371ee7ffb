//! `trackbed infer` as a command: with a program instead of a model, with libraries that are not ONNX Runtime,
//! and with the real one if it is installed.

use std::io::{BufRead as _, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use trackbed_device::processor::durations::Durations;

use super::support::skip;
use super::*;

fn infer(scratch: &Scratch, words: &str) -> Command {
    scratch.command(&format!("infer {words}"))
}

/// A shared library of this C source, or `None` without a compiler, with a message.
fn library(scratch: &Scratch, name: &str, source: &str) -> Option<PathBuf> {
    let (from, to) = (scratch.path("library.c"), scratch.path(name));
    scratch.write("library.c", source);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&from);
    let compiled = compiler.status().is_ok_and(|status| status.success());
    if !compiled {
        eprintln!("skipped: there is no C compiler (Debian package gcc)");
    }
    compiled.then_some(to)
}

#[test]
fn libraries_that_are_no_onnx_runtime_are_refused_with_the_remedy() {
    let scratch = Scratch::new();
    let try_library = |path: &Path| {
        let mut command = infer(&scratch, "--duration 1s --warm-up 0s");
        Ended::of(command.env("ORT_DYLIB_PATH", path))
    };
    try_library(&scratch.path("missing.so")).refused(&["missing.so", "no ONNX Runtime at"]);
    scratch.write("text.so", "this is no library");
    try_library(&scratch.path("text.so")).refused(&["text.so", "pip install onnxruntime"]);

    let base = |version: &str, api: &str| {
        format!(
            "static const void *api(unsigned v) {{ return {api}; }}\n\
             static const char *version(void) {{ return \"{version}\"; }}\n\
             static const struct {{ const void *(*a)(unsigned); const char *(*b)(void); }} base = \
             {{ api, version }};\n\
             const void *OrtGetApiBase(void) {{ return &base; }}\n"
        )
    };
    let cases = [
        ("other.so", "int nothing(void) { return 0; }".to_owned(), "another library"),
        ("old.so", base("1.9.3", "0"), "1.9.3, but 1.17 or newer is needed"),
        ("null.so", "const void *OrtGetApiBase(void) { return 0; }".to_owned(), "cannot be used"),
        ("empty.so", base("1.99.0", "0"), "cannot be used"),
        ("odd.so", base("a word", "0"), "or newer is needed"),
    ];
    for (name, source, expected) in cases {
        let Some(library) = library(&scratch, name, &source) else { return };
        try_library(&library).refused(&[expected, "pip install"]);
    }
}

/// An attacker who can write to the user's working folder must not choose the user's code.
#[test]
fn no_library_of_the_current_folder_is_loaded() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("onnxruntime/capi")).unwrap();
    for file in ["onnxruntime/__init__.py", "onnxruntime/capi/libonnxruntime.so"] {
        scratch.write(file, "");
    }
    let mut command = infer(&scratch, "--runtime onnxruntime --duration 1s --warm-up 0s");
    let ended = Ended::of(command.env_remove("VIRTUAL_ENV").env_remove("ORT_DYLIB_PATH"));
    let folder = scratch.folder().to_str().unwrap();
    assert!(!ended.stderr.contains(folder), "{}", ended.stderr);
}

/// Searches only the system's folders, where most machines have no ONNX Runtime.
fn without_library(mut command: Command, scratch: &Scratch) -> Ended {
    Ended::of(command.env_clear().env("PATH", scratch.path("no-programs")))
}

#[test]
fn without_onnx_runtime_rten_runs_the_model_or_the_error_says_how_to_get_one() {
    let scratch = Scratch::new();
    let ended = without_library(infer(&scratch, "--json --duration 3s --warm-up 0s"), &scratch);
    if ended.status != 0 && !cfg!(feature = "rten") {
        return ended.refused(&["pip install onnxruntime", "--features rten"]);
    }
    ended.says(0, &[]);
    let document = ended.json();
    if document["about"]["runtime"] == "onnxruntime" {
        return skip("this system itself has ONNX Runtime");
    }
    assert!(document["about"]["library"].is_null() && document["fps"].as_f64() > Some(0.0));
    let words = "--runtime onnxruntime --duration 1s --warm-up 0s";
    without_library(infer(&scratch, words), &scratch).refused(&["pip install", "write rten"]);
    let words = "--runtime rten --library x --duration 1s --warm-up 0s";
    without_library(infer(&scratch, words), &scratch).refused(&["--library", "remove one of them"]);
}

/// A scenario for the kernel runs on the model of a device if this machine cannot run its detector, unless the user
/// chose the kernel.
#[cfg(not(feature = "rten"))]
#[test]
fn without_any_runtime_a_detector_is_a_model_and_the_note_says_how_to_have_the_real_one() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        let words = "run edge --quick --json --set protocol=http2 --set cipher=aes128gcm";
        let mut command = scratch.command(words);
        command.args(["--part", "high load"]).args(more);
        without_library(command, &scratch)
    };
    let ended = run(&[]);
    if ended.json()["substrate"] == "emulated" {
        return skip("this system itself has ONNX Runtime");
    }
    ended.says(0, &["`pip install onnxruntime`"]);
    let document = ended.json();
    assert!(document["substrate"] == "virtual" && document["model"].is_string(), "{document}");
    let ended = run(&["--substrate", "emulated"]);
    assert!(ended.status == 2 && !ended.stderr.contains("note: this machine has no runtime"));
}

#[test]
fn a_program_is_timed_by_its_lines_and_ends_with_us() {
    let scratch = Scratch::new();
    let exec = |program: &[&str]| {
        let words = "--json --duration 2s --warm-up 0s --durations d.txt --exec --";
        Ended::of(infer(&scratch, words).args(program))
    };
    let document = exec(&["sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done"]).json();
    assert_eq!((&document["frames"], &document["ended"]), (&5.into(), &"frames".into()));
    let (mean, seconds) = (&document["latency_ms"]["mean"], document["seconds"].as_f64().unwrap());
    assert!((mean.as_f64().unwrap() * 5.0 / 1e3 - seconds).abs() < 1e-6, "{document}");
    assert_eq!(document["stages_ms"], Value::Null);
    let durations = scratch.read("d.txt");
    let durations = Durations::parse(&durations).unwrap();
    assert_eq!(durations.frames.len(), 5);
    assert!(durations.frames.iter().all(|frame| frame.serial_ns == 0));

    let failing = ["sh", "-c", "echo; echo no engine >&2; exit 9"];
    exec(&failing).says(2, &["exit status: 9", "no engine"]);
    exec(&["true"]).says(2, &["a line for each frame"]);
    exec(&["./no-such-program"]).says(2, &["no-such-program"]);
}

#[test]
fn an_interruption_keeps_finished_frames_and_leaves_no_process_behind() {
    let scratch = Scratch::new();
    let script = "sleep 600 & echo $!; while :; do echo; sleep 0.01; done";
    let mut command = infer(&scratch, "--events --warm-up 0s --exec --");
    let mut child = command.args(["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut event = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let ready = event();
    assert_eq!(ready["event"], "ready");
    let group = ready["process"].as_u64().unwrap();
    let (first, second) = (event(), event());
    assert_eq!((&first["event"], &first["frame"]), (&"frame".into(), &1.into()));
    assert_eq!(first["end_ns"], second["begin_ns"]);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let last = loop {
        let event = event();
        if event["event"] == "end" {
            break event;
        }
    };
    assert_eq!(last["reason"], "interrupted");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let group = Pid::from_raw(i32::try_from(group).unwrap()).unwrap();
    // A killed process may take a moment to end.
    let seconds = || rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec;
    let end = seconds() + 60;
    while is_alive(group) {
        assert!(seconds() < end, "a process of the program's group is left");
        thread::yield_now();
    }
}

/// Whether a process of a group lives; zombies do not count.
fn is_alive(group: Pid) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // State, parent, group: proc(5).
        let own = fields.get(2).and_then(|group| group.parse().ok());
        own == Some(group.as_raw_nonzero().get()) && fields[0] != "Z"
    })
}

#[test]
fn bad_input_is_told_with_the_remedy() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("frames")).unwrap();
    scratch.refuse_all("infer");
}

#[test]
fn the_generated_model_is_timed_and_its_findings_are_written() {
    let scratch = Scratch::new();
    let words = "--json --duration 3s --warm-up 0s --threads 1 --confidence 0 --detections d.csv \
                 --durations t.txt";
    let ended = Ended::of(&mut infer(&scratch, words));
    if ended.stderr.contains("ONNX Runtime is not installed") {
        return skip(&ended.stderr);
    }
    ended.says(0, &[]);
    let document = ended.json();
    let frames = document["frames"].as_u64().unwrap();
    assert!(frames > 0);
    let found = document["detections"].as_u64().unwrap();
    assert!(found > 0 && found <= 300 * frames, "{document}");
    let csv = scratch.read("d.csv");
    assert_eq!(csv.lines().count() as u64, found);
    for line in csv.lines() {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        assert_eq!((fields.len(), fields[1]), (10, -1.0), "{line}");
        let (left, top, width, height) = (fields[2], fields[3], fields[4], fields[5]);
        assert!(left >= 0.0 && left + width <= 640.02, "{line}");
        assert!(top >= 0.0 && top + height <= 480.02, "{line}");
    }
    // Parts of a frame are all of it.
    let mean = |part: &Value| part["mean"].as_f64().unwrap();
    let stages = &document["stages_ms"];
    let sum: f64 = ["load", "pre", "inference", "post"].iter().map(|it| mean(&stages[*it])).sum();
    assert!((sum - mean(&document["latency_ms"])).abs() < 1e-3, "{document}");
    let times = scratch.read("t.txt");
    let times = Durations::parse(&times).unwrap();
    assert_eq!((times.threads, times.frames.len() as u64), (1, frames));
}
