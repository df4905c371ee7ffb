//! `trackbed phad`: steers MPTCP away from operators before their handovers.

mod arguments;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use trackbed_outward::{Metrics, expose, listen};
use trackbed_router::phad::config::Config;
use trackbed_router::phad::controller::Settings;
use trackbed_router::phad::paths::Operator;
use trackbed_router::phad::source::Source;
use trackbed_router::phad::{Daemon, Message, Plan, flags};

use crate::ending::Ending;
use crate::output;
pub use arguments::{Arguments, LogFormat, duration};

/// Runs the daemon until a signal ends it, or executes the one requested action.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let config = match &arguments.config {
        Some(path) => Config::read(path).map_err(|why| anyhow!("{why}"))?,
        None => Config::default(),
    };
    let state = arguments.state.clone().or_else(|| config.state.clone());
    let state = state.unwrap_or_else(|| PathBuf::from(STATE));
    if arguments.restore {
        let restored = flags::restore(&state).map_err(|why| anyhow!("{why}"))?;
        output::print(&format!("backup flags cleared: {restored}\n"))?;
        return Ok(Ending::Success);
    }
    let plan = plan(arguments, &config, state)?;
    let log = arguments.log.log("trackbed phad");
    let metrics = Metrics::new();
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
    let offered = match (arguments.metrics, &config.metrics) {
        (Some(address), _) => Some(address),
        (None, Some(text)) => Some(
            text.parse().with_context(|| format!("metrics = \"{text}\": write ADDRESS:PORT"))?,
        ),
        (None, None) => None,
    };
    if let Some(address) = offered {
        let address = expose(&metrics, address)?;
        log.info("metrics", &format!("serving metrics at http://{address}/metrics"), &[]);
    }
    daemon.run().map_err(|why| anyhow!("{why}"))?;
    Ok(Ending::Success)
}

fn plan(arguments: &Arguments, config: &Config, state: PathBuf) -> anyhow::Result<Plan> {
    let defaults = Settings::default();
    let time =
        |given: Option<Duration>, text: &Option<String>, name: &str, default| match (given, text) {
            (Some(time), _) => Ok(time),
            (None, Some(text)) => {
                duration(text).map_err(|why| anyhow!("{name} = \"{text}\": {why}"))
            }
            (None, None) => Ok(default),
        };
    let off_track_m = match (arguments.off_track, &config.off_track) {
        (Some(metres), _) => metres,
        (None, Some(text)) => arguments::metres(text).map_err(|why| anyhow!("off-track: {why}"))?,
        (None, None) => defaults.trust.off_track_m,
    };
    let mut settings = defaults;
    settings.lead = time(arguments.lead, &config.lead, "lead", defaults.lead)?;
    settings.release_lead =
        time(arguments.release_lead, &config.release_lead, "release-lead", defaults.release_lead)?;
    settings.hold_max = time(arguments.hold_max, &config.hold_max, "hold-max", defaults.hold_max)?;
    settings.trust.fix_timeout = time(
        arguments.fix_timeout,
        &config.fix_timeout,
        "fix-timeout",
        defaults.trust.fix_timeout,
    )?;
    settings.trust.off_track_m = off_track_m;
    let position_age =
        time(arguments.position_age, &config.position_age, "position-age", Duration::ZERO)?;
    let table_age_max =
        time(arguments.table_age_max, &config.table_age_max, "table-age-max", Duration::ZERO)?;
    let table = arguments.table.clone().or_else(|| config.table.clone());
    let table = table.context(
        "no handover table given; name one with --table FILE (`trackbed handover build` creates one)",
    )?;
    Ok(Plan {
        operators: operators(arguments, config)?,
        table,
        table_age_max: (!table_age_max.is_zero()).then_some(table_age_max),
        source: source(arguments, config)?,
        position_age,
        settings,
        state,
        // A check changes nothing, and may run beside a daemon.
        dry_run: arguments.dry_run || arguments.once,
    })
}

fn operators(arguments: &Arguments, config: &Config) -> anyhow::Result<Vec<Operator>> {
    let mut operators = arguments.operators.clone();
    if operators.is_empty() {
        let parsed = config.operators().into_iter().map(|text| text.parse());
        operators = parsed.collect::<Result<_, String>>().map_err(|why| anyhow!("{why}"))?;
    }
    for (number, operator) in operators.iter().enumerate() {
        if operators[..number].iter().any(|other| other.name == operator.name) {
            return Err(anyhow!("operator \"{}\" is given twice", operator.name));
        }
    }
    Ok(operators)
}

fn source(arguments: &Arguments, config: &Config) -> anyhow::Result<Source> {
    let given = (arguments.gpsd.clone(), arguments.nmea.clone());
    let (gpsd, nmea) = match given {
        (None, None) => (config.gpsd.clone(), config.nmea.clone()),
        given => given,
    };
    match (gpsd, nmea) {
        (Some(_), Some(_)) => Err(anyhow!("gpsd and nmea are both given; remove one of them")),
        (None, Some(device)) => Ok(Source::Nmea(device)),
        (address, None) => Ok(Source::Gpsd(address.unwrap_or_else(|| GPSD.to_owned()))),
    }
}

/// The file that records flags. Like the flags, it does not survive a reboot.
const STATE: &str = "/run/trackbed/phad.json";

/// gpsd's own address (gpsd(8)).
const GPSD: &str = "127.0.0.1:2947";

/// How much longer than the fix timeout `--once` waits for positions.
const ONCE_MIN: Duration = Duration::from_secs(10);
