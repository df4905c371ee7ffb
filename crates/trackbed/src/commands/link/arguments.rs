//! The arguments of `trackbed link`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use trackbed_scenario::Override;

use super::changes::TimedSetting;

/// A port of this machine, or an address with a port.
fn published(text: &str) -> Result<SocketAddr, &'static str> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = port.ok().or_else(|| text.parse().ok()).filter(|it| it.port() != 0);
    address.ok_or("write a port, 8080, or an address and a port, 0.0.0.0:8080")
}

const EXAMPLES: &str = "\
Examples:
  trackbed link --rate 50mbit --delay 10ms --loss 0.3% -- curl https://example.org/
  trackbed link --delay 30ms -- curl http://100.64.0.1:8000/   a server on this machine
  trackbed link --delay 30ms --publish 8080 -- ./my-server   a server behind the link, at http://127.0.0.1:8080/
  trackbed link --delay 40ms --up rate=5mbit --down rate=50mbit -- chromium
  trackbed link --set 'delay={ normal = { mean = \"20 ms\", deviation = \"5 ms\" } }'
  trackbed link --netem 'delay 60ms 30ms loss 1% rate 10mbit limit 100' -- ./my-player
  trackbed link --rate 10mbit --at '30s rate=1mbit' --at '60s rate=10mbit' -- ./my-player
  trackbed link --delay 5ms -- trackbed link --rate 8mbit --queue 64kB -- ping -c 3 100.64.0.1

The command runs in its own network namespace (Linux; no root needed if the system lets users create
namespaces). Its interface \"link\" has the addresses 100.64.0.2 and fd74:7261::2; the other end of the
link has 100.64.0.1 and fd74:7261::1. Up is the direction from the command to the outside.

A gateway at the outer end forwards TCP, UDP and DNS to wherever this machine can reach, and pings if you
may ping (net.ipv4.ping_group_range). 100.64.0.1 and fd74:7261::1 stand for this machine's 127.0.0.1 and
::1. The gateway opens a new connection for each flow, so TCP connections over the link end at the gateway.
With --isolated, nothing is forwarded. Inside another link, traffic is forwarded through that link.

Delays are one-way and apply to each direction. A rate counts IP packets; the queue in front of it holds
100 packets by default (--queue). --set, --up and --down accept every key of a scenario's [link]: see
`trackbed list links` and `trackbed list keys`.

Exit status: that of the command, or 128 + n if signal n ended it; 125 if the link failed, 126 or 127
if the command could not be run. All processes that the command has started end with it.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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
    /// same port of the link's address; may be given several times
    #[arg(long, value_name = "PORT", value_parser = published, conflicts_with = "isolated")]
    pub publish: Vec<SocketAddr>,
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
