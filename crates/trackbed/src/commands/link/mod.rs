//! `trackbed link`: any program behind an emulated link.

mod arguments;
mod capture;
mod changes;
mod log;
mod netem;
mod records;

use std::ffi::OsString;
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use changes::Timetable;
use netem::Netem;
use records::Records;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Sent};
use trackbed_core::Seed;
use trackbed_emulator::enclosure::{Enclosed, Enclosure};
use trackbed_emulator::passage::{Passage, Reach, Report};
use trackbed_emulator::{Clock, Verdict, namespace};
use trackbed_net::{Counters, DropReason, Duplex};
use trackbed_scenario::{self as scenario, LinkPlan, Override};

use crate::output::tell;

pub use arguments::Arguments;

/// Runs the command and returns its exit status. Call it while the process has only one thread.
pub fn execute(arguments: &Arguments) -> anyhow::Result<u8> {
    let changes = Timetable::read(arguments)?;
    let mut settings = settings(arguments)?;
    settings.extend(changes.neutral(&settings));
    let plan = scenario::link(&settings)?;
    let mut like = duplex(&plan, arguments.seed);
    changes.check(&mut like)?;
    // The kernel creates user namespaces only for single-threaded processes, so no thread may be started
    // before this.
    namespace::acquire()?;
    let clock = Clock::start();
    let records = Records::begin(arguments, clock)?;
    let reach = if arguments.isolated { Reach::OuterEnd } else { Reach::World(&arguments.publish) };
    let link = duplex(&plan, arguments.seed);
    let passage =
        Passage::open(link, reach, clock, records.tap(), arguments.congestion.as_deref())?;
    let enclosed = Enclosed {
        command: command(arguments),
        environment: vec![passage.environment().context("cannot mark the passage")?],
        resolver: passage.resolver(),
        user: None,
    };
    // The command may be running before this function goes on.
    let signals = listen()?;
    let mut enclosure = Enclosure::start(passage.inner(), &enclosed)?;
    pass_on(signals, enclosure.forwarder());
    changes.follow(passage.remote().clone(), passage.link(), like);
    let status = enclosure.wait()?;
    let report = passage.close().context("the emulation failed")?;
    records.finish()?;
    if arguments.summary {
        tell(summary(&report));
    } else if report.certificate.verdict() == Verdict::Invalid {
        tell(format_args!("trackbed: this machine did not keep up: {}", report.certificate));
    }
    Ok(code(status))
}

/// The settings of the link from all options. Settings of one direction override settings of both.
fn settings(arguments: &Arguments) -> anyhow::Result<Vec<Override>> {
    let short = [
        ("rate", &arguments.rate),
        ("delay", &arguments.delay),
        ("loss", &arguments.loss),
        ("queue", &arguments.queue),
    ];
    let setting =
        |key: &str, value: &str| Override { key: key.to_owned(), value: value.to_owned() };
    let mut settings: Vec<Override> = short
        .into_iter()
        .filter_map(|(key, value)| Some(setting(key, value.as_deref()?)))
        .collect();
    settings.extend(arguments.overrides.iter().cloned());
    if let Some(line) = &arguments.netem {
        let Netem { settings: of_netem, notes, .. } = Netem::read(line)?;
        notes.iter().for_each(|note| tell(format_args!("note: {note}")));
        let words = of_netem.iter().map(|setting| format!(" --set '{setting}'"));
        tell(format_args!(
            "the same without tc's words: trackbed link{}",
            words.collect::<String>()
        ));
        settings.splice(..0, of_netem);
    }
    for (direction, own) in [("up", &arguments.up), ("down", &arguments.down)] {
        let within = |one: &Override| setting(&format!("{direction}.{}", one.key), &one.value);
        settings.extend(own.iter().map(within));
    }
    Ok(settings)
}

fn duplex(plan: &LinkPlan, seed: u64) -> Duplex {
    let seed = Seed::of_run(seed, 0).child("link");
    Duplex { mtu: plan.mtu, ..Duplex::new(&plan.up, &plan.down, &seed) }
}

/// The command, by default the user's shell.
fn command(arguments: &Arguments) -> Vec<OsString> {
    match arguments.command.is_empty() {
        false => arguments.command.clone(),
        true => vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())],
    }
}

/// The exit status of the init, which is the command's.
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(TOOL_FAILED)
}

fn summary(report: &Report) -> String {
    let Report { up, down, congestion, certificate } = report;
    let elapsed = certificate.elapsed;
    format!(
        "{}\n{}\ntcp      {congestion}, from the outside\nmachine  {certificate}; {:.1} us of CPU time per packet",
        direction("up", up, elapsed),
        direction("down", down, elapsed),
        certificate.processor.as_secs_f64() * 1e6 / certificate.packets().max(1) as f64,
    )
}

fn direction(name: &str, counters: &Counters, elapsed: Duration) -> String {
    let Counters { offered, delivered, .. } = counters;
    let mbps = delivered.bytes as f64 * 8.0 / 1e6 / elapsed.as_secs_f64().max(1e-9);
    let drops: Vec<String> = DropReason::ALL
        .iter()
        .map(|why| (why, counters.dropped(*why).packets))
        .filter(|(_, packets)| *packets > 0)
        .map(|(why, packets)| format!(", {packets} dropped ({})", why.name()))
        .collect();
    format!(
        "{name:<7}  {} packets in, {} out, {} bytes, {mbps:.3} Mbit/s over {:.1} s{}",
        offered.packets,
        delivered.packets,
        delivered.bytes,
        elapsed.as_secs_f64(),
        drops.concat(),
    )
}

/// The status that env(1) and timeout(1) use too.
pub const TOOL_FAILED: u8 = 125;

/// Signals from now on.
pub fn listen() -> anyhow::Result<SignalsInfo<WithOrigin>> {
    let all = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT];
    SignalsInfo::new(all).context("cannot listen to signals")
}

/// Forwards signals from other processes to the command. Signals from the terminal reach the command
/// directly and are ignored here: the command decides how to react.
pub fn pass_on(mut signals: SignalsInfo<WithOrigin>, forward: impl Fn(i32) + Send + 'static) {
    thread::spawn(move || {
        for origin in signals.forever() {
            if matches!(origin.cause, Cause::Sent(Sent::User | Sent::TKill | Sent::Queue)) {
                forward(origin.signal);
            }
        }
    });
}
