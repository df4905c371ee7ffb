//! One subflow: a sequence space with its handshake, recovery and congestion window (RFC 9293),
//! apart from the byte streams that it carries (see [`crate::stream`]).
//!
//! The files follow the life of a subflow: `open` (the handshake), `input` (acceptance of
//! segments), `ack` and `sack` (acknowledgments), `loss` (the recovery), `window` (the congestion
//! window), `data` (incoming data), `output` and `batch` (outgoing data), `path_mtu`, `timers`,
//! `close`. `block` is what they keep.

mod ack;
mod batch;
mod block;
mod close;
mod data;
mod input;
mod loss;
mod observe;
mod open;
mod output;
mod path_mtu;
mod sack;
mod timers;
mod undo;
mod window;

use std::net::SocketAddr;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::packet::ip_header_len;

use crate::config::Config;
use crate::congestion::{CongestionControl, Coupling, Window};
use crate::error::TcpError;
use crate::receive::acker::Acker;
use crate::receive::reassembly::Reassembly;
use crate::receive::tuner::Tuner;
use crate::recovery::prr::Prr;
use crate::recovery::rack::Rack;
use crate::recovery::scoreboard::Scoreboard;
use crate::recovery::undo::Undo;
use crate::rtt::RttEstimator;
use crate::segment::{HEADER_LEN, SackBlock};
use crate::sequence::Seq;
use crate::stats::Stats;
pub(crate) use crate::stream::Streams;

/// The states of RFC 9293 section 3.3.2. The caller implements LISTEN: it answers a SYN with
/// [`Connection::accept`](crate::Connection::accept).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed here; our FIN is not yet acknowledged.
    FinWait1,
    /// Closed here and acknowledged; the peer may still send.
    FinWait2,
    /// Closed by the peer; open here.
    CloseWait,
    /// Closed on both sides; our FIN is not yet acknowledged.
    Closing,
    /// Closed by the peer first, then here; our FIN is not yet acknowledged.
    LastAck,
    /// Everything is done; late segments are still answered.
    TimeWait,
    /// No connection: it ended, or failed.
    Closed,
}

#[derive(Debug)]
pub(crate) struct Subflow {
    config: Config,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// How long before time zero a tick of the timestamp clock was, in nanoseconds. It comes from
    /// the initial sequence number, which is as random as the caller wants it: what a sender or
    /// receiver reads from timestamps, rounded to milliseconds, depends on where the ticks fall. No timestamp is 0,
    /// which Linux takes for none.
    tick_phase: u64,
    pub(crate) state: State,
    pub(crate) error: Option<TcpError>,
    /// The application wants to close, and the handshake is not yet done.
    closing: bool,
    /// Bytes of options that every segment has room for, besides timestamps.
    reserved: u32,
    send: SendSpace,
    board: Scoreboard,
    loss: Loss,
    rtt: RttEstimator,
    window: Window,
    congestion: Box<dyn CongestionControl>,
    usage: block::Usage,
    receive: ReceiveSpace,
    timers: block::Timers,
    due: block::Due,
    counters: Stats,
}

/// The send sequence variables of RFC 9293 section 3.3.1, and what belongs to them.
#[derive(Debug, Default)]
struct SendSpace {
    /// SND.UNA.
    una: Seq,
    /// SND.NXT.
    next: Seq,
    /// SND.WND in bytes.
    window: u32,
    /// SND.WL1.
    window_update_seq: Seq,
    /// Largest window that the peer ever offered.
    window_max: u32,
    /// Shift of the peer's windows.
    scale: u8,
    /// Largest payload of a segment.
    mss: u32,
    /// The end of the last segment that was not full (Minshall's variant of Nagle's algorithm).
    small_end: Option<Seq>,
    fin: bool,
    /// When the first SYN left, or the first SYN-ACK.
    opened_at: Time,
    last_sent_at: Time,
    /// Segments that the peer has, by ACK or SACK, ever.
    delivered: u64,
    /// ECN: tell the peer that the window was reduced.
    cwr: bool,
}

/// The receive sequence variables of RFC 9293 section 3.3.1, and what belongs to them.
#[derive(Debug, Default)]
struct ReceiveSpace {
    /// RCV.NXT.
    next: Seq,
    /// RCV.NXT when the last acknowledgment was sent.
    acknowledged: Seq,
    /// RCV.WND when the last acknowledgment was sent.
    window: u32,
    /// Shift of our windows.
    scale: u8,
    agreed: Agreed,
    /// TS.Recent of RFC 7323 section 4.3.
    ts_recent: u32,
    ts_recent_at: Time,
    /// The last TSecr that gave a round-trip time.
    last_echo: u32,
    reassembly: Reassembly,
    acker: Acker,
    tuner: Tuner,
    /// A duplicate to report (RFC 2883).
    duplicate: Option<SackBlock>,
    /// The peer's FIN arrived in order.
    fin: bool,
    /// The sequence number of a FIN received out of order.
    fin_at: Option<Seq>,
    /// ECN: echo the congestion mark until the peer answers.
    echo_congestion: bool,
    /// Until when unacceptable segments get no further reply (RFC 5961 section 7).
    quiet_until: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    window_scaling: bool,
    sack: bool,
    timestamps: bool,
    ecn: bool,
}

