//! The engine's settings.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dcsctp::api::{Options, ZERO_CHECKSUM_ALTERNATE_ERROR_DETECTION_METHOD_LOWER_LAYER_DTLS};
use trackbed_substrate::Entropy;

use crate::config::{STREAMS_MAX, TransportParameters};

/// The two ends of an association, by their ports (RFC 9260 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) local: u16,
    pub(super) remote: u16,
}

/// The recommendations of RFC 9260 section 16, unless configured otherwise. Packets have at most
/// `room` bytes.
pub(super) fn options(parameters: &TransportParameters, ports: Ports, room: usize) -> Options {
    // What waits to be read fills the window up to nine tenths; the rest is for what fills gaps.
    let window = u64::from(parameters.window) * 10 / 9 + 1;
    let sctp = &parameters.sctp;
    Options {
        local_port: ports.local,
        remote_port: ports.remote,
        announced_maximum_incoming_streams: STREAMS_MAX as u16,
        announced_maximum_outgoing_streams: STREAMS_MAX as u16,
        mtu: room & !3,
        max_receiver_window_buffer_size: window.min(u32::MAX.into()) as usize,
        charge_until_released: true,
        // Each stream has its own bound, see `UNSENT_MAX`.
        max_send_buffer_size: u32::MAX as usize,
        per_stream_send_queue_limit: u32::MAX as usize,
        default_stream_buffered_amount_low_threshold: UNSENT_MAX / 2,
        rto_initial: sctp.rto_initial,
        rto_min: sctp.rto_min,
        rto_max: sctp.rto_max,
        max_timer_backoff_duration: Some(sctp.rto_max),
        t1_init_timeout: sctp.rto_initial,
        t1_cookie_timeout: sctp.rto_initial,
        t2_shutdown_timeout: sctp.rto_initial,
        delayed_ack_max_timeout: sctp.sack_delay,
        heartbeat_interval: Duration::from_secs(30),
        cwnd_mtus_initial: sctp.initial_window as usize,
        immediate_sack_under_cwnd_mtus: if sctp.immediate_sack { 10 } else { 0 },
        max_burst: i32::try_from(sctp.max_burst).unwrap_or(i32::MAX),
        max_retransmissions: Some(10),
        max_init_retransmits: Some(8),
        enable_partial_reliability: false,
        enable_message_interleaving: true,
        ..Options::default()
    }
}

/// The same inside DTLS, whose records show damage better than a checksum does (RFC 9653).
pub(super) fn options_inside_dtls(parameters: &TransportParameters, room: usize) -> Options {
    let ports = Ports { local: DTLS_PORT, remote: DTLS_PORT };
    Options {
        zero_checksum_alternate_error_detection_method:
            ZERO_CHECKSUM_ALTERNATE_ERROR_DETECTION_METHOD_LOWER_LAYER_DTLS,
        ..options(parameters, ports, room)
    }
}

/// Seeds the engine's generator of tags and sequence numbers unpredictably. In a simulated run it
/// already has a seed, derived from the run's.
pub(super) fn seed_generator(entropy: &Entropy) {
    if let Entropy::System = entropy {
        let mut seed = [0; 8];
        // Without it the generator's own seed stands.
        if ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut seed).is_ok() {
            fastrand::seed(u64::from_ne_bytes(seed));
        }
    }
}

/// What all associations of a server may have in flight, so that clients that stop cannot hold more.
#[derive(Clone)]
pub(super) struct Room {
    pub(super) held: Rc<Cell<usize>>,
    pub(super) max: usize,
}

/// What an association may always have in flight.
pub(super) const SHARE: usize = 128 << 10;

/// How many bytes of a stream may wait in the engine to be sent for the first time.
pub(super) const UNSENT_MAX: usize = 64 << 10;

/// Inside DTLS there is one association, and its ports have no meaning. This is WebRTC's port (RFC
/// 8841 section 5).
const DTLS_PORT: u16 = 5_000;

/// The most bytes of a message that leaves in one packet (RFC 8260 section 2.1).
pub(super) fn message_len(room: usize) -> usize {
    (room & !3) - COMMON_HEADER_LEN - I_DATA_HEADER_LEN
}

const COMMON_HEADER_LEN: usize = 12;
const I_DATA_HEADER_LEN: usize = 20;
