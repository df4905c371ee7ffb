//! The arguments of `trackbed link`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use trackbed_scenario::Override;

use super::changes::TimedSetting;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed link --rate 50mbit --delay 10ms --loss 0.3% -- curl https://example.org/
  trackbed link --delay 30ms -- curl http://100.64.0.1:8000/   a server on this machine
  trackbed link --delay 40ms --up rate=5mbit --down rate=50mbit -- chromium
  trackbed link --set 'delay={ normal = { mean = \"20 ms\", deviation = \"5 ms\" } }'
  trackbed link --rate 10mbit --at '30s rate=1mbit' --at '60s rate=10mbit' -- ./my-player
  trackbed link --delay 5ms -- trackbed link --rate 8mbit --queue 64kB -- ping -c 3 100.64.0.1

The command gets a network of its own (Linux network namespaces; no root needed where the machine
lets users have them). Its interface \"link\" has the addresses 100.64.0.2 and fd74:7261::2; the
other end of the link is 100.64.0.1 and fd74:7261::1. Up is from the command to the outside.

From there TCP, UDP and names go on to wherever this machine gets, and pings where you may ping
(net.ipv4.ping_group_range). 100.64.0.1 and fd74:7261::1 stand for this machine's 127.0.0.1 and ::1.
A gateway dials anew for each flow, so a TCP connection over the link ends at the link's outer end.
With --isolated nothing goes on. Inside another link, that link decides.

Delays are one way and hold for each direction. A rate counts IP packets; packets wait for it in a
queue of 100 packets unless --queue says otherwise. Everything that a scenario's [link] takes goes
with --set, --up and --down: see `trackbed list links` and `trackbed list keys`.

Exit status: that of the command, or 128 + n if signal n ended it; 125 if the link failed, 126 or 127
if the command could not be run. Everything that the command has started ends with it.";

/// What to put behind which link.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Rate of both directions, for example 50mbit
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Delay of each direction, one way, for example 10ms
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Share of packets lost at random, in each direction, for example 0.3%
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<String>,
    /// Queue in front of the rate, for example "100 packets", 64kB or codel
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// Set any key of a link for both directions; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Set a key for the way from the command to the outside
    #[arg(long, value_name = "KEY=VALUE")]
    pub up: Vec<Override>,
    /// Set a key for the way from the outside to the command
    #[arg(long, value_name = "KEY=VALUE")]
    pub down: Vec<Override>,
    /// Change rate, delay, loss or paused at a time after the start
    #[arg(long, value_name = "TIME KEY=VALUE")]
    pub at: Vec<TimedSetting>,
    /// Change them whenever this file is written: one KEY=VALUE a line
    #[arg(long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// Let the command reach the other end of the link only, and not the network outside
    #[arg(long)]
    pub isolated: bool,
    /// Where the link's randomness comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a line for each packet, in mahimahi's form
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Capture both ends of the link, and what it drops, as pcapng
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Say at the end what the link did, and whether this machine kept up
    #[arg(long)]
    pub summary: bool,
    /// The program and its arguments [default: your shell]
    #[arg(trailing_var_arg = true)]
    pub command: Vec<OsString>,
}