/// The phase of loss recovery (RFC 5681, 6582, 8985; named as in Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Nothing is wrong.
    #[default]
    Open,
    /// Duplicates or SACKs arrived, but no loss is certain.
    Disorder,
    /// The window is being reduced without a loss: ECN, or a tail loss that a probe repaired.
    Reduced,
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

#[derive(Debug, Default)]
struct Loss {
    phase: Phase,
    /// SND.NXT when the phase began: its end (RFC 6582 "recover").
    high: Seq,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    /// F-RTO is under way (RFC 5682).
    frto: bool,
    /// Segments by which order may be disturbed.
    reordering: u32,
    reordering_seen: bool,
    timeouts: u32,
    /// Doublings of the timeout.
    backoff: u32,
    probe: Option<LossProbe>,
    /// Duplicates reported by the peer, ever.
    duplicates: u64,
}

/// A tail loss probe whose outcome is open (RFC 8985 section 7).
#[derive(Clone, Copy, Debug)]
struct LossProbe {
    /// TLP.end_seq.
    end: Seq,
    /// TLP.is_retrans.
    retransmission: bool,
}

impl Subflow {
    fn new(config: &Config, local: SocketAddr, remote: SocketAddr, isn: u32) -> Subflow {
        let mss = local_mss(config, local);
        let isn = Seq(isn);
        Subflow {
            config: config.clone(),
            local,
            remote,
            tick_phase: (1_000 + u64::from(isn.0 % 1_000)) * 1_000,
            state: State::Closed,
            error: None,
            closing: false,
            reserved: 0,
            send: SendSpace { una: isn, next: isn, mss, ..SendSpace::default() },
            board: Scoreboard::new(),
            loss: Loss {
                high: isn,
                rack: Rack::new(),
                reordering: MIN_REORDERING,
                ..Loss::default()
            },
            rtt: RttEstimator::new(config.rto, config.tick),
            window: Window::new(config.initial_window_segments.max(1)),
            congestion: (config.congestion.build)(config.hystart, &Coupling::default()),
            usage: block::Usage::default(),
            receive: ReceiveSpace {
                acker: Acker::new(mss, config.tick),
                tuner: Tuner::new(config.receive_buffer, mss),
                ..ReceiveSpace::default()
            },
            timers: block::Timers::default(),
            due: block::Due::default(),
            counters: Stats::default(),
        }
    }

    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.config.nagle = nagle;
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            srtt: self.rtt.srtt().unwrap_or_default(),
            min_rtt: self.rtt.min().unwrap_or_default(),
            rto: self.rtt.backed_off(self.loss.backoff),
            cwnd_segments: self.window.cwnd,
            ssthresh_segments: self.window.ssthresh,
            in_flight_segments: self.board.in_flight(),
            mss_bytes: self.send.mss,
            send_window_bytes: self.send.window,
            receive_window_bytes: self.offered_window(),
            ..self.counters
        }
    }

    /// The clock of RFC 7323 section 5.4: milliseconds, which begin anywhere between those of our
    /// time.
    fn timestamp(&self, now: Time) -> u32 {
        ((now.as_nanos() + self.tick_phase) / 1_000_000) as u32
    }

    fn srtt(&self) -> Duration {
        self.rtt.srtt().unwrap_or_default()
    }

    fn min_rtt(&self) -> Duration {
        self.rtt.min().unwrap_or(Duration::MAX)
    }

    pub(crate) fn is_synchronized(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }
}

/// The MSS that the local MTU and the settings allow (RFC 9293 section 3.7.1), options not counted.
pub(crate) fn local_mss(config: &Config, local: SocketAddr) -> u32 {
    let headers = (ip_header_len(local.ip()) + HEADER_LEN) as u32;
    (config.mtu.clamp(MIN_MTU, MAX_MTU) - headers).min(config.mss)
}

/// Three segments may overtake one before it counts as lost (RFC 5681 section 3.2).
const MIN_REORDERING: u32 = 3;
/// The most reordering that is reckoned with.
const MAX_REORDERING: u32 = 300;
/// The least MTU that is worked with; smaller claims are not believed.
const MIN_MTU: u32 = 552;
const MAX_MTU: u32 = 65_535;
