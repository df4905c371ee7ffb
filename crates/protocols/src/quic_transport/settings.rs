//! The engine's settings: windows, timers, identifiers and traces.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq::{
    ConnectionId, ConnectionIdGenerator, EndpointConfig, IdleTimeout, QlogConfig, QlogFactory,
    TransportConfig, VarInt,
};
use noq_proto::StreamBudget;
use trackbed_connection::{Error, Result};
use trackbed_core::Time;
use trackbed_core::text::hex;
use trackbed_substrate::{EntropyError, SeededEntropy, to_std_instant};

use super::congestion::Controllers;
use super::probing::Leave;
use super::scheduling::Blocked;
use super::several::Several;
use super::tuning::Tuning;
use crate::config::{STREAMS_MAX, TransportParameters};
use crate::observer::{Observer, Side};
use crate::tls::Randomness;

/// The settings of the connections of one end, over one path or over several.
pub(super) struct Settings {
    /// What they share.
    transport: TransportConfig,
    controllers: Controllers,
    pub(super) several: Option<Several>,
}

impl Settings {
    /// Those that `parameters` ask for; all connections may hold at most `buffered` bytes in each
    /// direction.
    pub(super) fn new(
        protocol: &'static str,
        parameters: &TransportParameters,
        several: Option<Several>,
        buffered: Option<usize>,
    ) -> Result<Settings> {
        let controllers = Controllers::of(protocol, parameters)?;
        let mut transport = transport(protocol, parameters, &controllers.tuning)?;
        let budget = || buffered.map(|max| Arc::new(StreamBudget::new(max)));
        transport.receive_budget(budget()).send_budget(budget());
        Ok(Settings { transport, controllers, several })
    }

    /// Those of a single connection, with the permission for its probes and the ends of paths that its
    /// scheduler leaves out.
    pub(super) fn of_one(&self) -> (Arc<TransportConfig>, Leave, Blocked) {
        let (leave, blocked) = (Leave::default(), Blocked::default());
        let mut transport = self.transport.clone();
        let mut controllers = self.controllers.clone();
        controllers.leave = leave.clone();
        transport.congestion_controller_factory(Arc::new(controllers));
        if let Some(several) = &self.several {
            several.set(&mut transport, &blocked);
        }
        (Arc::new(transport), leave, blocked)
    }
}

/// The shared settings for either side.
fn transport(
    protocol: &'static str,
    parameters: &TransportParameters,
    tuning: &Tuning,
) -> Result<TransportConfig> {
    let too_long = "the idle timeout is too long: use at most a few hours";
    let idle = IdleTimeout::try_from(parameters.idle_timeout.unwrap_or(IDLE_TIMEOUT))
        .map_err(|_| Error::unsupported(protocol, too_long))?;
    let window = VarInt::from_u32(parameters.window);
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(idle))
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(parameters.window.into())
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX))
        // RFC 9002 section 6.2.2.
        .initial_rtt(Duration::from_millis(333))
        .packet_threshold(tuning.reordering_threshold.try_into().unwrap_or(u32::MAX))
        .datagram_receive_buffer_size(None);
    if let Some(datagram) = tuning.datagram {
        transport.initial_mtu(datagram).min_mtu(datagram).mtu_discovery_config(None);
    }
    if let Some(observer) = &parameters.observer {
        transport.qlog_factory(Arc::new(Traces(Arc::clone(observer))));
    }
    Ok(transport)
}

/// An endpoint's settings: everything that it would otherwise draw from the operating system
/// comes from the host.
pub(super) fn endpoint(randomness: &Randomness) -> Result<EndpointConfig, EntropyError> {
    let seeded = randomness.seeded();
    let Some(seeded) = seeded else { return Ok(EndpointConfig::default()) };
    let mut seed = [0; 32];
    seeded.fill(&mut seed)?;
    let mut key = [0; 32];
    seeded.fill(&mut key)?;
    let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    let source = seeded.clone();
    config
        .rng_seed(Some(seed))
        .cid_generator(Arc::new(move || Box::new(SeededIds(source.clone()))));
    Ok(config)
}

/// The connection ID that a client's first packet is addressed to.
pub(super) fn initial_destination(seeded: &SeededEntropy) -> ConnectionId {
    random_id(seeded, INITIAL_ID_LEN)
}

struct SeededIds(SeededEntropy);

impl ConnectionIdGenerator for SeededIds {
    fn generate_cid(&mut self) -> ConnectionId {
        random_id(&self.0, ID_LEN)
    }

    fn cid_len(&self) -> usize {
        ID_LEN
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn random_id(seeded: &SeededEntropy, len: usize) -> ConnectionId {
    let mut bytes = [0; INITIAL_ID_LEN];
    // The engine runs inside the simulated run, so its randomness is at hand.
    seeded.fill(&mut bytes[..len]).expect("the QUIC engine works only inside its run");
    ConnectionId::new(&bytes[..len])
}

/// Asks the observer for a trace of each connection.
struct Traces(Arc<dyn Observer>);

impl QlogFactory for Traces {
    fn for_connection(
        &self,
        side: noq::Side,
        _: SocketAddr,
        initial_destination: ConnectionId,
        _: Instant,
    ) -> Option<QlogConfig> {
        let side = match side {
            noq::Side::Client => Side::Client,
            noq::Side::Server => Side::Server,
        };
        let writer = self.0.qlog(side, &hex(&initial_destination))?;
        let mut config = QlogConfig::new(writer);
        config.start_time(to_std_instant(Time::ZERO));
        Some(config)
    }
}

/// The engine's own choices.
const ID_LEN: usize = 8;
const INITIAL_ID_LEN: usize = 20;

/// The idle timeout, unless the key sets one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
