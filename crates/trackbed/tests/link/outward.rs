//! Connections from a link to the outside: servers of this test, and programs behind the link (see `guests`).

use std::fs;
use std::io::{self, ErrorKind, Read, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use crate::guests::{self, digest, pattern};
use crate::packets::open_folder;
use crate::roles::{play, unspecified};
use crate::support::kill;
use crate::{PROGRAM, User, command, in_a_machine_of_its_own, link, trackbed, users};

/// A server on this machine's loopback address, for each user and available family: the user, the server, and the
/// address that a program behind a link uses.
fn everywhere<S>(bind: impl Fn(SocketAddr) -> io::Result<(S, u16)>) -> Vec<(User, S, SocketAddr)> {
    let families = [
        ((Ipv4Addr::LOCALHOST, 0).into(), "100.64.0.1".parse().unwrap()),
        ((Ipv6Addr::LOCALHOST, 0).into(), "fd74:7261::1".parse().unwrap()),
    ];
    let mut all = Vec::new();
    for user in users() {
        for (local, gateway) in families {
            match bind(local) {
                Ok((server, port)) => all.push((user, server, SocketAddr::new(gateway, port))),
                Err(why) => eprintln!("SKIPPED: this machine has no {local}: {why}"),
            }
        }
    }
    all
}

pub fn tcp(local: SocketAddr) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind(local)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

fn udp(local: SocketAddr) -> io::Result<(UdpSocket, u16)> {
    let socket = UdpSocket::bind(local)?;
    let port = socket.local_addr()?.port();
    Ok((socket, port))
}

/// The exit status and output of a role behind a link.
fn behind(user: User, options: &[&str], role: &str) -> String {
    let (status, text) = link(user, &[options, &["--", "sh", "-c", &play(role)]].concat());
    assert_eq!(status, 0, "{text}");
    text
}

fn line<'a>(text: &'a str, word: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(word));
    found.unwrap_or_else(|| panic!("no \"{word}\" in {text}")).trim()
}

/// Returns all data, on every connection.
fn serve_echoes(listener: TcpListener) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || io::copy(&mut &stream, &mut &stream).unwrap());
        }
    });
}

/// Answers one connection: reads to the end, and only then sends.
pub fn answer(listener: &TcpListener) -> u64 {
    let (mut stream, _) = listener.accept().unwrap();
    let received = digest(&mut stream).unwrap();
    stream.write_all(&pattern(2, BYTES)).unwrap();
    received
}

