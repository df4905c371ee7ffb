//! The way out of a link: servers of this test, outside, and programs behind the link that reach
//! them.

use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, ErrorKind, Read, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Pid, Signal, kill_process};

use crate::roles::{now, play};
use crate::{PROGRAM, User, command, in_a_machine_of_its_own, link, trackbed, users};

/// What a program behind a link does to reach `address`; `number` is the role's own.
pub fn take_part(role: &str, address: SocketAddr, number: &str) {
    match role {
        "exchange" => exchange(address, number.parse().unwrap()),
        "many" => many(address, number.parse().unwrap()),
        "connect" => connect(address),
        "abort" => abort(address),
        "datagrams" => datagrams(address),
        _ => panic!("there is no role \"{role}\""),
    }
}

/// Sends that many bytes, ends, reads what comes back, and prints how long the connection took to
/// come about and the digest of what came.
fn exchange(address: SocketAddr, bytes: usize) {
    let begun = now();
    let mut stream = TcpStream::connect(address).unwrap();
    println!("connected {}", begun.elapsed().as_micros());
    stream.write_all(&pattern(1, bytes)).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    println!("digest {:x}", digest(&mut stream).unwrap());
}

/// As many connections at once, each with bytes of its own that must come back.
fn many(address: SocketAddr, count: u64) {
    let one = move |seed| {
        let mut stream = TcpStream::connect(address).unwrap();
        let sent = pattern(seed, 100_000);
        let mut writer = stream.try_clone().unwrap();
        let copy = sent.clone();
        let writing = thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        writing.join().unwrap();
        assert!(received == sent, "connection {seed} got other bytes than it sent");
    };
    let all: Vec<_> = (0..count).map(|seed| thread::spawn(move || one(seed))).collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    println!("all came back");
}

/// Prints why there is no connection, or how one ends.
fn connect(address: SocketAddr) {
    let ended = TcpStream::connect(address).and_then(|mut stream| stream.read(&mut [0; 10]));
    println!("{:?}", ended.map_err(|why| why.kind()));
}

/// Sends a byte, waits for one, and resets the connection.
fn abort(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0; 1]).unwrap();
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    linger();
}

/// Datagrams of many sizes must come back as they are, and in this order.
fn datagrams(address: SocketAddr) {
    let any: SocketAddr = match address.is_ipv4() {
        true => (Ipv4Addr::UNSPECIFIED, 0).into(),
        false => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.connect(address).unwrap();
    let sizes = [1, 0, 1_200, 1_200, 1_200, 7, 1_452, 1_453, 5_000, 20_000];
    for (seed, size) in sizes.into_iter().enumerate() {
        socket.send(&pattern(seed as u64, size)).unwrap();
    }
    for (seed, size) in sizes.into_iter().enumerate() {
        let mut buffer = vec![0; 65_536];
        match socket.recv(&mut buffer) {
            Ok(length) => assert!(buffer[..length] == pattern(seed as u64, size), "{size} bytes"),
            Err(why) => return println!("{:?}", why.kind()),
        }
    }
    println!("all came back");
}

/// Bytes that nobody sends by accident.
fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        // xorshift64*.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Of everything until the end.
fn digest(stream: &mut impl Read) -> io::Result<u64> {
    let (mut hasher, mut buffer) = (DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            count => buffer[..count].iter().for_each(|byte| hasher.write_u8(*byte)),
        }
    }
}

/// A link ends with its command, and what is on the way with it.
fn linger() {
    #[expect(clippy::disallowed_methods, reason = "the link works in real time")]
    thread::sleep(Duration::from_millis(500));
}

/// A server on this machine's loopback address, for each family that it has: where it listens, and
/// what a program behind a link calls that.
fn everywhere<S>(bind: impl Fn(SocketAddr) -> io::Result<(S, u16)>) -> Vec<(S, SocketAddr)> {
    let families = [
        ((Ipv4Addr::LOCALHOST, 0).into(), "100.64.0.1".parse().unwrap()),
        ((Ipv6Addr::LOCALHOST, 0).into(), "fd74:7261::1".parse().unwrap()),
    ];
    let mut all = Vec::new();
    for (local, gateway) in families {
        match bind(local) {
            Ok((server, port)) => all.push((server, SocketAddr::new(gateway, port))),
            Err(why) => eprintln!("SKIPPED: this machine has no {local}: {why}"),
        }
    }
    all
}

fn tcp(local: SocketAddr) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind(local)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// The exit status and output of a role behind a link.
fn behind(user: User, options: &[&str], role: &str) -> String {
    let role = play(role);
    let (status, text) = link(user, &[options, &["--", "sh", "-c", &role]].concat());
    assert_eq!(status, 0, "{text}");
    text
}

fn line<'a>(text: &'a str, word: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(word));
    found.unwrap_or_else(|| panic!("no \"{word}\" in {text}")).trim()
}

/// Sends back what comes, on every connection.
fn serve_echoes(listener: TcpListener) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || io::copy(&mut &stream, &mut &stream).unwrap());
        }
    });
}

/// Answers one connection: reads to the end, and only then sends.
fn answer(listener: &TcpListener) -> u64 {
    let (mut stream, _) = listener.accept().unwrap();
    let received = digest(&mut stream).unwrap();
    stream.write_all(&pattern(2, BYTES)).unwrap();
    received
}

