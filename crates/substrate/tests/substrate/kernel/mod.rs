//! The kernel's sockets as the users of the seam meet them, over the loopback interface. No test
//! checks a duration against an upper bound: the machine may be busy.

mod failures;
mod peers;
mod tcp;
mod tcp_options;
mod time;
mod udp;

use std::net::{Ipv6Addr, UdpSocket};

use trackbed_substrate::RunError;
use trackbed_substrate::kernel::Machine;

use crate::support::*;

/// Runs `main` from now on, and stops it if it hangs.
fn execute<T, F: Future<Output = T>>(main: impl FnOnce(Machine) -> F) -> Result<T, RunError> {
    execution().run(main)
}

/// As [`execute`], of what must succeed, with a host that has the loopback addresses.
fn run<T, F: Future<Output = T>>(main: impl FnOnce(Arc<dyn Host>) -> F) -> T {
    execute(|machine| main(loopback(&machine))).unwrap_or_else(|error| panic!("{error}"))
}

fn execution() -> Execution {
    Execution::new(Origin::now()).with_time_limit(HANG)
}

fn loopback(machine: &Machine) -> Arc<dyn Host> {
    machine.host("here", ["127.0.0.1", "::1"].map(|address| address.parse().unwrap()))
}

/// The defaults, except for the one algorithm that every kernel has and does not restrict.
fn defaults() -> TcpOptions {
    TcpOptions { congestion: "reno".to_owned(), ..TcpOptions::default() }
}

/// A free port of each loopback address that this machine has.
fn loopback_addresses() -> Vec<SocketAddr> {
    let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let mut addresses = vec!["127.0.0.1:0".parse().unwrap()];
    match UdpSocket::bind((v6, 0)) {
        Ok(_) => addresses.push((v6, 0).into()),
        Err(error) => eprintln!("SKIPPED for IPv6: this machine has no [::1] ({error})"),
    }
    addresses
}

/// Longer than any of these tests takes on a busy machine.
const HANG: Time = Time::from_millis(120_000);
