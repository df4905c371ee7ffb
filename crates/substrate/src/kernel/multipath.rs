//! Several paths of a connection: the kernel's Multipath TCP. Sockets ask for it; addresses that
//! subflows begin at, checksums and backups belong to the network namespace (`ip mptcp`).

use std::io;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{Protocol, ipproto, sockopt};
use trackbed_linux::mptcp::{Subflow, subflows};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags, PathManager, PathManagerError};
use trackbed_linux::tcp_info::TcpState;

use super::options::{self, Ends, invalid};
use crate::socket::{PathWish, TcpInfo, TcpOptions, TcpPath};

/// What kind of TCP a socket speaks. Which of the machine's addresses open subflows, and whether
/// there are checksums, the kernel takes from its path manager and settings (`ip mptcp`), for a
/// whole network namespace.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if something is asked for that the kernel has not.
pub(super) fn protocol(options: &TcpOptions) -> io::Result<Option<Protocol>> {
    let Some(multipath) = &options.multipath else { return Ok(None) };
    let wrapped = multipath.opportunistic || multipath.proactive || multipath.reactive.is_some();
    if multipath.scheduler != "linux" || wrapped {
        return Err(invalid(
            "the kernel has the scheduler \"linux\" alone, with nothing around it; choose that"
                .to_owned(),
        ));
    }
    Ok(Some(ipproto::MPTCP))
}

/// Whether a socket was opened for Multipath TCP, or accepted with it.
pub(super) fn is_spoken(socket: &OwnedFd) -> bool {
    matches!(sockopt::socket_protocol(socket), Ok(Some(protocol)) if protocol == ipproto::MPTCP)
}

/// What is known of a connection: of those of its subflows that are open, in sum. `None` if it has
/// fallen back to plain TCP, or the kernel does not tell (before Linux 5.16).
pub(super) fn info(socket: BorrowedFd<'_>, ends: Ends) -> Option<TcpInfo> {
    let subflows = subflows(socket).ok()?;
    subflows.iter().map(|subflow| options::info(&subflow.info, ends)).reduce(sum)
}

fn sum(a: TcpInfo, b: TcpInfo) -> TcpInfo {
    TcpInfo {
        segments_sent: a.segments_sent + b.segments_sent,
        segments_received: a.segments_received + b.segments_received,
        segments_retransmitted: a.segments_retransmitted + b.segments_retransmitted,
        spurious_retransmissions: a.spurious_retransmissions + b.spurious_retransmissions,
        timeouts: a.timeouts + b.timeouts,
        bytes_sent: a.bytes_sent + b.bytes_sent,
        bytes_acked: a.bytes_acked + b.bytes_acked,
        bytes_received: a.bytes_received + b.bytes_received,
        smoothed_rtt: a.smoothed_rtt.into_iter().chain(b.smoothed_rtt).min(),
        congestion_window: a.congestion_window + b.congestion_window,
    }
}

/// The paths of a connection that has any. Of backups the kernel tells what this end asked for.
pub(super) fn paths(socket: BorrowedFd<'_>, ends: Ends) -> Vec<TcpPath> {
    let endpoints = PathManager::open().and_then(|mut manager| manager.endpoints());
    let endpoints = endpoints.unwrap_or_default();
    let is_backup = |local: IpAddr| {
        let mut own = endpoints.iter().filter(|endpoint| endpoint.address == local);
        own.any(|endpoint| endpoint.flags.contains(EndpointFlags::BACKUP))
    };
    let path = |subflow: Subflow| TcpPath {
        local: subflow.local,
        remote: subflow.remote,
        usable: subflow.info.state == TcpState::Established,
        backup: is_backup(subflow.local.ip()),
        info: options::info(&subflow.info, ends),
    };
    subflows(socket).unwrap_or_default().into_iter().map(path).collect()
}

/// Says what is to become of the paths from `end`, of all connections in this namespace. False if the
/// kernel knows no such address, or takes no such wish.
pub(super) fn set_path(end: IpAddr, wish: PathWish) -> bool {
    let PathWish::Backup(backup) = wish else { return false };
    let set = || -> Result<bool, PathManagerError> {
        let mut manager = PathManager::open()?;
        let endpoints = manager.endpoints()?;
        let Some(Endpoint { id, .. }) = endpoints.iter().find(|own| own.address == end) else {
            return Ok(false);
        };
        manager.set_backup(*id, backup).map(|()| true)
    };
    set().unwrap_or(false)
}
