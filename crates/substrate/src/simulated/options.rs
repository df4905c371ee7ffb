//! The seam's socket options as the TCP engine's, and its statistics as the seam's.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_net::Network;
use trackbed_tcp::config::{BufferSize, EcnMode, KeepAlive, RtoBounds};
use trackbed_tcp::multipath::{Endpoint, MultipathConfig};
use trackbed_tcp::{Config, Stats, algorithms, schedulers};

use crate::host::{buffer_size, invalid};
use crate::socket::{Multipath, TcpInfo, TcpOptions};

/// The engine's settings for a connection through an interface with this MTU.
pub(super) fn config(options: &TcpOptions, mtu: u32) -> io::Result<Config> {
    let defaults = Config::default();
    let congestion = algorithms().iter().find(|algorithm| algorithm.name == options.congestion);
    let congestion = *congestion.ok_or_else(|| {
        let known = algorithms().iter().map(|algorithm| algorithm.name);
        unknown("congestion controller", &options.congestion, known)
    })?;
    Ok(Config {
        congestion,
        hystart: options.hystart,
        initial_window_segments: options.initial_window.unwrap_or(defaults.initial_window_segments),
        mtu,
        mss: options.mss.unwrap_or(defaults.mss),
        sack: options.sack,
        rto: RtoBounds { min: options.rto_min.unwrap_or(defaults.rto.min), ..defaults.rto },
        receive_buffer: buffer(options.receive_buffer, defaults.receive_buffer)?,
        send_buffer: buffer(options.send_buffer, defaults.send_buffer)?,
        nagle: !options.nodelay,
        ecn: match options.ecn {
            None => EcnMode::Passive,
            Some(true) => EcnMode::Active,
            Some(false) => EcnMode::Off,
        },
        keepalive: options.keepalive.map(|idle| KeepAlive { idle, ..KeepAlive::default() }),
        ..defaults
    })
}

/// The engine's settings for a connection on several paths; `connects` is true for the side that
/// opens it. `seed` is for the scheduler's own randomness.
pub(super) fn multipath(
    wanted: &Multipath,
    tcp: Config,
    connects: bool,
    seed: Seed,
) -> io::Result<MultipathConfig> {
    let known = schedulers::algorithms().iter().find(|known| known.name == wanted.scheduler);
    let scheduler = *known.ok_or_else(|| {
        let known = schedulers::algorithms().iter().map(|known| known.name);
        unknown("scheduler", &wanted.scheduler, known)
    })?;
    let endpoint = if connects { Endpoint::subflow } else { Endpoint::signal };
    Ok(MultipathConfig {
        tcp,
        scheduler,
        seed,
        opportunistic: wanted.opportunistic,
        proactive: wanted.proactive,
        reactive: wanted.reactive,
        checksum: wanted.checksum,
        endpoints: wanted.addresses.iter().map(|&address| endpoint(address)).collect(),
        rejoin: wanted.rejoin,
        ..MultipathConfig::default()
    })
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> io::Error {
    let known = known.collect::<Vec<_>>().join(", ");
    invalid(format!("unknown {what} \"{name}\"; choose one of {known}"))
}

pub(super) fn mtu(network: &Network, address: IpAddr) -> u32 {
    network.interface_of(address).map_or(LOOPBACK_MTU, |interface| network.mtu(interface))
}

pub(super) fn info(stats: &Stats) -> TcpInfo {
    TcpInfo {
        segments_sent: stats.segments_sent,
        segments_received: stats.segments_received,
        segments_retransmitted: stats.retransmissions,
        spurious_retransmissions: stats.spurious_retransmissions,
        timeouts: stats.timeouts,
        bytes_sent: stats.bytes_sent,
        bytes_acked: stats.bytes_acknowledged,
        bytes_received: stats.bytes_received,
        smoothed_rtt: Some(stats.srtt).filter(|srtt| !srtt.is_zero()),
        congestion_window: u64::from(stats.cwnd_segments) * u64::from(stats.mss_bytes),
    }
}

fn buffer(size: Option<usize>, default: BufferSize) -> io::Result<BufferSize> {
    let Some(size) = size else { return Ok(default) };
    let size = buffer_size(size)?;
    Ok(BufferSize { initial: size, max: size })
}

/// How long Linux keeps a connection without an owner if the peer does not close its side
/// (`net.ipv4.tcp_fin_timeout`).
pub(super) const ORPHAN_LIFETIME: Duration = Duration::from_secs(60);

/// The MTU of Linux's loopback interface is 65,536; an IP packet ends one byte earlier.
const LOOPBACK_MTU: u32 = 65_535;

#[cfg(test)]
mod tests {
    use trackbed_tcp::config::HyStart;

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        let config = config(&TcpOptions::default(), 1_500).unwrap();
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
    }

    #[test]
    fn every_option_reaches_the_engine() {
        let options = TcpOptions {
            congestion: "reno".to_owned(),
            nodelay: true,
            send_buffer: Some(10_000),
            receive_buffer: Some(20_000),
            ecn: Some(true),
            hystart: HyStart::Off,
            keepalive: Some(Duration::from_secs(9)),
            initial_window: Some(3),
            mss: Some(700),
            sack: false,
            rto_min: Some(Duration::from_secs(2)),
            multipath: None,
            backlog: 7,
        };
        let config = config(&options, 1_280).unwrap();
        assert_eq!(config.congestion.name, "reno");
        assert_eq!((config.nagle, config.mtu), (false, 1_280));
        assert_eq!((config.send_buffer.initial, config.send_buffer.max), (10_000, 10_000));
        assert_eq!((config.receive_buffer.initial, config.receive_buffer.max), (20_000, 20_000));
        assert_eq!((config.ecn, config.hystart), (EcnMode::Active, HyStart::Off));
        assert_eq!((config.initial_window_segments, config.mss, config.sack), (3, 700, false));
        assert_eq!(config.rto.min, Duration::from_secs(2));
        assert_eq!(config.keepalive.unwrap().idle, Duration::from_secs(9));
    }

    #[test]
    fn impossible_options_are_refused_with_what_is_possible() {
        let refused = |options: TcpOptions| config(&options, 1_500).unwrap_err().to_string();
        let unknown = TcpOptions { congestion: "vegas".to_owned(), ..TcpOptions::default() };
        assert!(refused(unknown).contains("choose one of cubic, reno"));
        let huge = TcpOptions { send_buffer: Some(usize::MAX), ..TcpOptions::default() };
        assert!(refused(huge).ends_with("choose 2304 to 1073741824"));
    }
}
