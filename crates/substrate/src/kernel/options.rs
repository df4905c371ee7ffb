//! The seam's socket options as the kernel's (tcp(7), socket(7)), and its statistics as the seam's.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::sockopt;
use trackbed_linux::sysctl::{self, CUBIC_HYSTART};
use trackbed_linux::tcp_info;
use trackbed_tcp::config::HyStart;

use crate::host::{buffer_size, invalid};
use crate::socket::{TcpInfo, TcpOptions};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Connect,
    Listen,
}

/// Sets `options` on a new socket. Accepted connections inherit them.
pub(super) fn apply(socket: &OwnedFd, options: &TcpOptions, role: Role) -> io::Result<()> {
    check_ecn(options, role)?;
    check_hystart(options)?;
    check_engine_only(options)?;
    set_congestion(socket, &options.congestion)?;
    if let Some(size) = options.send_buffer {
        set_buffer(socket, &SEND_BUFFER, size)?;
    }
    if let Some(size) = options.receive_buffer {
        set_buffer(socket, &RECEIVE_BUFFER, size)?;
    }
    if let Some(idle) = options.keepalive {
        if idle.subsec_nanos() > 0 || !(1..=KEEPALIVE_MAX).contains(&idle.as_secs()) {
            return Err(invalid(format!(
                "the kernel cannot send keepalive probes after {idle:?}; choose whole seconds, 1 \
                 to {KEEPALIVE_MAX}"
            )));
        }
        sockopt::set_socket_keepalive(socket, true)?;
        sockopt::set_tcp_keepidle(socket, idle)?;
    }
    Ok(sockopt::set_tcp_nodelay(socket, options.nodelay)?)
}

/// Linux negotiates ECN for a whole network namespace.
fn check_ecn(options: &TcpOptions, role: Role) -> io::Result<()> {
    let Some(wanted) = options.ecn else { return Ok(()) };
    let mode = sysctl::tcp_ecn()?;
    let (given, what) = match role {
        Role::Connect => (mode.asks, "ask for"),
        Role::Listen => (mode.answers, "accept"),
    };
    if given == wanted {
        return Ok(());
    }
    let (verb, value) = if wanted { ("does not", 1) } else { ("would", 0) };
    Err(invalid(format!(
        "the kernel {verb} {what} ECN, and no socket option changes this; set the sysctl \
         net.ipv4.tcp_ecn to {value}"
    )))
}

/// HyStart is a parameter of the kernel's CUBIC, one for the whole machine.
fn check_hystart(options: &TcpOptions) -> io::Result<()> {
    let given = if sysctl::cubic_hystart().unwrap_or(true) { HyStart::Linux } else { HyStart::Off };
    if options.congestion != "cubic" || given == options.hystart {
        return Ok(());
    }
    let (verb, value) = match options.hystart {
        HyStart::Linux => ("does not use", 1),
        HyStart::Off => ("uses", 0),
        HyStart::Rfc9406 => {
            return Err(invalid(
                "the kernel's CUBIC has no HyStart++ (RFC 9406): set hystart to true",
            ));
        }
    };
    Err(invalid(format!(
        "the kernel's CUBIC {verb} HyStart, and no socket option changes this; write {value} to \
         {CUBIC_HYSTART}"
    )))
}

