//! `trackbed serve` and `run --substrate live`: one machine as two, over its loopback interface.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A server in a folder of its own; both end with this.
struct Server {
    folder: PathBuf,
    process: Child,
    address: String,
}

impl Server {
    fn start(name: &str, more: &[&str]) -> Server {
        let folder = std::env::temp_dir().join(format!("trackbed-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let words = ["serve", "--listen", "127.0.0.1", "--port", "0", "--data-port", "0"];
        let mut process = trackbed(&folder)
            .args(words)
            .args(["--log", "json"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let address = told["address"].as_str().unwrap().to_owned();
        Server { folder, process, address }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = trackbed(&self.folder);
        command.args(["run", "--substrate", "live", "--server", &self.address, "--json"]);
        command.args(words).output().unwrap()
    }

    fn document(&self, words: &[&str]) -> Value {
        let output = self.run(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refusal(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn trackbed(folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

#[test]
fn every_protocol_runs_between_two_machines() {
    let mut server = Server::start("live", &[]);
    let protocols = "protocol=http1,http2,http3,quic,sctp,sctp+dtls,tcp,tcp+tls,mptcp";
    let mptcp = fs::exists("/proc/sys/net/mptcp").unwrap();
    let protocols = if mptcp { protocols } else { protocols.trim_end_matches(",mptcp") };
    let only = ["--set", "tls=1.3", "--set", "handshake=new", "--set", "workload.count=3"];
    let document =
        server.document(&[&["vru", "--runs", "2", "--set", protocols][..], &only].concat());
    assert_eq!(document["substrate"], "live");
    assert_eq!(document["environment"]["server"], server.address);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), if mptcp { 9 } else { 8 });
    for cell in cells {
        assert!(
            cell.get("expected_completion_ms").is_none(),
            "the round trip is not the scenario's"
        );
        assert_eq!(cell["failed"], 0, "{cell}");
        let metrics = &cell["metrics"];
        assert_eq!(metrics["answered_count"]["min"], 3.0, "{cell}");
        assert!(metrics["server_cpu_ms"]["min"].as_f64().unwrap() > 0.0, "{cell}");
    }
    // One that is asked to end does.
    let pid = Pid::from_raw(server.process.id().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

/// What devices send: each message of each protocol is answered in time, and inside the cipher that was
/// asked for.
#[test]
fn telemetry_runs_between_two_machines() {
    let server = Server::start("telemetry", &[]);
    let text = "protocol = [\"mqtt\", \"coap\", \"coap+dtls\", \"http3\", \"tcp\"]\ntls = \"1.3\"\n\
                cipher = \"chacha20poly1305\"\n[link]\ndelay = \"1 ms\"\n[workload]\n\
                kind = \"telemetry\"\nrate = \"20 /s\"\nduration = \"3 s\"\nwarm-up = \"1 s\"\n\
                patience = \"60 s\"\ndeadline = \"60 s\"\n";
    fs::write(server.folder.join("telemetry.toml"), text).unwrap();
    let document = server.document(&["./telemetry.toml", "--runs", "1"]);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 5);
    for cell in cells {
        let least = |metric: &str| cell["metrics"][metric]["min"].as_f64();
        assert_eq!(cell["failed"], 0, "{cell}");
        assert_eq!(least("sent_count"), Some(40.0), "{cell}");
        assert_eq!(least("answered_count"), Some(40.0), "{cell}");
        assert_eq!(least("lost_count"), Some(0.0), "{cell}");
    }
}

#[test]
fn who_has_no_ticket_is_not_served() {
    let server = Server::start("ticket", &[]);
    let ticket = server.folder.join("trackbed-ticket.json");
    let text = fs::read_to_string(&ticket).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["secret"] = "0".repeat(64).into();
    fs::write(server.folder.join("guessed.json"), other.to_string()).unwrap();
    let refused = server.refusal(&["vru", "--ticket", "guessed.json"]);
    assert!(refused.contains("not the server's ticket"), "{refused}");

    // Of another server: its certificate is not this one's.
    let stranger = Server::start("stranger", &[]);
    let theirs = stranger.folder.join("trackbed-ticket.json");
    let refused = server.refusal(&["vru", "--ticket", theirs.to_str().unwrap()]);
    assert!(refused.contains("help: start `trackbed serve` there"), "{refused}");
    let refused = server.refusal(&["vru", "--ticket", "nowhere.json"]);
    assert!(refused.contains("`trackbed serve` writes it"), "{refused}");
}

#[test]
fn a_server_keeps_to_its_limits_and_reads_no_files() {
    let server = Server::start("limits", &["--bytes", "1 MB"]);
    let bulk = ["bulk", "--runs", "1", "--set", "protocol=tcp", "--set", "congestion=cubic"];
    let size = |size: &'static str| [&bulk[..], &["--set", size]].concat();
    let small = server.document(&size("workload.size=500kB"));
    assert_eq!(small["cells"][0]["failed"], 0, "{small}");
    let output = server.run(&size("workload.size=3MB"));
    assert_eq!(output.status.code(), Some(1));
    let large: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(large["cells"][0]["failed"], 1, "{large}");

    fs::write(server.folder.join("message.json"), "{}").unwrap();
    let refused = server.refusal(&["vru", "--set", "workload.payload=message.json"]);
    assert!(refused.contains("files are not read for others"), "{refused}");
    let refused = server.refusal(&["train", "--quick"]);
    assert!(refused.contains("a radio and a second link are not"), "{refused}");
}

/// A server that is gone is no result: what was done is kept, and the same command goes on.
#[test]
fn a_server_that_goes_away_ends_the_campaign_and_not_its_runs() {
    let mut server = Server::start("gone", &[]);
    let words = ["vru", "--set", "protocol=http2", "--set", "tls=1.3", "--set", "handshake=new"];
    let out = server.folder.join("out");
    let (runs, program) = (out.join("runs.jsonl"), server.folder.clone());
    let mut command = trackbed(&program);
    command.args(["run", "--substrate", "live", "--server", &server.address, "--runs", "500"]);
    let client = command
        .args(words)
        .args(["--set", "workload.count=100", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::read_to_string(&runs).map_or(0, |text| text.lines().count()) < 3 {
        #[expect(clippy::disallowed_methods, reason = "runs between machines take real time")]
        thread::sleep(Duration::from_millis(5));
    }
    server.process.kill().unwrap();
    let ended = client.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{errors}");
    assert!(errors.contains("start `trackbed serve` there"), "{errors}");
    assert!(errors.contains("of 500 runs are kept; continue with --out out"), "{errors}");
    let kept = fs::read_to_string(&runs).unwrap();
    assert!(kept.lines().count() < 500 && !kept.contains("\"failed\":"), "{kept}");
}

#[test]
fn a_quiet_server_tells_only_what_goes_wrong() {
    let told = |more: &[&str]| {
        let folder = std::env::temp_dir().join(format!("trackbed-told-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let words = ["serve", "--listen", "127.0.0.1", "--port", "0", "--ticket", "it.json"];
        let mut command = trackbed(&folder);
        let mut server = command.args(words).args(more).stderr(Stdio::piped()).spawn().unwrap();
        // The ticket is written by those who heed signals already.
        while !folder.join("it.json").exists() {
            assert_eq!(server.try_wait().unwrap(), None, "the server ended by itself");
            #[expect(clippy::disallowed_methods, reason = "the server takes a moment to start")]
            thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        let output = server.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        fs::remove_dir_all(&folder).unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let all = told(&[]);
    assert!(all.contains("trackbed serve: runs are asked for at 127.0.0.1:"), "{all}");
    assert_eq!(told(&["--quiet"]), "");
}

/// The inference is the client's machine's business: its files too, of which the server hears nothing.
#[test]
fn inference_goes_on_beside_the_clients() {
    let server = Server::start("inference", &[]);
    let text = "protocol = \"http2\"\n[link]\ndelay = \"1 ms\"\n[inference]\n\
                kind = [\"none\", \"command\"]\nmodel = \"model.onnx\"\n\
                command = \"while true; do echo; sleep 0.05; done\"\n[workload]\n\
                kind = \"telemetry\"\nrate = \"20 /s\"\nduration = \"5 s\"\nwarm-up = \"1 s\"\n";
    fs::write(server.folder.join("beside.toml"), text).unwrap();
    fs::write(server.folder.join("model.onnx"), [0; 9]).unwrap();
    let document = server.document(&["./beside.toml", "--runs", "1"]);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for (cell, kind) in cells.iter().zip(["none", "command"]) {
        assert_eq!(cell["factors"]["inference"], kind);
        let least = |metric: &str| cell["metrics"][metric]["min"].as_f64();
        assert_eq!(least("fps").is_some_and(|fps| fps > 0.0), kind == "command", "{cell}");
        assert_eq!(least("inference_cpu_percent").is_some(), kind == "command", "{cell}");
        assert!(least("client_cpu_percent").is_some(), "{cell}");
        assert_eq!(least("server_cpu_percent"), None, "{cell}");
        assert_eq!(least("answered_count"), Some(80.0), "{cell}");
    }
}
