//! Mosquitto's broker.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::programs::{Kept, look_for, skip};

/// A broker on a free port of 127.0.0.1 with `more` configuration, and where it listens; `None` with a message
/// if it is not installed.
pub fn start(more: &str) -> Option<(Kept, SocketAddr)> {
    let Some(program) = look_for("mosquitto") else {
        skip("mosquitto is not installed: apt install mosquitto");
        return None;
    };
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let mut configuration = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    write!(
        configuration,
        "user root\nlistener {} 127.0.0.1\nallow_anonymous true\npersistence false\n\
         log_dest none\n{more}",
        address.port()
    )
    .unwrap();
    let mut command = Command::new(program);
    command.arg("-c").arg(configuration.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = Kept(command.spawn().unwrap());
    for _ in 0..1_000 {
        if TcpStream::connect(address).is_ok() {
            return Some((process, address));
        }
        thread::park_timeout(Duration::from_millis(20));
    }
    panic!("mosquitto does not listen");
}
