//! `trackbed infer` as its users meet it: with a program in place of a model, and with libraries that are
//! no ONNX Runtime; and with the real one, where there is one.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use trackbed_device::processor::durations::Durations;

/// A folder of the test's own, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("trackbed-infer-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn infer(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
        command.arg("infer").args(words.split_whitespace()).current_dir(&self.0);
        command.stdin(Stdio::null());
        command
    }

    /// A shared library of this C source, or `None` without a compiler, which is said.
    fn library(&self, name: &str, source: &str) -> Option<PathBuf> {
        let (from, to) = (self.path("library.c"), self.path(name));
        fs::write(&from, source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&from);
        let compiled = compiler.status().is_ok_and(|status| status.success());
        if !compiled {
            eprintln!("skipped: there is no C compiler (Debian package gcc)");
        }
        compiled.then_some(to)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The document of a command that must succeed.
fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command says that must fail because of its input.
fn refusal(output: &Output) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn libraries_that_are_no_onnx_runtime_are_refused_with_the_remedy() {
    let scratch = Scratch::new("libraries");
    let try_library = |path: &Path| {
        let mut command = scratch.infer("--duration 1s --warm-up 0s");
        refusal(&command.env("ORT_DYLIB_PATH", path).output().unwrap())
    };
    let said = try_library(&scratch.path("missing.so"));
    assert!(said.contains("missing.so") && said.contains("no ONNX Runtime at"), "{said}");
    fs::write(scratch.path("text.so"), "this is no library").unwrap();
    let said = try_library(&scratch.path("text.so"));
    assert!(said.contains("text.so") && said.contains("pip install onnxruntime"), "{said}");

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
        ("old.so", base("1.9.3", "0"), "1.9.3, and 1.17 or newer is needed"),
        ("null.so", "const void *OrtGetApiBase(void) { return 0; }".to_owned(), "cannot be used"),
        ("empty.so", base("1.99.0", "0"), "cannot be used"),
        ("odd.so", base("a word", "0"), "or newer is needed"),
    ];
    for (name, source, expected) in cases {
        let Some(library) = scratch.library(name, &source) else { return };
        let said = try_library(&library);
        assert!(said.contains(expected) && said.contains("pip install"), "{name}: {said}");
    }
}

#[test]
fn without_onnx_runtime_the_error_says_how_to_have_it() {
    let scratch = Scratch::new("missing");
    let mut command = scratch.infer("--duration 1s --warm-up 0s");
    // Where nothing is looked for but in the system's folders, most machines have none.
    command.env_clear().env("PATH", scratch.path("no-programs"));
    let output = command.output().unwrap();
    if output.status.success() {
        eprintln!("skipped: this system itself has ONNX Runtime");
        return;
    }
    assert!(refusal(&output).contains("pip install onnxruntime"));
}

#[test]
fn a_program_is_timed_by_its_lines_and_ends_with_us() {
    let scratch = Scratch::new("program");
    let output = scratch
        .infer("--json --duration 2s --warm-up 0s --durations d.txt --exec --")
        .args(["sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done"])
        .output()
        .unwrap();
    let document = document(&output);
    assert_eq!((&document["frames"], &document["ended"]), (&5.into(), &"frames".into()));
    let (mean, seconds) = (&document["latency_ms"]["mean"], document["seconds"].as_f64().unwrap());
    assert!((mean.as_f64().unwrap() * 5.0 / 1e3 - seconds).abs() < 1e-6, "{document}");
    assert_eq!(document["stages_ms"], Value::Null);
    let durations = fs::read_to_string(scratch.path("d.txt")).unwrap();
    let durations = Durations::parse(&durations).unwrap();
    assert_eq!(durations.frames.len(), 5);
    assert!(durations.frames.iter().all(|frame| frame.serial_ns == 0));

    let mut failing = scratch.infer("--exec --");
    let said =
        refusal(&failing.args(["sh", "-c", "echo; echo no engine >&2; exit 9"]).output().unwrap());
    assert!(said.contains("exit status: 9") && said.contains("no engine"), "{said}");
    let mut silent = scratch.infer("--exec --");
    let said = refusal(&silent.arg("true").output().unwrap());
    assert!(said.contains("a line for each frame"), "{said}");
    let mut missing = scratch.infer("--exec --");
    let said = refusal(&missing.arg("./no-such-program").output().unwrap());
    assert!(said.contains("no-such-program"), "{said}");
}

#[test]
fn an_interruption_keeps_what_is_done_and_leaves_nobody_behind() {
    let scratch = Scratch::new("interruption");
    let script = "sleep 600 & echo $!; while :; do echo; sleep 0.01; done";
    let mut command = scratch.infer("--events --warm-up 0s --exec --");
    let mut child = command.args(["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut event = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let ready = event();
    assert_eq!(ready["event"], "ready");
    let group = ready["process"].as_u64().unwrap();
    let (first, second) = (event(), event());
    assert_eq!((&first["event"], &first["frame"]), (&"frame".into(), &1.into()));
    assert_eq!(first["end_ns"], second["begin_ns"]);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).unwrap();
    let last = loop {
        let event = event();
        if event["event"] == "end" {
            break event;
        }
    };
    assert_eq!(last["reason"], "interrupted");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let group = Pid::from_raw(i32::try_from(group).unwrap()).unwrap();
    // Killed is killed, but may take a moment.
    let seconds = || rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec;
    let end = seconds() + 60;
    while is_alive(group) {
        assert!(seconds() < end, "somebody of the program's group is left");
        std::thread::yield_now();
    }
}

/// Whether somebody of a process group lives; who is dead and not buried yet does not.
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
    let scratch = Scratch::new("input");
    fs::create_dir(scratch.path("frames")).unwrap();
    for (words, expected) in [
        ("--frames frames", "has no frames"),
        ("--frames missing", "missing"),
        ("--duration 1s --warm-up 2s", "--duration must be longer"),
        ("--threads 0", "from 1 to"),
        ("--input-size 640", "640x640"),
        ("--confidence 2", "from 0 to 1"),
        ("--exec", "PROGRAM"),
        ("--write-model missing/model.onnx", "cannot write missing/model.onnx"),
    ] {
        let said = refusal(&scratch.infer(words).output().unwrap());
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn the_generated_model_is_timed_and_its_findings_are_written() {
    let scratch = Scratch::new("generated");
    let words = "--json --duration 3s --warm-up 0s --threads 1 --confidence 0 --detections d.csv \
                 --durations t.txt";
    let output = scratch.infer(words).output().unwrap();
    let said = text(&output.stderr);
    if said.contains("ONNX Runtime is not installed") {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "CI=true allows no skipped test: {said}");
        eprintln!("skipped: {said}");
        return;
    }
    let document = document(&output);
    let frames = document["frames"].as_u64().unwrap();
    assert!(frames > 0);
    let found = document["detections"].as_u64().unwrap();
    assert!(found > 0 && found <= 300 * frames, "{document}");
    let csv = fs::read_to_string(scratch.path("d.csv")).unwrap();
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
    let sum: f64 =
        ["load", "pre", "inference", "post"].iter().map(|part| mean(&stages[*part])).sum();
    assert!((sum - mean(&document["latency_ms"])).abs() < 1e-3, "{document}");
    let times = fs::read_to_string(scratch.path("t.txt")).unwrap();
    let times = Durations::parse(&times).unwrap();
    assert_eq!((times.threads, times.frames.len() as u64), (1, frames));
}
