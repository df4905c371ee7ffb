//! How a connection behaves. The default is Linux 6.x as it comes.

use std::time::Duration;

use crate::congestion::{CongestionAlgorithm, cubic};

pub use crate::congestion::HyStart;

/// The settings of a connection. [`Config::default`] is what Linux 6.x does.
#[derive(Clone, Debug)]
pub struct Config {
    /// The congestion controller, from [`algorithms`](crate::algorithms).
    pub congestion: &'static dyn CongestionAlgorithm,
    /// When CUBIC leaves slow start before a loss.
    pub hystart: HyStart,
    /// What makes the congestion window grow.
    pub growth: Growth,
    /// Initial congestion window in segments (RFC 6928).
    pub initial_window_segments: u32,
    /// The MTU of the local interface in bytes, IP header included; 576..=65,535.
    pub mtu: u32,
    /// The largest segment in bytes, options not subtracted; less where the MTU allows less.
    pub mss: u32,
    /// Receive buffer.
    pub receive_buffer: BufferSize,
    /// Send buffer.
    pub send_buffer: BufferSize,
    /// Hold back small segments while data is out (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Wait until a batch of segments can go, as a sender with segmentation offload does, which
    /// makes it send in bursts. Each segment is a packet of its own either way.
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
    /// How often a SYN is sent again before the attempt fails.
    pub syn_retries: u32,
    /// How often a SYN-ACK is sent again before the attempt fails.
    pub syn_ack_retries: u32,
    /// How often a segment or window probe is sent again before the connection fails.
    pub retries: u32,
    /// How long TIME-WAIT lasts.
    pub time_wait: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            congestion: &cubic::Cubic,
            hystart: HyStart::Linux,
            growth: Growth::Bytes,
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
            syn_ack_retries: 5,
            retries: 15,
            time_wait: Duration::from_secs(60),
        }
    }
}

/// The size of a buffer in bytes. It starts at `initial` and grows with the path up to `max`;
/// equal numbers switch the growth off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSize {
    /// The size at first.
    pub initial: u32,
    /// The largest size.
    pub max: u32,
}

/// Bounds of the retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoBounds {
    /// Before the first round-trip sample, and for a SYN.
    pub initial: Duration,
    /// Least allowance above the smoothed round-trip time.
    pub min: Duration,
    /// The longest timeout.
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

/// What makes the congestion window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Every segment that is acknowledged (RFC 3465, as Linux): the window doubles each round of
    /// slow start, also with delayed acknowledgments.
    Bytes,
    /// Every acknowledgment, however much it covers (RFC 5681 without byte counting).
    Acknowledgments,
}

/// How Explicit Congestion Notification is negotiated (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Neither ask nor agree.
    Off,
    /// Agree when the peer asks.
    Passive,
    /// Ask, and agree.
    Active,
}
