//! `trackbed serve`: the other machine of `run --substrate live`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trackbed_core::ByteSize;
use trackbed_lab::live::{DATA_PORT, Limits, PORT, Settings, serve};
use trackbed_outward::Format;
use trackbed_substrate::Cancel;

use super::phad::{LOG_FORMATS, log};
use crate::ending::Ending;
use crate::interrupt;
use crate::options::one_of;

/// Where to listen, and how much clients may ask.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/serve.txt"))]
pub struct Arguments {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    pub listen: IpAddr,
    /// The port by which runs are asked for (TCP)
    #[arg(long, default_value_t = PORT)]
    pub port: u16,
    /// The port of the runs themselves (TCP and UDP)
    #[arg(long, value_name = "PORT", default_value_t = DATA_PORT)]
    pub data_port: u16,
    /// Where the ticket is written
    #[arg(long, value_name = "FILE", default_value = "trackbed-ticket.json")]
    pub ticket: PathBuf,
    /// How long a run may take
    #[arg(long, value_name = "TIME", default_value = "15 min", value_parser = super::phad::duration)]
    pub duration: Duration,
    /// Bytes that a run may move, in both directions together
    #[arg(long, value_name = "SIZE", default_value = "20 GB")]
    pub bytes: ByteSize,
    /// Requests that are answered in a second
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests)]
    pub requests: u32,
    /// How to write what happens: text to standard error, or JSON lines to standard output
    #[arg(long, default_value = "text", value_parser = one_of(LOG_FORMATS))]
    pub log: Format,
}

/// Serves until a signal ends it.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { duration, bytes, requests, .. } = *arguments;
    anyhow::ensure!(
        arguments.data_port == 0 || arguments.data_port != arguments.port,
        "--data-port must be another one than --port"
    );
    anyhow::ensure!(!duration.is_zero(), "--duration: no run could take place");
    anyhow::ensure!(bytes.as_bytes() > 0, "--bytes: nothing could be sent");
    anyhow::ensure!(requests > 0, "--requests: nothing could be asked for");
    // Buffers of many connections take a third less memory without huge pages.
    let _refused = rustix::thread::disable_transparent_huge_pages(true);
    let settings = Settings {
        listen: SocketAddr::new(arguments.listen, arguments.port),
        data_port: arguments.data_port,
        ticket: arguments.ticket.clone(),
        limits: Limits { duration, bytes, requests },
    };
    let log = log("trackbed serve", arguments.log);
    let cancel = Cancel::default();
    let asked = cancel.clone();
    interrupt::on_stop(move || asked.cancel())?;
    let shown = arguments.ticket.display().to_string();
    serve(settings, log, cancel, |address| {
        let only = "; over IPv6 only, for IPv4 use --listen 0.0.0.0";
        let only = if address.is_ipv6() { only } else { "" };
        let message = format!("runs are asked for at {address}, with the ticket {shown}{only}");
        let fields = [("address", address.to_string().into()), ("ticket", shown.clone().into())];
        log.info("listening", &message, &fields);
    })
    .map_err(anyhow::Error::msg)?;
    log.info("stopped", "stopped", &[]);
    Ok(Ending::Success)
}
