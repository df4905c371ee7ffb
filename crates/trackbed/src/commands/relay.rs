//! `trackbed relay`: plain TCP on one side, Multipath TCP on the other.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{ArgGroup, Args};
use trackbed_outward::{Format, Metrics, expose};
use trackbed_router::relay::fronts::{Front, rules};
use trackbed_router::relay::{Destinations, Limits, Plan, run};
use trackbed_substrate::Cancel;

use super::phad::{LOG_FORMATS, log};
use crate::ending::Ending;
use crate::options::one_of;
use crate::{interrupt, output};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/relay.txt"))]
#[command(group(ArgGroup::new("fronts").args(["transparent", "socks"]).required(true).multiple(true)))]
pub struct Arguments {
    /// Accept connections here that the firewall redirects (TPROXY); may be given twice, for IPv4 and
    /// IPv6
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub transparent: Vec<SocketAddr>,
    /// Accept SOCKS5 clients here; may be given several times
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub socks: Vec<SocketAddr>,
    /// Print the commands that redirect connections from INTERFACE to the relay, and exit
    #[arg(long, value_name = "INTERFACE", requires = "transparent")]
    pub print_rules: Option<String>,
    /// Let clients reach this address although it is the relay's own or link-local (loopback, cloud
    /// metadata); may be given several times
    #[arg(long, value_name = "ADDRESS")]
    pub allow: Vec<IpAddr>,
    /// Hold at most N connections; a further one replaces the longest-idle one of the client that has the
    /// most
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    pub connections: usize,
    /// Give up a destination that does not answer within TIME
    #[arg(long, value_name = "TIME", default_value = "20 s", value_parser = super::phad::duration)]
    pub connect_timeout: Duration,
    /// Close a connection that carries nothing for TIME
    #[arg(long, value_name = "TIME", default_value = "124 min", value_parser = super::phad::duration)]
    pub idle_timeout: Duration,
    /// When the relay stops, wait up to TIME for open connections to end
    #[arg(long, value_name = "TIME", default_value = "30 s", value_parser = super::phad::duration)]
    pub drain: Duration,
    /// Serve figures for Prometheus at http://ADDRESS:PORT/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Write the log as text to standard error, or as JSON lines to standard output
    #[arg(long, default_value = "text", value_parser = one_of(LOG_FORMATS))]
    pub log: Format,
}

/// Relays until a signal ends it.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if let Some(interface) = &arguments.print_rules {
        let fronts = arguments.transparent.iter();
        let text: Vec<String> = fronts.map(|front| rules(interface, *front)).collect();
        output::print(&text.concat())?;
        return Ok(Ending::Success);
    }
    let front = |is_transparent| move |address: &_| Front { is_transparent, address: *address };
    let transparent = arguments.transparent.iter().map(front(true));
    let socks = arguments.socks.iter().map(front(false));
    let limits = Limits {
        connections: arguments.connections.max(1),
        connect: arguments.connect_timeout,
        idle: arguments.idle_timeout,
        drain: arguments.drain,
    };
    let destinations = Destinations { allowed: arguments.allow.clone() };
    let plan = Plan { fronts: transparent.chain(socks).collect(), limits, destinations };
    let (log, metrics) = (log("trackbed relay", arguments.log), Metrics::default());
    let stop = Cancel::default();
    let asked = stop.clone();
    interrupt::on_stop(move || asked.cancel())?;
    if let Some(address) = arguments.metrics {
        let address = expose(&metrics, address)?;
        log.info("metrics", &format!("figures are at http://{address}/metrics"), &[]);
    }
    run(&plan, &metrics, log, &stop, |fronts| {
        for front in fronts {
            let kind = if front.is_transparent { "transparent" } else { "SOCKS5" };
            let address = front.address;
            let fields = [("front", kind.into()), ("address", address.to_string().into())];
            log.info("listening", &format!("{kind} front at {address}"), &fields);
        }
    })?;
    log.info("stopped", "stopped", &[]);
    Ok(Ending::Success)
}