/// Options that only the TCP engine of the virtual substrate supports.
fn check_engine_only(options: &TcpOptions) -> io::Result<()> {
    let TcpOptions { initial_window, mss, sack, rto_min, .. } = options;
    let asked = [
        ("initial window", initial_window.is_some()),
        ("maximum segment size", mss.is_some()),
        ("selective acknowledgments", !sack),
        ("minimum retransmission timeout", rto_min.is_some()),
    ];
    let Some((what, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) else { return Ok(()) };
    Err(invalid(format!(
        "the {what} of the kernel's TCP cannot be set; remove that key or preset, or use the \
         virtual substrate"
    )))
}

fn set_congestion(socket: &OwnedFd, name: &str) -> io::Result<()> {
    match sockopt::set_tcp_congestion(socket, name) {
        Ok(()) => Ok(()),
        Err(Errno::PERM) => Err(invalid(format!(
            "the congestion controller \"{name}\" requires privileges; add it to the sysctl \
             net.ipv4.tcp_allowed_congestion_control"
        ))),
        Err(_) => {
            let names = sysctl::congestion_controls()?.join(", ");
            Err(invalid(format!(
                "the kernel has no congestion controller \"{name}\"; choose one of {names}, or \
                 load its module (modprobe tcp_{name})"
            )))
        }
    }
}

struct Buffer {
    sysctl: &'static str,
    set: fn(&OwnedFd, usize) -> rustix::io::Result<()>,
    force: fn(&OwnedFd, usize) -> rustix::io::Result<()>,
    get: fn(&OwnedFd) -> rustix::io::Result<usize>,
}

const SEND_BUFFER: Buffer = Buffer {
    sysctl: "net.core.wmem_max",
    set: |socket, size| sockopt::set_socket_send_buffer_size(socket, size),
    force: |socket, size| sockopt::set_socket_send_buffer_size_force(socket, size),
    get: |socket| sockopt::socket_send_buffer_size(socket),
};

const RECEIVE_BUFFER: Buffer = Buffer {
    sysctl: "net.core.rmem_max",
    set: |socket, size| sockopt::set_socket_recv_buffer_size(socket, size),
    force: |socket, size| sockopt::set_socket_recv_buffer_size_force(socket, size),
    get: |socket| sockopt::socket_recv_buffer_size(socket),
};

fn set_buffer(socket: &OwnedFd, buffer: &Buffer, size: usize) -> io::Result<()> {
    buffer_size(size)?;
    (buffer.set)(socket, size)?;
    // The kernel allots twice as much, for its bookkeeping (socket(7)), or silently less.
    if (buffer.get)(socket)? < 2 * size && (buffer.force)(socket, size).is_err() {
        let granted = (buffer.get)(socket)? / 2;
        return Err(invalid(format!(
            "the kernel allows a TCP buffer of at most {granted} bytes, not {size}; raise the \
             sysctl {}",
            buffer.sysctl
        )));
    }
    Ok(())
}

/// Facts about a connection that the kernel does not store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) opened_here: bool,
    /// Whether the end of the peer's stream was read.
    pub(super) end_read: bool,
}

/// The kernel's figures as the seam's, without SYN and FIN in the counts of payload bytes.
pub(super) fn info(raw: &tcp_info::TcpInfo, ends: Ends) -> TcpInfo {
    use tcp_info::TcpState::{CloseWait, Closing, LastAck, TimeWait};
    let fin_received =
        ends.end_read || matches!(raw.state, CloseWait | Closing | LastAck | TimeWait);
    let sent_once = raw.bytes_sent.saturating_sub(raw.bytes_retransmitted);
    TcpInfo {
        segments_sent: raw.segments_out.into(),
        segments_received: raw.segments_in.into(),
        segments_retransmitted: raw.retransmissions.into(),
        spurious_retransmissions: raw.duplicates.into(),
        timeouts: raw.timeouts.map_or(0, u64::from),
        bytes_sent: raw.bytes_sent,
        // What remains above the payload is the FIN.
        bytes_acked: raw.bytes_acked.saturating_sub(ends.opened_here.into()).min(sent_once),
        bytes_received: raw.bytes_received.saturating_sub(fin_received.into()),
        smoothed_rtt: Some(raw.smoothed_rtt).filter(|rtt| !rtt.is_zero()),
        congestion_window: u64::from(raw.congestion_window) * u64::from(raw.maximum_segment),
    }
}

/// In seconds (`MAX_TCP_KEEPIDLE`).
const KEEPALIVE_MAX: u64 = 32_767;
