//! Name resolution through the link, by the C library, with the machine's name servers.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _, UdpSocket};
use std::thread;
use std::time::Duration;

use crate::roles::play;
use crate::{PROGRAM, in_a_machine_of_its_own, users};

/// A name server (RFC 1035): small.test is 192.0.2.7, and large.test is 192.0.2.8 for those who ask
/// over TCP.
pub fn serve(address: IpAddr) {
    let address = SocketAddr::new(address, 53);
    let listener = TcpListener::bind(address).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut length = [0; 2];
            while stream.read_exact(&mut length).is_ok() {
                let mut query = vec![0; u16::from_be_bytes(length).into()];
                stream.read_exact(&mut query).unwrap();
                let answer = answer(&query, true);
                stream.write_all(&(answer.len() as u16).to_be_bytes()).unwrap();
                stream.write_all(&answer).unwrap();
            }
        }
    });
    let socket = UdpSocket::bind(address).unwrap();
    let mut query = [0; 512];
    loop {
        let (length, from) = socket.recv_from(&mut query).unwrap();
        socket.send_to(&answer(&query[..length], false), from).unwrap();
    }
}

fn answer(query: &[u8], is_tcp: bool) -> Vec<u8> {
    let name_end = 12 + query[12..].iter().position(|byte| *byte == 0).unwrap() + 1;
    let (name, question) = (&query[12..name_end], &query[12..name_end + 4]);
    let wants_v4 = question[question.len() - 4..] == [0, 1, 0, 1];
    let (is_small, is_large) = (name == b"\x05small\x04test\0", name == b"\x05large\x04test\0");
    let (mut flags, mut count) = ([0x81, 0x80], 0);
    if is_large && !is_tcp {
        flags[0] |= 0x02;
    } else if !is_small && !is_large {
        flags[1] |= 3;
    } else if wants_v4 {
        count = 1;
    }
    let mut answer = [&query[..2], &flags, &[0, 1, 0, count, 0, 0, 0, 0], question].concat();
    if count > 0 {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7 + u8::from(is_large)]);
    }
    answer
}

/// Prints the address of a name, as soon as a server knows it.
pub fn look_up(name: &str) {
    for _ in 0..100 {
        match (name, 80).to_socket_addrs() {
            Ok(mut addresses) => return println!("found {}", addresses.next().unwrap().ip()),
            Err(why) => eprintln!("{name}: {why}"),
        }
        #[expect(clippy::disallowed_methods, reason = "the server takes a moment to start")]
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "thorough: real time"]
fn names_are_those_of_the_machines_own_servers() {
    for user in users() {
        let file = std::env::temp_dir().join(format!("trackbed-resolv-{user:?}"));
        // The first server does not exist, and the first name needs the search domain.
        let text = "nameserver 127.0.0.54\nnameserver 127.0.0.53\nsearch test\noptions timeout:3\n";
        std::fs::write(&file, text).unwrap();
        let lookups: Vec<String> =
            ["small", "large.test"].iter().map(|name| play(&format!("lookup {name}"))).collect();
        let script = format!(
            "ip link set lo up && mount --bind {file} /etc/resolv.conf || exit 77; \
             {server} & server=$!; \
             {program} link --delay 5ms -- sh -c \"{lookups}\"; kill $server",
            file = file.display(),
            server = play("names 127.0.0.53"),
            program = PROGRAM.display(),
            lookups = lookups.join("; "),
        );
        let output = in_a_machine_of_its_own(user, &script);
        if output.status.code() == Some(77) {
            eprintln!("SKIPPED: no ip(8) or mount(8): {output:?}");
            continue;
        }
        let text = String::from_utf8_lossy(&output.stdout);
        for found in ["found 192.0.2.7", "found 192.0.2.8"] {
            assert!(text.contains(found), "{output:?}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}
