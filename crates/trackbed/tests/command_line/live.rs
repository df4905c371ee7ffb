//! `trackbed serve` and `run --substrate live`: one machine as two, over its loopback interface.

use rustix::process::{Pid, Signal, kill_process};

use super::support::{Kept, listening, start, wait_until};
use super::*;

/// A server in a temporary folder; both are removed on drop.
pub struct Server {
    scratch: Scratch,
    pub process: Kept,
    pub address: String,
}

impl Server {
    pub fn start(more: &[&str]) -> Server {
        let scratch = Scratch::new();
        let words = "serve --listen 0.0.0.0 --port 0 --data-port 0 --log json";
        let mut command = scratch.command(words);
        command.args(more);
        let (process, address) = listening(command);
        // Another of its addresses than the first.
        let address = address.replace("0.0.0.0", "127.0.0.2");
        Server { scratch, process, address }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.scratch.command("run --substrate live --json --server");
        command.arg(&self.address).args(words);
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        Ended::of(&mut self.command(words))
    }

    pub fn document(&self, words: &[&str]) -> Value {
        let ended = self.run(words);
        ended.says(0, &[]);
        ended.json()
    }

    pub fn certificate(&self) -> Vec<u8> {
        let ticket = self.scratch.json("trackbed-ticket.json");
        let digits = ticket["certificate"].as_str().unwrap().as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }
}

#[test]
fn every_protocol_runs_between_two_machines() {
    let mut server = Server::start(&[]);
    let protocols =
        "protocol=coap,coap+dtls,http1,http2,http3,quic,sctp,sctp+dtls,tcp,tcp+tls,mptcp";
    let mptcp = fs::exists("/proc/sys/net/mptcp").unwrap();
    let protocols = if mptcp { protocols } else { protocols.trim_end_matches(",mptcp") };
    let only = ["--set", "tls=1.3", "--set", "handshake=new", "--set", "workload.count=3"];
    let document =
        server.document(&[&["vru", "--runs", "2", "--set", protocols][..], &only].concat());
    assert_eq!(document["substrate"], "live");
    assert_eq!(document["environment"]["server"], server.address);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), if mptcp { 11 } else { 10 });
    for cell in cells {
        // The round trip is not the scenario's.
        assert!(cell.get("expected_completion_ms").is_none(), "{cell}");
        assert_eq!(cell["failed"], 0, "{cell}");
        let metrics = &cell["metrics"];
        assert_eq!(metrics["answered_count"]["min"], 3.0, "{cell}");
        assert!(metrics["server_cpu_ms"]["min"].as_f64().unwrap() > 0.0, "{cell}");
    }
    // The server stops on SIGTERM.
    kill_process(Pid::from_child(&server.process.0), Signal::TERM).unwrap();
    assert_eq!(server.process.0.wait().unwrap().code(), Some(0));
}

/// Telemetry: each message of each protocol is answered in time, with the requested cipher.
#[test]
fn telemetry_runs_between_two_machines() {
    let server = Server::start(&[]);
    server.scratch.write("telemetry.toml", include_str!("../data/scenarios/telemetry.toml"));
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
    let server = Server::start(&[]);
    let mut other = server.scratch.json("trackbed-ticket.json");
    other["secret"] = "0".repeat(64).into();
    server.scratch.write("guessed.json", &other.to_string());
    server.run(&["vru", "--ticket", "guessed.json"]).says(2, &["wrong ticket"]);

    // The ticket of another server, whose certificate differs.
    let another = Server::start(&[]);
    let theirs = another.scratch.path("trackbed-ticket.json");
    let ended = server.run(&["vru", "--ticket", theirs.to_str().unwrap()]);
    ended.says(2, &["help: start `trackbed serve` there"]);
    server.run(&["vru", "--ticket", "nowhere.json"]).says(2, &["`trackbed serve` writes it"]);
}

#[test]
fn a_server_keeps_to_its_limits_and_reads_no_files() {
    let server = Server::start(&["--bytes", "1 MB"]);
    let bulk = ["bulk", "--runs", "1", "--set", "protocol=tcp", "--set", "congestion=cubic"];
    let size = |size: &'static str| [&bulk[..], &["--set", size]].concat();
    let small = server.document(&size("workload.size=500kB"));
    assert_eq!(small["cells"][0]["failed"], 0, "{small}");
    let ended = server.run(&size("workload.size=3MB"));
    assert_eq!(ended.status, 1);
    let large = ended.json();
    assert_eq!(large["cells"][0]["failed"], 1, "{large}");

    server.scratch.write("message.json", "{}");
    let ended = server.run(&["vru", "--set", "workload.payload=message.json"]);
    ended.says(2, &["a scenario from another machine must not name files"]);
    server.run(&["train", "--quick"]).says(2, &["a radio and a second link are not"]);
}

/// A lost server is not a result: finished runs are kept, and the same command continues.
#[test]
fn a_server_that_goes_away_ends_the_campaign_and_not_its_runs() {
    let mut server = Server::start(&[]);
    let runs = server.scratch.path("out/runs.jsonl");
    let words = "run vru --substrate live --runs 500 --set protocol=http2 --set tls=1.3 --set \
                 handshake=new --set workload.count=100 --out out --server";
    let mut command = server.scratch.command(words);
    command.arg(&server.address);
    let client = start(command);
    let lines = || fs::read_to_string(&runs).map_or(0, |text| text.lines().count());
    wait_until("some runs", || lines() >= 3);
    server.process.0.kill().unwrap();
    let ended = Ended::from(client.wait_with_output().unwrap());
    let kept = "of 500 runs are kept; continue with --out out";
    ended.says(2, &["start `trackbed serve` there", kept]);
    let kept = fs::read_to_string(&runs).unwrap();
    assert!(kept.lines().count() < 500 && !kept.contains("\"failed\":"), "{kept}");
}

#[test]
fn a_quiet_server_tells_only_what_goes_wrong() {
    let told = |more: &[&str]| {
        let scratch = Scratch::new();
        let mut command = scratch.command("serve --port 0 --ticket it.json");
        command.args(more);
        let server = start(command);
        // The server writes the ticket after it has installed its signal handlers.
        wait_until("the ticket", || scratch.path("it.json").exists());
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        let ended = Ended::from(server.wait_with_output().unwrap());
        ended.says(0, &[]);
        ended.stderr
    };
    let all = told(&["--listen", "127.0.0.1"]);
    assert!(all.contains("trackbed serve: runs are asked for at 127.0.0.1:"), "{all}");
    assert_eq!(told(&["--quiet", "--listen", "127.0.0.1"]), "");
    if fs::exists("/proc/net/if_inet6").unwrap() {
        assert!(told(&["--listen", "::1"]).contains("over IPv6 only"));
    }
}

/// The inference runs on the client's machine; the server does not learn of its files.
/// A command does not get the user's environment variables, which may be secrets.
#[test]
fn inference_goes_on_beside_the_clients() {
    let server = Server::start(&[]);
    server.scratch.write("beside.toml", include_str!("../data/scenarios/inference.toml"));
    server.scratch.write("model.onnx", &[0; 9]);
    let mut command = server.command(&["./beside.toml", "--runs", "1", "--allow-commands"]);
    let ended = Ended::of(command.env("SECRET", "of-the-user-alone"));
    ended.says(0, &["note: this scenario contains commands", "test -z $SECRET"]);
    let document = ended.json();
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
