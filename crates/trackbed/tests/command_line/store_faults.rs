//! Object stores that fail half-way: a proxy in front of the server of S3 answers errors, cuts connections off in
//! the middle of an upload, or is slow. No result is lost, and a later run completes the stored results.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::store::Server;
use super::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The server answers status 500.
    Error,
    /// The connection is reset when half of an upload has arrived.
    Cut,
    /// The answer arrives after this number of milliseconds.
    Late(u64),
}

/// A proxy between the program and the server. It fails requests until it is mended.
struct Proxy {
    port: u16,
    is_mended: Arc<AtomicBool>,
    failed: Arc<AtomicUsize>,
}

impl Proxy {
    /// `fault` decides how a request fails, by its number from 0 and its method.
    fn start(
        server: &Server,
        fault: impl Fn(usize, &str) -> Fault + Send + Sync + 'static,
    ) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_mended, failed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (mended, failures, behind) = (is_mended.clone(), failed.clone(), server.port);
        let fault = Arc::new(fault);
        thread::spawn(move || {
            for (number, near) in listener.incoming().enumerate() {
                let (mended, failures, fault) = (mended.clone(), failures.clone(), fault.clone());
                thread::spawn(move || {
                    let fault = |method: &str| match mended.load(Ordering::Relaxed) {
                        true => Fault::None,
                        false => fault(number, method),
                    };
                    // Either side may go at any time.
                    if pass_on(near.unwrap(), behind, fault).is_ok_and(|fault| fault != Fault::None)
                    {
                        failures.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Proxy { port, is_mended, failed }
    }
}

/// One request and its answer; the connection ends with it.
fn pass_on(
    mut near: TcpStream,
    behind: u16,
    fault: impl FnOnce(&str) -> Fault,
) -> std::io::Result<Fault> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        near.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    let fault = fault(text.split(' ').next().unwrap_or_default());
    match fault {
        // What was not read makes a reset of the end.
        Fault::Cut if !body.is_empty() => {
            let half = body.len() / 2;
            near.read_exact(&mut body[..half])?;
            return Ok(fault);
        }
        Fault::Cut | Fault::None | Fault::Error => {}
        #[expect(clippy::disallowed_methods, reason = "the program runs in real time")]
        Fault::Late(millis) => thread::sleep(Duration::from_millis(millis)),
    }
    near.read_exact(&mut body)?;
    if fault == Fault::Error {
        let answer =
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        near.write_all(answer.as_bytes())?;
        return Ok(fault);
    }
    let mut far = TcpStream::connect(("127.0.0.1", behind))?;
    let head = text.trim_end().to_owned() + "\r\nConnection: close\r\n\r\n";
    far.write_all(&[head.as_bytes(), &body].concat())?;
    std::io::copy(&mut far, &mut near)?;
    near.shutdown(Shutdown::Write)?;
    Ok(fault)
}

const RUN: &str = "run a.toml --runs 20 --quiet";

/// A scratch folder with the scenario, and what it comes to without a store.
fn scratch() -> Scratch {
    let scratch = scenario();
    scratch.succeed(&format!("{RUN} --out whole"));
    fs::create_dir(scratch.path("temporary")).unwrap();
    scratch
}

fn through(server: &Server, proxy: &Proxy, scratch: &Scratch, words: &str) -> Ended {
    let mut command = server.trackbed(scratch, words);
    command.env("AWS_ENDPOINT", format!("http://127.0.0.1:{}", proxy.port));
    Ended::of(command.env("TMPDIR", scratch.path("temporary")))
}

/// The store has what a run without one comes to.
fn is_whole(server: &Server, proxy: &Proxy, scratch: &Scratch, place: &str) {
    through(server, proxy, scratch, &format!("fetch s3://sweeps/{place} {place}")).says(0, &[]);
    scratch.same(place, "whole", &["runs.jsonl", "samples.csv"]);
}

/// Errors from the very first request on, after the store was read, and in the middle of what is sent.
#[test]
#[ignore = "thorough: real time"]
fn a_store_that_answers_errors_from_some_request_on_loses_nothing() {
    let place = Scratch::new();
    let Some(server) = Server::start(place.folder()) else { return };
    thread::scope(|scope| {
        for first in [0, 2, 3, 4, 6] {
            let server = &server;
            scope.spawn(move || fails_from(server, first));
        }
    });
}

fn fails_from(server: &Server, first: usize) {
    let scratch = scratch();
    let fault = move |number, _: &str| if number < first { Fault::None } else { Fault::Error };
    let proxy = Proxy::start(server, fault);
    let place = format!("from-{first}");
    let words = format!("{RUN} --out s3://sweeps/{place}");
    let ended = through(server, &proxy, &scratch, &words);
    println!("{first}: {}", ended.stderr);
    ended.says(2, &["500"]);
    let errors = ended.stderr.lines().filter(|line| line.starts_with("error:")).count();
    assert_eq!(errors, 1, "{first}: {}", ended.stderr);
    assert!(proxy.failed.load(Ordering::Relaxed) > 0);
    let left = scratch.entries("temporary");
    match ended.stderr.contains("all results are in ") {
        true => {
            let [left] = &left[..] else { panic!("{first}: {left:?}") };
            assert!(ended.stderr.contains(&left.display().to_string()), "{}", ended.stderr);
            let runs = fs::read_to_string(left.join("runs.jsonl")).unwrap();
            assert_eq!(runs.lines().count(), 20, "{first}");
        }
        // Nothing was run yet.
        false => assert!(left.is_empty(), "{first}: {left:?}"),
    }
    proxy.is_mended.store(true, Ordering::Relaxed);
    through(server, &proxy, &scratch, &words).says(0, &[]);
    is_whole(server, &proxy, &scratch, &place);
}

#[test]
#[ignore = "thorough: real time"]
fn uploads_that_are_cut_off_are_sent_again() {
    let scratch = scratch();
    let Some(server) = Server::start(scratch.folder()) else { return };
    let proxy = Proxy::start(&server, |number, method| {
        if method == "PUT" && number % 2 == 0 { Fault::Cut } else { Fault::None }
    });
    let words = format!("{RUN} --out s3://sweeps/cut");
    println!("{}", through(&server, &proxy, &scratch, &words).stderr);
    let failed = proxy.failed.load(Ordering::Relaxed);
    assert!(failed > 1, "{failed} were cut off");
    proxy.is_mended.store(true, Ordering::Relaxed);
    through(&server, &proxy, &scratch, &words).says(0, &[]);
    is_whole(&server, &proxy, &scratch, "cut");
}

#[test]
#[ignore = "thorough: real time"]
fn a_slow_store_is_waited_for() {
    let scratch = scratch();
    let Some(server) = Server::start(scratch.folder()) else { return };
    let proxy = Proxy::start(&server, |_, _| Fault::Late(400));
    through(&server, &proxy, &scratch, &format!("{RUN} --out s3://sweeps/slow")).says(0, &[]);
    assert!(scratch.entries("temporary").is_empty());
    is_whole(&server, &proxy, &scratch, "slow");
}
