//! The whole router on a ride: a passenger's programs use plain TCP, the relay uses Multipath TCP over both
//! operators, and the daemon steers it away from handovers.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use trackbed_emulator::namespace::set_sysctl;

use crate::gpsd::{Behaviour, Gpsd};
use crate::railway::{Railway, SERVER, WIFI};
use crate::ride::{play_outages, ride, write_table};
use crate::rides::{Daemon, receive, serve};
use crate::support::{Kept, ask_socks, wait_within};
use crate::{alone, file, read, trackbed};

const SOCKS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(WIFI[0]), 1_080);
const METRICS: &str = "127.0.0.1:9473";

fn start(railway: &Railway, log: &str) -> Daemon {
    let mut command = trackbed(&["relay", "--socks", &SOCKS.to_string(), "--metrics", METRICS]);
    command.args(["--transparent", "0.0.0.0:7462", "--drain", "2 s"]);
    command.stderr(File::create(file(log)).unwrap());
    let relay = Daemon(Kept(railway.train.run(|| command.spawn().unwrap()).unwrap()));
    wait_within(30, "the relay", || read(log).contains("SOCKS5 front at"));
    relay
}

/// A passenger asks for a connection to the server by SOCKS5. Returns it, and the code of the answer.
fn ask(railway: &Railway, port: u16) -> (TcpStream, u8) {
    let stream = railway.passenger.run(|| TcpStream::connect(SOCKS).unwrap()).unwrap();
    let code = ask_socks(&stream, SocketAddrV4::new(SERVER, port));
    (stream, code)
}

fn by_socks(railway: &Railway, port: u16) -> TcpStream {
    let (stream, code) = ask(railway, port);
    assert_eq!(code, 0);
    stream
}

#[test]
#[ignore = "thorough: real time"]
fn a_passenger_keeps_receiving_through_outages_with_programs_that_know_nothing() {
    let Some(_alone) = alone() else { return };
    let railway = Railway::new();
    let table = file("router.geojson");
    write_table(&table);
    let _gpsd = Gpsd::start(&railway.train, &ride(), railway.clock, Behaviour::Honest);
    let (table, state) = (table.display().to_string(), file("router.json").display().to_string());
    let daemon = Daemon::start(&railway, &["--table", &table, "--state", &state], "router.log");
    let relay = start(&railway, "relay.log");
    serve(&railway, 5_000);
    let stream = by_socks(&railway, 5_000);
    let (gap, goodput) = thread::scope(|scope| {
        let received = scope.spawn(|| receive(stream, &railway));
        play_outages(&railway);
        received.join().unwrap()
    });
    println!("gap {gap:?}, goodput {goodput} Mbit/s");
    let figures = railway.figures(METRICS);
    let counted = "trackbed_relay_connections_total{transport=\"mptcp\"} 1\n";
    assert!(figures.contains(counted), "{figures}");
    // One operator alone gives 25.
    assert!(goodput > 30.0, "{goodput} Mbit/s");
    assert!(gap.span < Duration::from_millis(150), "{gap:?}; an outage is 300 ms");
    assert!(relay.end() && daemon.end());
}

