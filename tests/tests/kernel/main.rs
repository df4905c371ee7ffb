//! The TCP engine, and users of the kernel's Multipath TCP, against the kernel: in separate network
//! namespaces and in real time. Without namespaces the tests report it and pass.
//!
//! In random cases the engine is inside the emulation, with link models between it and the kernel.
//! Every byte of both streams is compared with the seed's, and the ends have to be clean. A failing
//! case prints the command that plays it again, and leaves a capture.
//!
//! - `TRACKBED_KERNEL_TCP_CASES=2000` plays this many random cases, `TRACKBED_KERNEL_MPTCP_CASES`
//!   those of Multipath TCP.
//! - `TRACKBED_KERNEL_TCP_CASE=17` plays one, and prints its result; with a number of cases, it is
//!   the first.
#![cfg(target_os = "linux")]

/// Skips a test that this machine does not allow.
macro_rules! where_possible {
    () => {
        if !is_possible() {
            return;
        }
    };
}

mod app;
mod capture;
mod engine;
mod mptcp;
mod path_manager;
mod paths;
mod random;
mod socket;
mod tcp;
mod verdict;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use trackbed_core::{Bitrate, Packet, Ratio, Rng, Seed, Time};
use trackbed_emulator::namespace::{Interface, NetNamespace};
use trackbed_emulator::{Clock, namespace};
use trackbed_linux::mptcp_pm::PathManager;
use trackbed_net::models::{Delay, Loss, Rate};
use trackbed_net::queue::DropTail;
use trackbed_net::{Alteration, Direction, DropReason, LinkSpec, Point};
use trackbed_tcp::config::EcnMode;
use trackbed_tcp::multipath::MultipathConfig;
use trackbed_tcp::{Config, Flags, Segment, State, Stats};

/// Whether this machine allows namespaces; reports it if not.
fn is_possible() -> bool {
    let made = namespace::acquire().and_then(|_| NetNamespace::new());
    if let Err(why) = &made {
        eprintln!("SKIPPED: this machine allows no network namespaces ({why})");
    }
    made.is_ok()
}

/// Runs `test` in a separate namespace, if allowed and if the kernel supports Multipath TCP.
fn with_path_manager(test: impl FnOnce(PathManager) + Send) {
    if !is_possible() {
        return;
    }
    let run = || match PathManager::open() {
        Ok(manager) => test(manager),
        Err(why) => eprintln!("SKIPPED: {why}"),
    };
    NetNamespace::new().expect("a namespace").run(run).expect("a thread");
}
