//! The arguments of `trackbed link`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use trackbed_emulator::passage::Published;
use trackbed_scenario::Override;

use super::changes::TimedSetting;

/// A port of this machine, or an address with a port, and the protocol, if it is not TCP.
fn published(text: &str) -> Result<Published, &'static str> {
    let udp = text.strip_suffix("/udp");
    let place = udp.or_else(|| text.strip_suffix("/tcp")).unwrap_or(text);
    let port = place.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = port.ok().or_else(|| place.parse().ok()).filter(|it| it.port() != 0);
    let why = "write a port, 8080, or an address and a port, 0.0.0.0:8080; for UDP 4433/udp";
    Ok(Published { address: address.ok_or(why)?, is_udp: udp.is_some() })
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/link.txt"))]
pub struct Arguments {
    /// Set the rate of both directions, for example 50mbit
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Set the one-way delay of each direction, for example 10ms
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Drop SHARE of the packets of each direction at random, for example 0.3%
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<String>,
    /// Set the queue in front of the rate, for example "100 packets", 64kB or codel
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// Read the link from LINE, the words of `tc ... netem`, and print what netem would do differently
    #[arg(long, value_name = "LINE")]
    pub netem: Option<String>,
    /// Set KEY of the link to VALUE for both directions; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Set KEY to VALUE for the direction from the command to the outside
    #[arg(long, value_name = "KEY=VALUE")]
    pub up: Vec<Override>,
    /// Set KEY to VALUE for the direction from the outside to the command
    #[arg(long, value_name = "KEY=VALUE")]
    pub down: Vec<Override>,
    /// Change KEY (rate, delay, loss or paused) to VALUE at TIME after the start
    #[arg(long, value_name = "TIME KEY=VALUE")]
    pub at: Vec<TimedSetting>,
    /// Apply the settings in FILE whenever it is written, or created: one KEY=VALUE per line
    #[arg(long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// Accept TCP connections at PORT of 127.0.0.1, or at ADDRESS:PORT, for a server that the command runs at the
    /// same port of the link's address; with /udp behind it, datagrams; may be given several times
    #[arg(long, value_name = "PORT", value_parser = published, conflicts_with = "isolated")]
    pub publish: Vec<Published>,
    /// Let the command reach only the other end of the link, not the network outside
    #[arg(long)]
    pub isolated: bool,
    /// Let TCP use the congestion controller NAME over the link, at both ends [default: this machine's; `trackbed
    /// doctor` lists them]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// Set the seed of the link's random-number generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a line for each packet to FILE, in mahimahi's format
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write captures of both ends of the link and of dropped packets to DIR (pcapng)
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Print at the end what the link did and whether this machine kept up
    #[arg(long)]
    pub summary: bool,
    /// The program to run and its arguments [default: your shell]
    #[arg(trailing_var_arg = true)]
    pub command: Vec<OsString>,
}
