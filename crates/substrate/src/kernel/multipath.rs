//! Several paths of a connection: the kernel's Multipath TCP. Sockets request it; the addresses of
//! subflows, checksums and backups belong to the network namespace (`ip mptcp`).

use std::io;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{Protocol, ipproto, sockopt};
use trackbed_linux::mptcp::{Subflow, subflows};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags, PathManager, PathManagerError};
use trackbed_linux::tcp_info::TcpState;

use super::options::{self, Ends};
use crate::host::invalid;
use crate::socket::{PathWish, TcpInfo, TcpOptions, TcpPath};

/// The protocol of a socket. The kernel's path manager and settings (`ip mptcp`) decide which
/// addresses open subflows, and whether there are checksums, for a whole network namespace.
pub(super) fn protocol(options: &TcpOptions) -> io::Result<Option<Protocol>> {
    let Some(multipath) = &options.multipath else { return Ok(None) };
    let wrapped = multipath.opportunistic || multipath.proactive || multipath.reactive;
    if multipath.scheduler != "linux" || wrapped {
        return Err(invalid(
            "the kernel supports only the scheduler \"linux\", without proactive, reactive or \
             opportunistic additions; choose that",
        ));
    }
    Ok(Some(ipproto::MPTCP))
}

/// Whether a socket was opened for Multipath TCP, or accepted with it.
pub(super) fn is_spoken(socket: &OwnedFd) -> bool {
    matches!(sockopt::socket_protocol(socket), Ok(Some(protocol)) if protocol == ipproto::MPTCP)
}

/// The statistics of a connection: the sum of its open subflows. `None` if it has fallen back to
/// plain TCP, or the kernel does not report them (before Linux 5.16).
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

/// The paths of a multipath connection. For backups the kernel reports this end's request.
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

/// Applies a request to the paths from `end`, of all connections in this namespace. False if the
/// kernel does not know the address, or does not support the request.
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
