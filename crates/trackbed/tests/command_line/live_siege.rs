//! `trackbed serve` among malicious clients: its memory stays small, and a genuine client is served.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use trackbed_connection::{Request, body};
use trackbed_core::Time;
use trackbed_linux::allow_descriptors;
use trackbed_linux::processes::resident_max;
use trackbed_protocols::{ClientConfig, TlsParameters, Trust, registry};
use trackbed_substrate::before;
use trackbed_substrate::kernel::{Execution, Origin};

use super::live::Server;
use super::*;

fn besieged() -> Server {
    allow_descriptors();
    let server = Server::start(&[]);
    let pid = Pid::from_child(&server.process.0);
    let limit = Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) };
    prlimit(Some(pid), Resource::Nofile, limit).unwrap();
    server
}

fn genuine(server: &Server) {
    let only =
        "--runs 1 --set protocol=http2 --set tls=1.3 --set handshake=new --set workload.count=3";
    let mut words = vec!["vru"];
    words.extend(only.split(' '));
    let document = server.document(&words);
    assert_eq!(document["cells"][0]["failed"], 0, "{document}");
}

/// Connects and sends something in the clear.
fn untrusted(address: &str, kind: usize) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    let said: &[u8] = match kind % 4 {
        0 => b"",
        // Only the beginning of a ClientHello of 512 bytes (RFC 8446 section 5.1).
        1 => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        2 => b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        _ => &[0x80; 4_096],
    };
    // The server may already have closed it.
    let _gone = stream.write_all(said);
    Some(stream)
}

/// `count` connections that complete the handshake and ask, without the ticket, with a body of 1 MiB each.
fn askers(address: &str, certificate: &[u8], count: usize) {
    let protocol = *registry().iter().find(|protocol| protocol.name() == "http1").unwrap();
    let trust = Some(Trust::from_der(certificate.to_vec()));
    let config = ClientConfig { trust, tls: TlsParameters::default(), ..ClientConfig::default() };
    let server = address.parse().unwrap();
    let execution = Execution::new(Origin::now()).with_time_limit(Time::from_millis(60_000));
    let asked = execution.run(|machine| async move {
        let mut tasks = Vec::new();
        for _ in 0..count {
            let host = machine.host("client", ["127.0.0.1".parse().unwrap()]);
            let dialer = protocol.dialer(host, &config).unwrap();
            tasks.push(trackbed_substrate::spawn(async move {
                let Ok(connection) = dialer.connect(server).await else { return };
                let path = format!("/trackbed/2/open/{}", "0".repeat(64));
                let request = Request::new(path, body::full(vec![0; 1 << 20]));
                let until = trackbed_substrate::now() + Duration::from_secs(5);
                let _refused = before(until, connection.exchange(request)).await;
            }));
        }
        for task in tasks {
            task.await;
        }
    });
    asked.unwrap();
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn besiege(attempts: usize) {
    let server = besieged();
    let certificate = server.certificate();
    let (over, tried) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut held = std::collections::VecDeque::new();
            while !over.load(Ordering::Relaxed) || tried.load(Ordering::Relaxed) < attempts {
                held.extend(untrusted(&server.address, tried.fetch_add(1, Ordering::Relaxed)));
                if held.len() > 2 * DESCRIPTORS as usize {
                    held.pop_front();
                }
            }
        });
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                tried.fetch_add(ASKERS, Ordering::Relaxed);
                askers(&server.address, &certificate, ASKERS);
            }
        });
        // The threads end also if an assertion fails here.
        let _end = SetOnDrop(&over);
        for _ in 0..3 {
            genuine(&server);
        }
    });
    // And after all of it.
    genuine(&server);
    let resident = resident_max(server.process.0.id()).unwrap();
    assert!(resident < 150_000_000, "{resident} bytes");
    let tried = tried.load(Ordering::Relaxed);
    println!("{tried} attempts, {resident} bytes");
}

#[test]
fn a_server_with_few_descriptors_serves_among_two_thousand_unknown_clients() {
    besiege(2_000);
}

#[test]
#[ignore = "thorough: real time"]
fn a_server_with_few_descriptors_serves_among_twenty_thousand_unknown_clients() {
    besiege(20_000);
}

/// More idle connections than a process may open.
#[test]
fn silent_connections_are_no_end_of_a_server() {
    let server = besieged();
    let held: Vec<TcpStream> = (0..1_100).filter_map(|_| untrusted(&server.address, 0)).collect();
    assert_eq!(held.len(), 1_100);
    genuine(&server);
    drop(held);
    genuine(&server);
}

#[test]
fn more_phones_than_descriptors_are_refused_by_name() {
    let server = besieged();
    let phones = ["bulk", "--runs", "1", "--set", "protocol=tcp", "--set", "congestion=cubic"];
    let words = [&phones[..], &["--set", "workload.phones=1000"]].concat();
    let limit = "1000 phones are too many for the server: a process may open 512 descriptors there";
    server.run(&words).says(2, &[limit, "help: raise the limit"]);
}

/// The number of simultaneous connections. The client's end shares the machine.
const ASKERS: usize = 50;

const DESCRIPTORS: u64 = 512;
