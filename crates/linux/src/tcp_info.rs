//! `TCP_INFO` (tcp(7), `struct tcp_info` of linux/tcp.h).

use std::io;
use std::mem::offset_of;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::socket::{self, Plain};

/// The kernel's information about a TCP connection, as far as it is used here. A figure that the
/// kernel is too old for is zero, or `None` if zero would be misleading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TcpInfo {
    /// The state of the connection.
    pub state: TcpState,
    /// Segments sent, including retransmissions.
    pub segments_out: u32,
    /// Segments received.
    pub segments_in: u32,
    /// Segments retransmitted.
    pub retransmissions: u32,
    /// Segments that the peer received twice (D-SACK, RFC 2883).
    pub duplicates: u32,
    /// Expiries of the retransmission timer; `None` before Linux 6.7.
    pub timeouts: Option<u16>,
    /// Payload bytes sent, including retransmissions.
    pub bytes_sent: u64,
    /// Payload bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Sequence numbers that the peer has acknowledged: payload bytes, and one for each of the SYN
    /// (if this end opened the connection) and the FIN.
    pub bytes_acked: u64,
    /// Sequence numbers received in order: payload bytes, and one for the FIN.
    pub bytes_received: u64,
    /// Bytes queued to be sent for the first time.
    pub bytes_not_sent: u32,
    /// Segments in flight.
    pub unacked: u32,
    /// The smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// The congestion window in segments.
    pub congestion_window: u32,
    /// The largest payload of a segment in bytes.
    pub maximum_segment: u32,
}

/// The state of a connection (RFC 9293 section 3.3.2; the numbers are those of net/tcp_states.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the RFC's own names")]
pub enum TcpState {
    Established,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Closed,
    CloseWait,
    LastAck,
    Listen,
    Closing,
    /// An unknown state.
    Other(u8),
}

/// Queries the kernel about the connection of `socket`.
///
/// # Errors
/// As getsockopt(2).
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut raw = Raw::default();
    let filled = socket::get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
    Ok(TcpInfo::from_raw(&raw, filled))
}

impl TcpInfo {
    /// From the first `filled` bytes of `raw`; the others are zero.
    pub(crate) fn from_raw(raw: &Raw, filled: usize) -> TcpInfo {
        let has_timeouts = filled >= offset_of!(Raw, total_rto) + size_of::<u16>();
        TcpInfo {
            state: TcpState::from_number(raw.state),
            segments_out: raw.segs_out,
            segments_in: raw.segs_in,
            retransmissions: raw.total_retrans,
            duplicates: raw.dsack_dups,
            timeouts: has_timeouts.then_some(raw.total_rto),
            bytes_sent: raw.bytes_sent,
            bytes_retransmitted: raw.bytes_retrans,
            bytes_acked: raw.bytes_acked,
            bytes_received: raw.bytes_received,
            bytes_not_sent: raw.notsent_bytes,
            unacked: raw.unacked,
            smoothed_rtt: Duration::from_micros(raw.rtt.into()),
            congestion_window: raw.snd_cwnd,
            maximum_segment: raw.snd_mss,
        }
    }
}

impl TcpState {
    fn from_number(number: u8) -> TcpState {
        match number {
            1 => TcpState::Established,
            2 => TcpState::SynSent,
            3 | 12 => TcpState::SynReceived,
            4 => TcpState::FinWait1,
            5 => TcpState::FinWait2,
            6 => TcpState::TimeWait,
            7 => TcpState::Closed,
            8 => TcpState::CloseWait,
            9 => TcpState::LastAck,
            10 => TcpState::Listen,
            11 => TcpState::Closing,
            other => TcpState::Other(other),
        }
    }
}

/// `struct tcp_info`. New fields are only added at its end.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Raw {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    window_scales: u8,
    flags: u8,

    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,

    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,

    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,

    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,

    rcv_rtt: u32,
    rcv_space: u32,

    total_retrans: u32,

    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,

    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,

    delivery_rate: u64,

    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,

    delivered: u32,
    delivered_ce: u32,

    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,

    rcv_ooopack: u32,

    snd_wnd: u32,
    rcv_wnd: u32,

    rehash: u32,

    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

// SAFETY: its fields are plain numbers.
unsafe impl Plain for Raw {}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_fields_lie_where_the_kernel_puts_them() {
        // From `offsetof` in C.
        assert_eq!(offset_of!(Raw, rto), 8);
        assert_eq!(offset_of!(Raw, total_retrans), 100);
        assert_eq!(offset_of!(Raw, bytes_acked), 120);
        assert_eq!(offset_of!(Raw, bytes_sent), 200);
        assert_eq!(offset_of!(Raw, snd_wnd), 228);
        assert_eq!(offset_of!(Raw, total_rto), 240);
        assert_eq!(size_of::<Raw>(), 248);
    }

    #[test]
    fn a_connection_over_loopback_is_described() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1_000]).unwrap();
        server.read_exact(&mut [0; 1_000]).unwrap();
        let sent = tcp_info(&client).unwrap();
        assert_eq!(sent.state, TcpState::Established);
        assert_eq!((sent.bytes_sent, sent.retransmissions), (1_000, 0));
        assert!(sent.congestion_window >= 1 && sent.maximum_segment >= 500);
        assert_eq!(tcp_info(&server).unwrap().bytes_received, 1_000);
        drop(client);
        assert_eq!(server.read(&mut [0; 1]).unwrap(), 0);
        assert_eq!(tcp_info(&server).unwrap().state, TcpState::CloseWait);
    }

    #[test]
    fn what_is_no_tcp_socket_is_an_error() {
        let (pipe, _) = io::pipe().unwrap();
        assert_eq!(tcp_info(&pipe).unwrap_err().raw_os_error(), Some(libc::ENOTSOCK));
    }
}