#[test]
fn bytes_and_ends_arrive_after_the_delay() {
    let expected = |seed| digest(&mut &pattern(seed, BYTES)[..]).unwrap();
    for user in users() {
        for (listener, address) in everywhere(tcp) {
            let server = thread::spawn(move || answer(&listener));
            let text = behind(user, &["--delay", "20ms"], &format!("exchange {address} {BYTES}"));
            assert_eq!(server.join().unwrap(), expected(1));
            assert_eq!(line(&text, "digest"), format!("{:x}", expected(2)));
            let connected: u64 = line(&text, "connected").parse().unwrap();
            // A SYN that had been lost on the way would have cost a second, and one that a relay
            // had answered itself no round trip.
            assert!(connected >= 40_000, "{connected} us");
        }
    }
}

#[test]
fn links_inside_links_lead_out_too() {
    for user in users() {
        for (listener, address) in everywhere(tcp) {
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
}

#[test]
fn fifty_connections_at_once_keep_their_bytes_apart() {
    for user in users() {
        for (listener, address) in everywhere(tcp) {
            serve_echoes(listener);
            let text = behind(user, &["--delay", "5ms"], &format!("many {address} 50"));
            assert!(text.contains("all came back"), "{text}");
        }
    }
}

#[test]
fn refusals_and_resets_are_carried_over() {
    for user in users() {
        for (listener, address) in everywhere(tcp) {
            let server = thread::spawn(move || {
                let (stream, _) = listener.accept().unwrap();
                set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                drop(stream);
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut [0; 1]).unwrap();
                stream.write_all(b"y").unwrap();
                stream.read(&mut [0; 1]).map_err(|why| why.kind())
            });
            let text = behind(user, &[], &format!("connect {address} 0"));
            assert!(text.contains("Err(ConnectionReset)"), "{text}");
            behind(user, &[], &format!("abort {address} 0"));
            assert_eq!(server.join().unwrap(), Err(ErrorKind::ConnectionReset));
            let text = behind(user, &[], &format!("connect {address} 0"));
            assert!(text.contains("Err(ConnectionRefused)"), "{text}");
        }
    }
}

#[test]
fn what_this_machine_cannot_reach_is_unreachable() {
    for user in users() {
        // A machine without a network.
        let program = PROGRAM.display();
        let script = format!("{program} link -- {}", play("connect 192.0.2.1:80 0"));
        let output = in_a_machine_of_its_own(user, &script);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("Err(NetworkUnreachable)"), "{output:?}");
    }
}

#[test]
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
    // Where they may not, it is not the kernel in front of the link that answers for others.
    let (forbidden, allowed) = text.split_once("ping statistics").unwrap();
    assert!(!forbidden.contains("bytes from 192.0.2.9"), "{text}");
    let times = allowed.lines().filter_map(|line| line.split_once("time=")?.1.split_once(" ms"));
    let times: Vec<f64> = times.map(|(time, _)| time.parse().unwrap()).collect();
    assert!(times.len() == 3 && times.iter().all(|millis| *millis >= 40.0), "{text}");
}

#[test]
fn connections_beyond_the_limit_wait_and_are_told_of_once() {
    for user in users() {
        for (listener, address) in everywhere(tcp) {
            serve_echoes(listener);
            let many = play(&format!("many {address} 30"));
            let script =
                format!("ulimit -n 128 && exec {} link -- sh -c \"{many}\"", PROGRAM.display());
            let output = command("sh".as_ref(), user).args(["-c", &script]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("all came back"), "{output:?}");
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(told.matches("more connections outwards").count(), 1, "{told}");
        }
    }
}

#[test]
fn datagrams_come_back_whole_and_in_order() {
    let udp = |local| {
        let socket = UdpSocket::bind(local)?;
        let port = socket.local_addr()?.port();
        Ok((socket, port))
    };
    for user in users() {
        for (socket, address) in everywhere(udp) {
            let echo = socket.try_clone().unwrap();
            echo.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let echoing = thread::spawn(move || {
                let mut buffer = vec![0; 65_536];
                for _ in 0..10 {
                    let (length, from) = echo.recv_from(&mut buffer).unwrap();
                    echo.send_to(&buffer[..length], from).unwrap();
                }
            });
            let text = behind(user, &["--delay", "5ms"], &format!("datagrams {address} 0"));
            assert!(text.contains("all came back"), "{text}");
            echoing.join().unwrap();
            drop(socket);
            let text = behind(user, &[], &format!("datagrams {address} 0"));
            assert!(text.contains("ConnectionRefused"), "{text}");
        }
    }
}

#[test]
fn an_isolated_command_reaches_nobody() {
    for user in users() {
        for (_listener, address) in everywhere(tcp) {
            let text = behind(user, &["--isolated"], &format!("connect {address} 0"));
            assert!(text.contains("Err(ConnectionRefused)"), "{text}");
        }
    }
}

#[test]
fn connections_end_with_a_link_that_is_killed() {
    for user in users() {
        let (listener, port) = tcp((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let script = play(&format!("connect 100.64.0.1:{port} 0"));
        let mut command = trackbed(user, &["link", "--", "sh", "-c", &script]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let ended = stream.read(&mut [0; 1]).map_err(|why| why.kind());
        assert!(matches!(ended, Ok(0) | Err(ErrorKind::ConnectionReset)), "{ended:?}");
    }
}

#[test]
fn curl_loads_a_page() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return eprintln!("SKIPPED: there is no curl (Debian package curl)");
    }
    for user in users() {
        for (listener, address) in everywhere(tcp) {
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let count = stream.read(&mut [0; 4_096]).unwrap();
                let page = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
                stream.write_all(page).unwrap();
                count
            });
            let url = format!("http://{address}/");
            let arguments = ["--delay", "5ms", "--", "curl", "-gsS", "--noproxy", "*", &url];
            assert_eq!(link(user, &arguments), (0, "hello".to_owned()));
            assert!(server.join().unwrap() > 0);
        }
    }
}

/// More than all buffers on the way hold.
const BYTES: usize = 20_000_000;
