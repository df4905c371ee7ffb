//! `trackbed phad`: steers MPTCP away from operators before their handovers.

mod arguments;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use trackbed_outward::{Metrics, expose, listen};
use trackbed_railway::phad::Settings;
use trackbed_router::phad::paths::Operator;
use trackbed_router::phad::source::Source;
use trackbed_router::phad::{Daemon, Message, Plan, flags};

use crate::ending::Ending;
use crate::output;
pub use arguments::{Arguments, LOG_FORMATS, duration, log};

/// Runs the daemon until a signal ends it, or executes the one requested action.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let given = [arguments, &arguments.of_file()?];
    let state = first(given, |a| a.state.clone()).unwrap_or_else(|| PathBuf::from(STATE));
    if arguments.restore {
        let restored = flags::restore(&state).map_err(|why| anyhow!("{why}"))?;
        output::print(&format!("backup flags cleared: {restored}\n"))?;
        return Ok(Ending::Success);
    }
    let plan = plan(given, state)?;
    let log = log("trackbed phad", first(given, |a| a.log).unwrap_or_default());
    let metrics = Metrics::default();
    let patience = plan.settings.trust.fix_timeout + ONCE_MIN;
    let daemon = Daemon::prepare(plan, log, &metrics).map_err(|why| anyhow!("{why}"))?;
    if arguments.check {
        output::print(&format!("{}\n", daemon.describe().join("\n")))?;
        return Ok(Ending::Success);
    }
    let outbox = daemon.outbox();
    // A daemon that has stopped handles no signals.
    listen(move |signal| drop(outbox.send(Message::Signal(signal))))
        .context("cannot listen to signals")?;
    if arguments.once {
        output::print(&daemon.look_once(patience).map_err(|why| anyhow!("{why}"))?)?;
        return Ok(Ending::Success);
    }
    if let Some(address) = first(given, |a| a.metrics) {
        let address = expose(&metrics, address)?;
        log.info("metrics", &format!("serving metrics at http://{address}/metrics"), &[]);
    }
    daemon.run().map_err(|why| anyhow!("{why}"))?;
    Ok(Ending::Success)
}

/// An option of the command line, or else of the file.
fn first<T>(given: [&Arguments; 2], option: impl Fn(&Arguments) -> Option<T>) -> Option<T> {
    given.into_iter().find_map(option)
}

fn plan(given: [&Arguments; 2], state: PathBuf) -> anyhow::Result<Plan> {
    let mut settings = Settings::default();
    let trust = &mut settings.trust;
    for (setting, time) in [
        (&mut settings.lead, first(given, |a| a.lead)),
        (&mut settings.release_lead, first(given, |a| a.release_lead)),
        (&mut settings.hold_max, first(given, |a| a.hold_max)),
        (&mut trust.fix_timeout, first(given, |a| a.fix_timeout)),
    ] {
        *setting = time.unwrap_or(*setting);
    }
    trust.off_track_m = first(given, |a| a.off_track).unwrap_or(trust.off_track_m);
    let table = first(given, |a| a.table.clone()).context(
        "no handover table given; name one with --table FILE (`trackbed handover build` creates one)",
    )?;
    let source =
        |a: &Arguments| a.nmea.clone().map(Source::Nmea).or(a.gpsd.clone().map(Source::Gpsd));
    Ok(Plan {
        operators: operators(given)?,
        table,
        table_age_max: first(given, |a| a.table_age_max).filter(|age| !age.is_zero()),
        source: first(given, source).unwrap_or_else(|| Source::Gpsd(GPSD.to_owned())),
        position_age: first(given, |a| a.position_age).unwrap_or_default(),
        settings,
        state,
        // A check changes nothing, and may run beside a daemon.
        dry_run: given[0].dry_run || given[0].once,
    })
}

fn operators(given: [&Arguments; 2]) -> anyhow::Result<Vec<Operator>> {
    let named = |a: &Arguments| Some(a.operators.clone()).filter(|all| !all.is_empty());
    let operators = first(given, named).unwrap_or_default();
    for (number, operator) in operators.iter().enumerate() {
        if operators[..number].iter().any(|other| other.name == operator.name) {
            return Err(anyhow!("operator \"{}\" is given twice", operator.name));
        }
    }
    Ok(operators)
}

/// The file that records flags. Like the flags, it does not survive a reboot.
const STATE: &str = "/run/trackbed/phad.json";

/// gpsd's own address (gpsd(8)).
const GPSD: &str = "127.0.0.1:2947";

/// How much longer than the fix timeout `--once` waits for positions.
const ONCE_MIN: Duration = Duration::from_secs(10);