#[test]
#[ignore = "thorough: real time"]
fn bytes_and_ends_arrive_after_the_delay() {
    let expected = |seed| digest(&mut &pattern(seed, BYTES)[..]).unwrap();
    for (user, listener, address) in everywhere(tcp) {
        let server = thread::spawn(move || answer(&listener));
        let text = behind(user, &["--delay", "20ms"], &format!("exchange {address} {BYTES}"));
        assert_eq!(server.join().unwrap(), expected(1));
        assert_eq!(line(&text, "digest"), format!("{:x}", expected(2)));
        let connected: u64 = line(&text, "connected").parse().unwrap();
        // A lost SYN would have cost a second, and a SYN answered by a relay no round trip.
        assert!(connected >= 40_000, "{connected} us");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn links_inside_links_lead_out_too() {
    for (user, listener, address) in everywhere(tcp) {
        let server = thread::spawn(move || answer(&listener));
        let inner = play(&format!("exchange {address} {BYTES}"));
        let script = format!("{} link --delay 15ms -- {inner}", PROGRAM.display());
        let (status, text) = link(user, &["--delay", "10ms", "--", "sh", "-c", &script]);
        assert_eq!(status, 0, "{text}");
        server.join().unwrap();
        let connected: u64 = line(&text, "connected").parse().unwrap();
        assert!(connected >= 50_000, "{connected} us");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn a_server_behind_a_link_is_reached_at_its_published_port() {
    // Its own port is free, too: the link is another machine.
    for (user, listener, _) in everywhere(tcp) {
        let published = listener.local_addr().unwrap();
        drop(listener);
        let any = SocketAddr::new(unspecified(published.ip()), published.port());
        let server = thread::spawn(move || {
            behind(user, &["--publish", &published.to_string()], &format!("answer {any}"))
        });
        // Until the server listens, connections are refused: first here, then inside.
        let answered = loop {
            assert!(!server.is_finished(), "the link has failed");
            if let Ok(digest) = guests::exchange(published, BYTES) {
                break digest;
            }
        };
        assert_eq!(answered, digest(&mut &pattern(2, BYTES)[..]).unwrap());
        let received = digest(&mut &pattern(1, BYTES)[..]).unwrap();
        assert_eq!(line(&server.join().unwrap(), "received"), format!("{received:x}"));
    }
}

#[test]
#[ignore = "thorough: real time"]
#[expect(clippy::disallowed_methods, reason = "the link runs in real time")]
fn datagrams_to_a_published_port_are_answered_from_the_address_that_they_were_sent_to() {
    for (user, socket, _) in everywhere(udp) {
        let local = socket.local_addr().unwrap();
        drop(socket);
        let any = SocketAddr::new(unspecified(local.ip()), local.port());
        let (port, role) = (format!("{any}/udp"), play(&format!("return {any}")));
        let words = ["link", "--publish", &port, "--delay", "20ms", "--", "sh", "-c", &role];
        let mut child = trackbed(user, &words).stdout(Stdio::null()).spawn().unwrap();
        let other = if local.is_ipv4() { Ipv4Addr::new(127, 0, 0, 2).into() } else { local.ip() };
        let client = UdpSocket::bind((unspecified(local.ip()), 0)).unwrap();
        client.connect((other, local.port())).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        // Until the server listens they are lost.
        let mut begun = Instant::now();
        while client.send(b"hello").is_err() || client.recv(&mut [0; 9]).ok() != Some(5) {
            assert_eq!(child.try_wait().unwrap(), None, "the link has failed");
            begun = Instant::now();
        }
        assert!(begun.elapsed() >= Duration::from_millis(40), "{:?}", begun.elapsed());
        assert_eq!(guests::datagrams(local), "all came back");
        kill(child);
    }
}

#[test]
#[ignore = "thorough: real time"]
fn fifty_connections_at_once_keep_their_bytes_apart() {
    for (user, listener, address) in everywhere(tcp) {
        serve_echoes(listener);
        let text = behind(user, &["--delay", "5ms"], &format!("many {address} 50"));
        assert!(text.contains("all came back"), "{text}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn refusals_and_resets_are_carried_over() {
    for (user, listener, address) in everywhere(tcp) {
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            drop(stream);
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 1]).unwrap();
            stream.write_all(b"y").unwrap();
            stream.read(&mut [0; 1]).map_err(|why| why.kind())
        });
        let text = behind(user, &[], &format!("connect {address}"));
        assert!(text.contains("Err(ConnectionReset)"), "{text}");
        behind(user, &[], &format!("abort {address}"));
        assert_eq!(server.join().unwrap(), Err(ErrorKind::ConnectionReset));
        let text = behind(user, &[], &format!("connect {address}"));
        assert!(text.contains("Err(ConnectionRefused)"), "{text}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn what_this_machine_cannot_reach_is_unreachable() {
    for user in users() {
        // A machine without a network.
        let program = PROGRAM.display();
        let script = format!("{program} link -- {}", play("connect 192.0.2.1:80"));
        let output = in_a_machine_of_its_own(user, &script);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("Err(NetworkUnreachable)"), "{output:?}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn hosts_outside_answer_pings_where_users_may_ping() {
    if users().is_empty() {
        return;
    }
    let program = PROGRAM.display();
    let script = format!(
        "ip link set lo up && ip addr add 192.0.2.9/32 dev lo && ping -V || exit 77; \
         ping_through() {{ {program} link --delay 20ms -- ping -c 3 -i 0.2 -W 5 192.0.2.9; }}; \
         echo 1 0 > /proc/sys/net/ipv4/ping_group_range; ping_through; \
         echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range && ping_through"
    );
    let output = in_a_machine_of_its_own(User::Current, &script);
    if output.status.code() == Some(77) {
        return eprintln!("SKIPPED: no ip(8) or ping(8), or no right to use them: {output:?}");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    // Without permission for pings, the kernel in front of the link must not answer for other hosts.
    let (forbidden, allowed) = text.split_once("ping statistics").unwrap();
    assert!(!forbidden.contains("bytes from 192.0.2.9"), "{text}");
    let times = allowed.lines().filter_map(|line| line.split_once("time=")?.1.split_once(" ms"));
    let times: Vec<f64> = times.map(|(time, _)| time.parse().unwrap()).collect();
    assert!(times.len() == 3 && times.iter().all(|millis| *millis >= 40.0), "{text}");
}

#[test]
#[ignore = "thorough: real time"]
fn connections_beyond_the_limit_wait_and_are_told_of_once() {
    for (user, listener, address) in everywhere(tcp) {
        serve_echoes(listener);
        let many = play(&format!("many {address} 60"));
        let script =
            format!("ulimit -n 128 && exec {} link -- sh -c \"{many}\"", PROGRAM.display());
        let output = command("sh".as_ref(), user).args(["-c", &script]).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("all came back"), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            told.matches("than the 32 that the gateway holds at once with this `ulimit -Hn`")
                .count(),
            1,
            "{told}"
        );
    }
}

#[test]
fn datagrams_come_back_whole_and_in_order() {
    for (user, socket, address) in everywhere(udp) {
        let echo = socket.try_clone().unwrap();
        echo.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let echoing = thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            for _ in 0..10 {
                let (length, from) = echo.recv_from(&mut buffer).unwrap();
                echo.send_to(&buffer[..length], from).unwrap();
            }
        });
        let folder = open_folder();
        let log = folder.path().join("log");
        let mtus = ["--up", "mtu=1400B", "--down", "mtu=1300B", "--log", log.to_str().unwrap()];
        let text = behind(user, &mtus, &format!("datagrams {address}"));
        assert!(text.contains("all came back"), "{text}");
        echoing.join().unwrap();
        let log = fs::read_to_string(&log).unwrap();
        for (way, mtu) in [("up", 1_400), ("down", 1_300)] {
            let entered = |line: &str| line.split(' ').nth(2)?.parse().ok();
            let lines = log.lines().filter(|line| line.contains(" + ") && line.ends_with(way));
            let most: Option<u32> = lines.filter_map(entered).max();
            // Fragments are multiples of eight bytes.
            assert!(most.is_some_and(|most| (mtu - 7..=mtu).contains(&most)), "{most:?} {way}");
        }
        drop(socket);
        let text = behind(user, &[], &format!("datagrams {address}"));
        assert!(text.contains("ConnectionRefused"), "{text}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn what_a_command_has_left_to_the_kernel_arrives() {
    let both = |local| {
        let listener = TcpListener::bind(local)?;
        let local = listener.local_addr()?;
        Ok(((listener, UdpSocket::bind(local)?), local.port()))
    };
    for (user, (listener, socket), address) in everywhere(both) {
        // The output is read after the command has ended; the buffers are large enough.
        behind(user, &["--delay", "50ms"], &format!("leave {address} 1000000"));
        let (mut stream, _) = listener.accept().unwrap();
        assert_eq!(digest(&mut stream).unwrap(), digest(&mut &pattern(1, 1_000_000)[..]).unwrap());
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(socket.recv(&mut [0; 10]).unwrap(), 3);
    }
}

#[test]
#[ignore = "thorough: real time"]
fn an_isolated_command_reaches_no_host() {
    for (user, _listener, address) in everywhere(tcp) {
        let text = behind(user, &["--isolated"], &format!("connect {address}"));
        assert!(text.contains("Err(ConnectionRefused)"), "{text}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn connections_end_with_a_link_that_is_killed() {
    for user in users() {
        let (listener, port) = tcp((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let script = play(&format!("connect 100.64.0.1:{port}"));
        let mut command = trackbed(user, &["link", "--", "sh", "-c", &script]);
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        kill(child);
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let ended = stream.read(&mut [0; 1]).map_err(|why| why.kind());
        assert!(matches!(ended, Ok(0) | Err(ErrorKind::ConnectionReset)), "{ended:?}");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn curl_loads_a_page() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return eprintln!("SKIPPED: there is no curl (Debian package curl)");
    }
    for (user, listener, address) in everywhere(tcp) {
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let count = stream.read(&mut [0; 4_096]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").unwrap();
            count
        });
        let url = format!("http://{address}/");
        let arguments = ["--delay", "5ms", "--", "curl", "-gsS", "--noproxy", "*", &url];
        assert_eq!(link(user, &arguments), (0, "hello".to_owned()));
        assert!(server.join().unwrap() > 0);
    }
}

/// More than all buffers on the path hold.
const BYTES: usize = 20_000_000;
