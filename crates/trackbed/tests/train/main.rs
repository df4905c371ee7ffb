//! `trackbed phad` and `trackbed relay` on a train: the kernel's Multipath TCP over two emulated
//! links whose outages follow a ride, and a gpsd that reports the train's position. If the system allows no
//! namespaces, or its kernel has no MPTCP, the tests are skipped.
#![cfg(target_os = "linux")]

mod daemon;
mod gpsd;
mod orders;
mod railway;
mod relay;
mod ride;
mod rides;
#[path = "../support/mod.rs"]
mod support;
mod units;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen};
use trackbed_emulator::namespace;
use trackbed_linux::mptcp_pm::PathManager;

/// Whether this machine meets all requirements; prints what is missing.
fn is_possible() -> bool {
    let lacks = match (namespace::acquire(), PathManager::open()) {
        (Ok(_), Ok(_)) => return true,
        (Err(why), _) => why.to_string(),
        (_, Err(why)) => why.to_string(),
    };
    eprintln!("SKIPPED: {lacks}");
    false
}

/// One test at a time, for rides are in real time; `None` where the machine cannot do all this.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    is_possible().then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn trackbed(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The path of a file for this test, which does not exist yet.
fn file(name: &str) -> PathBuf {
    let _ = std::fs::remove_file(path(name));
    path(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("train-{}-{name}", std::process::id()))
}

#[expect(clippy::disallowed_methods, reason = "trains drive in real time")]
fn pause(span: Duration) {
    std::thread::sleep(span);
}

fn mptcp_listener(address: SocketAddr) -> io::Result<OwnedFd> {
    let socket = mptcp()?;
    rustix::net::sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, 16)?;
    Ok(socket)
}

fn mptcp_connect(address: SocketAddr) -> io::Result<OwnedFd> {
    let socket = mptcp()?;
    connect(&socket, &address)?;
    Ok(socket)
}

fn mptcp() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    Ok(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(ipproto::MPTCP))?)
}
