//! What `trackbed phad` can be told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trackbed_core::units::parse_duration;
use trackbed_outward::{Format, Log};
use trackbed_router::phad::paths::Operator;

use crate::output;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed phad --table line.geojson --operator A=wwan0 --operator B=wwan1
  trackbed phad --config /etc/trackbed/phad.toml --log json --metrics 127.0.0.1:9472
  trackbed phad --config /etc/trackbed/phad.toml --check       is everything there?
  trackbed phad --config /etc/trackbed/phad.toml --dry-run     say what would be done
  trackbed phad --restore                                      after a crash

What it does: a train's handovers recur at the same places. Before the train comes to a range of
the handover table (`trackbed handover`), the operator's MPTCP endpoint becomes a backup; the kernel
tells the peers of all connections (MP_PRIO), and they send by the other operators. Behind the range
that is taken back, and said again until data comes.

What it needs: Linux 5.16 or later with MPTCP; CAP_NET_ADMIN; connections under the kernel's path
manager (sysctl net.mptcp.pm_type=0); an endpoint for each operator, such as
  ip mptcp limits set subflow 2 add_addr_accepted 2
  ip mptcp endpoint add 10.1.0.2 dev wwan0 subflow
  ip mptcp endpoint add 10.2.0.2 dev wwan1 subflow
and routes by source address. `trackbed relay` gives programs without MPTCP a share in it. What a
sender has mapped to an operator when MP_PRIO comes still comes by it: a limited send buffer there
(net.ipv4.tcp_wmem, SO_SNDBUF), of a round trip or two of data, keeps that shorter than the lead.

What it promises: never are all operators backups, nor the last one that works. Without positions for
3 s (--fix-timeout), off the track, at a standstill (--hold-max), and at its end every flag that it has
set is taken back. If it is killed, its next start does that, or --restore (ExecStopPost= of the
service). A table that changes is read again, also on SIGHUP; if the new one is damaged the old one
stays in force.

The configuration file is TOML: the long options without their dashes, and a table of operators:
  table = \"/var/lib/trackbed/line.geojson\"
  gpsd = \"127.0.0.1:2947\"
  lead = \"300 ms\"
  [operators]
  A = \"wwan0\"
  B = \"wwan1\"
Options of the command line go before what it says; --operator replaces its operators.

Exit status: 0 ended by a signal or all is well, 2 bad input or something failed.";

/// How to work, and with what.
#[derive(Debug, Args)]
pub struct PhadArguments {
    /// Read options from this file (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Handover table
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// How old that file may be before it is not used any more, for example "720 h" [default: any
    /// age; ranges age by rides, see `trackbed handover`]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub table_age_max: Option<Duration>,
    /// An operator of the table, and its interface, address or endpoint (id:NUMBER); for each one
    #[arg(long = "operator", value_name = "NAME=INTERFACE")]
    pub operators: Vec<Operator>,
    /// Where gpsd is [default: 127.0.0.1:2947]
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "nmea")]
    pub gpsd: Option<String>,
    /// Positions from a receiver that speaks NMEA 0183, in place of gpsd
    #[arg(long, value_name = "DEVICE")]
    pub nmea: Option<PathBuf>,
    /// How old positions are when they come [default: 0 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub position_age: Option<Duration>,
    /// How long before a range its operator becomes a backup: a round trip, and what data that is
    /// on its way needs to arrive; 100 to 276 ms were measured [default: 300 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub lead: Option<Duration>,
    /// How long before the end of a range that is taken back [default: 0 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub release_lead: Option<Duration>,
    /// How long a position is carried on by its speed; then all flags are taken back [default: 3 s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub fix_timeout: Option<Duration>,
    /// How far beside the track positions may be, in metres [default: 200]
    #[arg(long, value_name = "METRES", value_parser = metres)]
    pub off_track: Option<f64>,
    /// How long an operator may be a backup at a time [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub hold_max: Option<Duration>,
    /// The file that remembers the flags that are set [default: /run/trackbed/phad.json]
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Offer figures to Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// How to write what happens: text to standard error, or JSON lines to standard output
    #[arg(long, value_enum, default_value = "text")]
    pub log: LogFormat,
    /// Say what would be done, and leave the kernel alone
    #[arg(long)]
    pub dry_run: bool,
    /// Look whether table, kernel, rights and endpoints are in order, say so, and end
    #[arg(long, conflicts_with_all = ["once", "restore"])]
    pub check: bool,
    /// Wait for a position, say where the train is and which ranges are ahead, and end
    #[arg(long, conflicts_with = "restore")]
    pub once: bool,
    /// Take back the flags that a daemon which was killed has left, and end
    #[arg(long)]
    pub restore: bool,
}

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// For machines
    Json,
}

impl LogFormat {
    /// The log of the service of this name, as quiet as the command is asked to be.
    pub fn log(self, service: &'static str) -> Log {
        let format = match self {
            LogFormat::Text => Format::Text,
            LogFormat::Json => Format::Json,
        };
        Log::new(service, format).quiet(output::is_quiet())
    }
}

/// A time with its unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|why| why.to_string())
}

/// A length in metres; the unit may be there.
pub(super) fn metres(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('m').trim().parse().ok();
    let number = number.filter(|metres: &f64| metres.is_finite() && *metres > 0.0);
    number.ok_or_else(|| format!("\"{text}\" is no length; write metres, for example 200"))
}
