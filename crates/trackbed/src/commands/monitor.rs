//! `trackbed monitor`: resource usage of the machine and of chosen processes, second by second.

use std::num::NonZeroU64;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;
use trackbed_device::monitor::{Monitor, Named, Reading};

use crate::ending::Ending;
use crate::{interrupt, output};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/monitor.txt"))]
pub struct Arguments {
    /// Watch the process PID under the name NAME; may be given several times
    #[arg(long = "role", value_name = "NAME=PID", value_parser = role)]
    pub roles: Vec<(String, u32)>,
    /// Take a reading every TIME
    #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = super::phad::duration)]
    pub interval: Duration,
    /// Stop after N readings [default: until interrupted]
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroU64>,
    /// Print a JSON object for each reading
    #[arg(long)]
    pub json: bool,
}

/// Prints readings until a signal arrives or `--count` is reached.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    // A reading to print, or nothing if a signal has arrived.
    let (news, inbox) = channel();
    let stop = news.clone();
    interrupt::on_stop(move || drop(stop.send(None)))?;
    let roles: Vec<(&str, u32)> =
        arguments.roles.iter().map(|(name, pid)| (name.as_str(), *pid)).collect();
    let take = move |reading| drop(news.send(Some(reading)));
    let _monitor = Monitor::start(arguments.interval, &roles, take)?;
    let mut count = 0;
    while let Ok(Some(reading)) = inbox.recv() {
        let line = if arguments.json { serde_json::to_string(&reading)? } else { line(&reading) };
        output::stream(&format!("{line}\n"))?;
        count += 1;
        if arguments.count.is_some_and(|wanted| count >= wanted.get()) {
            break;
        }
    }
    Ok(Ending::Success)
}

/// A reading as text for people.
fn line(reading: &Reading) -> String {
    let machine = &reading.machine;
    let mut parts = vec!["machine".to_owned()];
    parts.extend(machine.cpu_percent.map(|percent| format!("{percent:.0} %")));
    parts.extend(machine.memory_used_bytes.map(megabytes));
    let named = |values: &[Named], unit: &str| -> Vec<String> {
        values.iter().map(|Named { name, value }| format!("{name} {value:.1} {unit}")).collect()
    };
    parts.extend(named(&machine.frequencies_mhz, "MHz"));
    parts.extend(named(&machine.temperatures_c, "C"));
    parts.extend(named(&machine.powers_w, "W"));
    for gpu in &machine.gpus {
        parts.extend(gpu.load_percent.map(|percent| format!("{} {percent:.0} %", gpu.name)));
    }
    for role in &reading.roles {
        parts.push(format!("| {}", role.name));
        parts.extend(role.cpu_percent.map(|percent| format!("{percent:.0} %")));
        parts.extend(role.memory_bytes.map(megabytes));
        if role.processes == 0 {
            parts.push("no process".to_owned());
        }
    }
    parts.join("  ")
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

fn role(text: &str) -> Result<(String, u32), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let role = parts.and_then(|(name, pid)| Some((name.to_owned(), pid.parse().ok()?)));
    role.ok_or_else(|| "write a name and a process ID, for example server=4711".to_owned())
}
