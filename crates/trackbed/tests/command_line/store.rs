//! Campaigns in an object store: a server of S3 (moto, from PyPI) that knows nothing of us, two shards of
//! which one is killed, and in the end the bytes of one run. Where the server is missing this test says so
//! and passes; with `CI=true` that is a failure.
#![cfg(all(unix, feature = "store"))]
#![expect(clippy::disallowed_methods, reason = "servers take their time")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

const SCENARIO: &str = "\
protocol = [\"quic\", \"tcp\"]
runs = 400
[link]
rate = \"50 Mbit/s\"
delay = \"5 ms\"
loss = \"2 %\"
[workload]
kind = \"messages\"
count = 20
";

#[test]
fn shards_in_a_store_come_to_the_bytes_of_one_run() {
    let folder = Folder::new("shards");
    let Some(server) = Server::start(&folder.0) else { return };
    fs::write(folder.0.join("sweep.toml"), SCENARIO).unwrap();
    let first = "run sweep.toml --out s3://sweeps/a --shard 1/2";
    let mut killed = server.trackbed(&folder.0, first).spawn().unwrap();
    wait_until("the first results", || server.keys("a/shard-1-of-2/runs/") > 0);
    killed.kill().unwrap();
    let was_killed = killed.wait().unwrap().code().is_none();

    let said = succeed(server.trackbed(&folder.0, first));
    let resumed = said.contains(" runs are there already");
    assert!(resumed || !was_killed, "{said}");
    assert_eq!(server.keys("a/shard-1-of-2/runs/"), 1, "pieces become one in the end");
    succeed(server.trackbed(&folder.0, "run sweep.toml --out s3://sweeps/a --shard 2/2 --report"));
    assert_eq!(server.keys("a/shard-2-of-2/report.html"), 1);
    // Containers that share a folder for temporary files have processes of the same numbers.
    let left = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let temporary = folder.0.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut own = server.trackbed(&folder.0, "run sweep.toml --runs 2 --out s3://sweeps/own");
    own.env("TMPDIR", &temporary);
    succeed(own);
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(left).collect();
    assert!(left.is_empty(), "{left:?}");
    // Results are kept, whatever becomes of what is printed.
    let mut unread = server.trackbed(&folder.0, "run sweep.toml --runs 2 --out s3://sweeps/unread");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(unread.stdout(full).output().unwrap().status.code(), Some(2));
    assert_eq!(server.keys("unread/run.json"), 1);
    succeed(server.trackbed(&folder.0, "merge s3://sweeps/a --out merged"));
    succeed(server.trackbed(&folder.0, "run sweep.toml --out whole"));
    for file in ["runs.jsonl", "run.json", "samples.csv"] {
        let [merged, whole] =
            ["merged", "whole"].map(|name| fs::read(folder.0.join(name).join(file)).unwrap());
        assert!(merged == whole, "{file}");
    }
    succeed(server.trackbed(&folder.0, "fetch s3://sweeps/a shards"));
    succeed(server.trackbed(&folder.0, "merge shards"));
    let [here, whole] =
        ["shards", "whole"].map(|name| fs::read(folder.0.join(name).join("run.json")).unwrap());
    assert!(here == whole);
}

#[test]
fn what_a_store_cannot_do_is_said_with_a_remedy() {
    let folder = Folder::new("refused");
    let Some(server) = Server::start(&folder.0) else { return };
    let quick = "run vru --runs 1 --set protocol=tcp";
    succeed(server.trackbed(&folder.0, &format!("{quick} --out s3://sweeps/b")));
    fs::create_dir_all(folder.0.join("full/of/things")).unwrap();
    for (words, why) in [
        (format!("{quick} --seed 2 --out s3://sweeps/b"), "s3://sweeps/b cannot be continued"),
        (format!("{quick} --out s3://nobody/b"), "make the bucket first"),
        (format!("{quick} --out ftp://sweeps/b"), "s3://BUCKET/FOLDER"),
        (format!("{quick} --out s3://sweeps/b --open"), "write --report, and fetch it"),
        ("fetch s3://sweeps/nothing here".to_owned(), "nothing is there"),
        ("fetch s3://sweeps/b full".to_owned(), "is not empty"),
        ("merge s3://sweeps/b".to_owned(), "--out DIR"),
    ] {
        let output = server.trackbed(&folder.0, &words).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(why), "{words}: {errors}");
    }
    let mut plain = server.trackbed(&folder.0, "fetch s3://sweeps/b plain");
    let errors = said(&plain.env_remove("AWS_ALLOW_HTTP").output().unwrap());
    assert!(errors.contains("set AWS_ALLOW_HTTP=true"), "{errors}");
}

/// A folder of the test's own, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tb-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server of S3 with an empty bucket, which ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path) -> Option<Server> {
        let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
        let python = environment.map_or("python3".into(), |path| path.join("bin/python3"));
        let mut probe = Command::new(&python);
        probe.args(["-c", "import moto.server, flask_cors"]).stderr(Stdio::null());
        if !probe.status().is_ok_and(|status| status.success()) {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            let why = "no server of S3; pip install moto[s3] flask flask-cors";
            assert!(!is_ci, "CI=true allows no skipped test: {why}");
            eprintln!("SKIPPED: {why}");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(folder.join("server.log")).unwrap();
        let mut command = Command::new(python);
        command.args(["-c", "from moto.server import main; main()", "-H", "127.0.0.1"]);
        command.args(["-p", &port.to_string()]).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let server = Server { child, port };
        wait_until("the server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(server.ask("PUT", "/sweeps").starts_with("HTTP/1.1 200"));
        Some(server)
    }

    /// How many objects there are below `prefix`.
    fn keys(&self, prefix: &str) -> usize {
        self.ask("GET", &format!("/sweeps?list-type=2&prefix={prefix}")).matches("<Key>").count()
    }

    fn ask(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        let head = "Connection: close\r\nContent-Length: 0";
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{head}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn trackbed(&self, folder: &Path, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
        command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
        command.env("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port));
        command.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        command.env_remove("AWS_SESSION_TOKEN").env_remove("http_proxy").env_remove("HTTP_PROXY");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    said(&output)
}

/// A minute is more than anything here takes.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("{what} did not come");
}