/// Ends are forwarded separately for each direction, and aborts are forwarded.
#[test]
#[ignore = "thorough: real time"]
fn ends_and_aborts_reach_the_other_side() {
    let Some(_alone) = alone() else { return };
    let railway = Railway::new();
    let relay = start(&railway, "ends.log");
    let listener = railway.listen(7);
    let mut client = by_socks(&railway, 7);
    let (mut server, _) = listener.accept().unwrap();
    // A megabyte up and its end; then one down, on the half-closed connection.
    let content: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    let sent = content.clone();
    let mut writer = client.try_clone().unwrap();
    let sender = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    server.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    assert!(received == content, "every byte in its order");
    let sent = content.clone();
    // While the client reads: without a reader, the amount in buffers is up to the kernel.
    let sender = thread::spawn(move || server.write_all(&sent).unwrap());
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    assert!(received == content, "every byte in its order");

    // An abort by the server becomes an abort for the client.
    let mut client = by_socks(&railway, 7);
    let (server, _) = listener.accept().unwrap();
    client.write_all(b"x").unwrap();
    set_socket_linger(&server, Some(Duration::ZERO)).unwrap();
    drop(server);
    let error = client.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);

    // No server listens there; a plain TCP server is reached and counted as such.
    assert_eq!(ask(&railway, 9).1, 5, "connection refused");
    let plain = railway.server.run(|| TcpListener::bind((SERVER, 8)).unwrap()).unwrap();
    let client = by_socks(&railway, 8);
    drop((plain.accept().unwrap(), client));
    let figures = railway.figures(METRICS);
    for line in [
        "connections_total{transport=\"mptcp\"} 2\n",
        "connections_total{transport=\"tcp\"} 1\n",
        "failures_total{reason=\"unreachable\"} 1\n",
        "bytes_total{direction=\"down\"} 1000000\n",
    ] {
        assert!(figures.contains(line), "{line} in {figures}");
    }
    assert!(relay.end());
}

/// If one side does not read, the relay stops reading from the other: the sender is blocked once little more
/// than the buffers is accepted.
#[test]
#[ignore = "thorough: real time"]
fn a_reader_that_stands_still_holds_up_the_sender() {
    let Some(_alone) = alone() else { return };
    let railway = Railway::new();
    let relay = start(&railway, "pressure.log");
    let listener = railway.listen(7);
    let client = by_socks(&railway, 7);
    let (mut server, _) = listener.accept().unwrap();
    server.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
    let mut sent = 0;
    // Buffers of the kernel grow to some megabytes each; a relay that reads on takes everything.
    while sent < 200_000_000 {
        match server.write(&[0; 65_536]) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    assert!(sent < 100_000_000, "{sent} bytes were taken although the client does not read");
    drop(client);
    assert!(relay.end());
}

/// The transparent front, with the rules that the program prints and third-party programs: curl, and a plain
/// TCP server.
#[test]
#[ignore = "thorough: real time"]
fn the_firewalls_rules_lead_a_passengers_connections_to_the_relay() {
    let Some(_alone) = alone() else { return };
    let railway = Railway::new();
    let relay = start(&railway, "transparent.log");
    let rules = trackbed(&["relay", "--transparent", "0.0.0.0:7462", "--print-rules", "wifi"])
        .output()
        .unwrap();
    let rules = String::from_utf8(rules.stdout).unwrap();
    railway.train.run(|| set_sysctl("ipv4/ip_forward", "0").unwrap()).unwrap();
    let applied = || Command::new("sh").args(["-ec", &rules]).output().unwrap();
    let applied = railway.train.run(applied).unwrap();
    if !applied.status.success() {
        return eprintln!(
            "SKIPPED: no nft(8) (Debian package nftables) or no TPROXY in this kernel: {applied:?}"
        );
    }
    let listener = railway.server.run(|| TcpListener::bind((SERVER, 80)).unwrap()).unwrap();
    let seen = thread::spawn(move || {
        let (mut stream, from) = listener.accept().unwrap();
        let mut request = [0; 4_096];
        let count = stream.read(&mut request).unwrap();
        assert!(request[..count].starts_with(b"GET /hello"));
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere").unwrap();
        from.ip()
    });
    let url = format!("http://{SERVER}/hello");
    let curl = || Command::new("curl").args(["-s", "-m", "20", &url]).output();
    let Ok(output) = railway.passenger.run(curl).unwrap() else {
        return eprintln!("SKIPPED: there is no curl (Debian package curl)");
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "there", "{output:?}");
    assert_eq!(seen.join().unwrap(), crate::railway::train(0), "the server sees the router");
    // A port without a server: the passenger gets an error.
    let refused =
        || TcpStream::connect((SERVER, 81)).and_then(|mut stream| stream.read(&mut [0; 1]));
    let error = railway.passenger.run(refused).unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert!(relay.end());
}
