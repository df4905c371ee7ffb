//! The settings of a connection. The defaults are those of Linux 6.x.

use std::time::Duration;

use trackbed_core::Time;

use crate::congestion::{CongestionAlgorithm, cubic};
use crate::tick::Tick;

pub use crate::congestion::HyStart;

/// The settings of a connection. [`Config::default`] is what Linux 6.x does.
#[derive(Clone, Debug)]
pub struct Config {
    /// The congestion controller, from [`algorithms`](crate::algorithms).
    pub congestion: &'static CongestionAlgorithm,
    /// When CUBIC leaves slow start before a loss.
    pub hystart: HyStart,
    /// Initial congestion window in segments (RFC 6928).
    pub initial_window_segments: u32,
    /// The MTU of the local interface in bytes, IP header included; 576..=65,535.
    pub mtu: u32,
    /// The maximum segment size in bytes, options not subtracted; the MTU may lower it.
    pub mss: u32,
    /// Receive buffer.
    pub receive_buffer: BufferSize,
    /// Send buffer.
    pub send_buffer: BufferSize,
    /// Hold back small segments while data is in flight (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Wait until a batch of segments can be sent, as with segmentation offload, which causes
    /// bursts. Each segment is a separate packet either way.
    pub batching: bool,
    /// Delay acknowledgments (RFC 9293 section 3.8.6.3); `false` acknowledges every segment.
    pub delayed_ack: bool,
    /// Offer and use selective acknowledgments (RFC 2018), and with them RACK-TLP (RFC 8985).
    pub sack: bool,
    /// Offer and use timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer and use window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Send a probe when the tail of a flight may be lost (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Explicit Congestion Notification (RFC 3168).
    pub ecn: EcnMode,
    /// Start from the initial window after an idle retransmission timeout (RFC 5681 section 4.1).
    pub slow_start_after_idle: bool,
    /// Probe an idle connection (RFC 9293 section 3.8.4).
    pub keepalive: Option<KeepAlive>,
    /// Bounds of the retransmission timeout.
    pub rto: RtoBounds,
    /// The number of SYN retransmissions before the attempt fails.
    pub syn_retries: u32,
    /// Further repetitions of a SYN before these, at the initial timeout as the first of these
    /// (Linux's `tcp_syn_linear_timeouts`, since 6.5).
    pub syn_linear_timeouts: u32,
    /// The number of SYN-ACK retransmissions before the attempt fails.
    pub syn_ack_retries: u32,
    /// The number of retransmissions of a segment or window probe before the connection fails.
    pub retries: u32,
    /// How long TIME-WAIT lasts.
    pub time_wait: Duration,
    /// The clock tick, to which Linux rounds the timers of acknowledgments and retransmissions;
    /// `None` if they are exact. Those of keep-alive, TIME-WAIT and the data level of Multipath TCP
    /// always are.
    pub tick: Option<Tick>,
}

impl Config {
    /// The shortest time for which Linux sets a timer: a tick.
    pub(crate) fn least_wait(&self) -> Duration {
        self.tick.map_or(TICK, Tick::period)
    }

    pub(crate) fn fires(&self, now: Time, wait: Duration) -> Time {
        self.tick.map_or(now + wait, |tick| tick.fires(now, wait))
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            congestion: &cubic::ENTRY,
            hystart: HyStart::Linux,
            initial_window_segments: 10,
            mtu: 1_500,
            mss: u32::MAX,
            receive_buffer: BufferSize { initial: 131_072, max: 33_554_432 },
            send_buffer: BufferSize { initial: 16_384, max: 4_194_304 },
            nagle: true,
            batching: true,
            delayed_ack: true,
            sack: true,
            timestamps: true,
            window_scaling: true,
            tail_loss_probe: true,
            ecn: EcnMode::Passive,
            slow_start_after_idle: true,
            keepalive: None,
            rto: RtoBounds::default(),
            syn_retries: 6,
            syn_linear_timeouts: 4,
            syn_ack_retries: 5,
            retries: 15,
            time_wait: Duration::from_secs(60),
            tick: None,
        }
    }
}

/// A tick of Linux's clock at 250 Hz.
const TICK: Duration = Duration::from_millis(4);

/// The size of a buffer in bytes. It starts at `initial` and grows with the path up to `max`;
/// equal numbers switch the growth off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSize {
    /// The initial size.
    pub initial: u32,
    /// The maximum size.
    pub max: u32,
}

/// Bounds of the retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoBounds {
    /// Before the first round-trip sample, and for a SYN.
    pub initial: Duration,
    /// The minimum margin above the smoothed round-trip time.
    pub min: Duration,
    /// The maximum timeout.
    pub max: Duration,
}

impl Default for RtoBounds {
    fn default() -> RtoBounds {
        RtoBounds {
            initial: Duration::from_secs(1),
            min: Duration::from_millis(200),
            max: Duration::from_secs(120),
        }
    }
}

/// How an idle connection is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Between probes.
    pub interval: Duration,
    /// Unanswered probes after which the connection fails.
    pub probes: u32,
}

impl Default for KeepAlive {
    fn default() -> KeepAlive {
        KeepAlive { idle: Duration::from_secs(7_200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// How Explicit Congestion Notification is negotiated (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Neither request nor accept it.
    Off,
    /// Accept it when the peer requests it.
    Passive,
    /// Request and accept it.
    Active,
}
