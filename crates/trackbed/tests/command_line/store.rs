//! Campaigns in an object store: a third-party S3 server (moto, from PyPI) and two shards, one of them killed,
//! give the same bytes as a single process. Without the server, this test is skipped, or fails with `CI=true`.

use std::net::{TcpListener, TcpStream};

use super::support::{Kept, cases, python, wait_until};
use super::sweeps::FILES;
use super::*;

#[test]
fn shards_in_a_store_come_to_the_bytes_of_one_run() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(scratch.folder()) else { return };
    let sweep = SCENARIO.replace("\"quic\"\nruns = 2", "[\"quic\", \"tcp\"]\nruns = 400");
    let sweep =
        sweep.replace("[link]", "[link]\nloss = \"2 %\"").replace("count = 2", "count = 20");
    assert!(
        ["runs = 400", "loss", "count = 20"].iter().all(|line| sweep.contains(line)),
        "{sweep}"
    );
    scratch.write("sweep.toml", &sweep);
    let first = "run sweep.toml --out s3://sweeps/a --shard 1/2";
    let mut killed = server.trackbed(&scratch, first).spawn().unwrap();
    wait_until("the first results", || server.keys("a/shard-1-of-2/runs/") > 0);
    killed.kill().unwrap();
    let was_killed = killed.wait().unwrap().code().is_none();

    let said = succeed(server.trackbed(&scratch, first));
    let resumed = said.contains(" runs already exist");
    assert!(resumed || !was_killed, "{said}");
    assert_eq!(server.keys("a/shard-1-of-2/runs/"), 1, "pieces become one in the end");
    succeed(server.trackbed(&scratch, "run sweep.toml --out s3://sweeps/a --shard 2/2 --report"));
    assert_eq!(server.keys("a/shard-2-of-2/report.html"), 1);
    // Nothing is left in the folder for temporary files.
    let temporary = scratch.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut own = server.trackbed(&scratch, "run sweep.toml --runs 2 --out s3://sweeps/own");
    own.env("TMPDIR", &temporary);
    succeed(own);
    assert_eq!(scratch.entries("temporary").len(), 0);
    // Results are uploaded even if printing fails.
    let mut unread = server.trackbed(&scratch, "run sweep.toml --runs 2 --out s3://sweeps/unread");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(unread.stdout(full).output().unwrap().status.code(), Some(2));
    assert_eq!(server.keys("unread/run.json"), 1);
    succeed(server.trackbed(&scratch, "merge s3://sweeps/a --out merged"));
    succeed(server.trackbed(&scratch, "run sweep.toml --out whole"));
    scratch.same("merged", "whole", &FILES);
    succeed(server.trackbed(&scratch, "fetch s3://sweeps/a shards"));
    succeed(server.trackbed(&scratch, "merge shards"));
    scratch.same("shards", "whole", &["run.json"]);
}

#[test]
fn what_a_store_cannot_do_is_said_with_a_remedy() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(scratch.folder()) else { return };
    let quick = "run vru --runs 1 --set protocol=tcp";
    succeed(server.trackbed(&scratch, &format!("{quick} --out s3://sweeps/b")));
    fs::create_dir_all(scratch.path("full/of/things")).unwrap();
    for row in cases("store") {
        Ended::of(&mut server.trackbed(&scratch, row[0])).refused(&row[1..]);
    }
    let mut plain = server.trackbed(&scratch, "fetch s3://sweeps/b plain");
    let ended = Ended::of(plain.env_remove("AWS_ALLOW_HTTP"));
    assert!(ended.stderr.contains("set AWS_ALLOW_HTTP=true"), "{}", ended.stderr);
}

/// A server of S3 with an empty bucket, which ends with the test.
pub struct Server {
    _process: Kept,
    pub port: u16,
}

impl Server {
    pub fn start(folder: &Path) -> Option<Server> {
        let python = python(&["moto", "flask", "flask_cors"])?;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(folder.join("server.log")).unwrap();
        let mut command = Command::new(python);
        command.args(["-c", "from moto.server import main; main()", "-H", "127.0.0.1"]);
        command.args(["-p", &port.to_string()]).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let server = Server { _process: Kept(child), port };
        wait_until("the server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(server.ask("PUT", "/sweeps").starts_with("HTTP/1.1 200"));
        Some(server)
    }

    /// The number of objects below `prefix`.
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

    pub fn trackbed(&self, scratch: &Scratch, words: &str) -> Command {
        let mut command = scratch.command(words);
        command.env("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port));
        command.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        command.env_remove("AWS_SESSION_TOKEN").env_remove("http_proxy").env_remove("HTTP_PROXY");
        command
    }
}

/// The messages of a command that must succeed.
fn succeed(mut command: Command) -> String {
    let ended = Ended::of(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    ended.says(0, &[]);
    ended.stderr
}
