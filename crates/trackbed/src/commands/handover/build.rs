//! `trackbed handover build`

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use trackbed_core::parameter::{Arguments, Kind, Parameter, Value};
use trackbed_core::text::plural;
use trackbed_outward::files::{create, read_text};
use trackbed_railway::handover::{Learner, LogSettings, Settings, Table, observe};
use trackbed_railway::motion::{Direction, DriveLog, Track};
use trackbed_railway::preliminary;
use trackbed_railway::radio::{PARAMETERS, Railway, signal_to_text, timelines_to_text};

use super::arguments::{BuildArguments, RangeArguments};
use crate::output::{self, shell_word, tell};

/// The settings of ranges, with `margin_m` unless the user gave a margin.
pub(super) fn settings(arguments: &RangeArguments, margin_m: f64) -> Settings {
    Settings {
        margin_m: arguments.margin.unwrap_or(margin_m),
        join_m: arguments.join,
        max_age: arguments.max_age,
        ..Settings::default()
    }
}

/// Learns a table.
pub fn execute(arguments: &BuildArguments) -> anyhow::Result<()> {
    let settings = settings(&arguments.ranges, Settings::default().margin_m);
    let table = match arguments.logs.is_empty() {
        true => from_model(arguments, settings)?,
        false => from_logs(arguments, settings)?,
    };
    match &arguments.output {
        Some(path) => {
            table.save(path)?;
            tell(format_args!("{}: {}", shell_word(path), outline(&table)?));
        }
        None => output::print(&table.to_text())?,
    }
    Ok(())
}

/// A summary of a table in a few words.
pub(crate) fn outline(table: &Table) -> anyhow::Result<String> {
    let mut ranges = 0;
    for operator in table.operators() {
        for direction in Direction::BOTH {
            ranges += table.ranges(operator, direction)?.len();
        }
    }
    let rides: u32 = Direction::BOTH.iter().map(|direction| table.rides(*direction)).sum();
    let operators = table.operators().count();
    let [ranges, operators] =
        [(ranges, "range"), (operators, "operator")].map(|(n, what)| plural(n as u64, what));
    Ok(format!("{ranges} of {operators} from {}", plural(rides.into(), "ride")))
}

fn from_model(arguments: &BuildArguments, settings: Settings) -> anyhow::Result<Table> {
    let railway = Railway::read(&given(arguments)?).map_err(|why| anyhow!("{why}"))?;
    if let Some(path) = arguments.track.as_ref().filter(|_| !railway.skipped().is_empty()) {
        tell(format_args!("{}: read{}", path.display(), railway.skipped()));
    }
    let directions = arguments.direction;
    if let Some(folder) = &arguments.timelines {
        keep_timelines(arguments, &railway, folder)?;
    }
    let table =
        preliminary::learn(&railway, directions, arguments.rides, arguments.seed, settings)?;
    Ok(table)
}

/// The settings of the model. Reads the files that they name.
fn given(arguments: &BuildArguments) -> anyhow::Result<Arguments> {
    let file = |path: &Option<PathBuf>| Some(path.as_ref()?.to_string_lossy().into_owned());
    let options = [
        ("profile", arguments.profile.clone()),
        ("speed", arguments.speed.clone()),
        ("track", file(&arguments.track)),
        ("stations", file(&arguments.stations)),
    ];
    let given = options.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let mut pairs: Vec<(String, String)> = given.collect();
    for setting in &arguments.settings {
        let (key, value) = setting.split_once('=').with_context(|| {
            format!(
                "--set \"{setting}\": no \"=\"; write KEY=VALUE, for example hysteresis=\"2 dB\""
            )
        })?;
        pairs.push((key.trim().replace('_', "-"), value.trim().trim_matches('"').to_owned()));
    }
    let pairs: Vec<(&str, Value)> = pairs
        .iter()
        .map(|(key, text)| Ok((key.as_str(), value(key, text)?)))
        .collect::<anyhow::Result<_>>()?;
    Arguments::read(PARAMETERS, &pairs).map_err(|why| anyhow!("{why}"))
}

fn value(key: &str, text: &str) -> anyhow::Result<Value> {
    let known = |parameter: &&Parameter| parameter.name == key;
    let Some(parameter) = PARAMETERS.iter().find(known) else {
        let names: Vec<&str> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
        bail!("--set: unknown key \"{key}\"; known keys: {}", names.join(", "));
    };
    match parameter.kind {
        Kind::File => Ok(Value::Contents(read(Path::new(text))?.into())),
        kind => kind.parse(text).map_err(|why| anyhow!("{key}: {why}")),
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    read_text(path, LOG_BYTES_MAX).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes the timelines of each ride in a text format that can be read back.
fn keep_timelines(
    arguments: &BuildArguments,
    railway: &Railway,
    folder: &PathBuf,
) -> anyhow::Result<()> {
    let write = |name: String, text: String| {
        let path = folder.join(name);
        let written = create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {}", path.display()))
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for number in 0..arguments.rides {
        for &direction in arguments.direction {
            let (_, timelines) = preliminary::ride(railway, direction, number, arguments.seed);
            write(format!("ride-{number}-{direction}.csv"), timelines_to_text(&timelines))?;
            write(format!("ride-{number}-{direction}-signal.csv"), signal_to_text(&timelines))?;
        }
    }
    Ok(())
}

fn from_logs(arguments: &BuildArguments, settings: Settings) -> anyhow::Result<Table> {
    let named = |path: &Path| path.display().to_string();
    let parsed = |path: &Path| {
        DriveLog::parse(&read(path)?, &arguments.columns).with_context(|| named(path))
    };
    let track = match &arguments.track {
        Some(path) => {
            let log = parsed(path)?;
            let positions = plural(log.samples.len() as u64, "position");
            tell(format_args!("{}: {positions}{}", named(path), log.skipped()));
            (path, log)
        }
        None => (&arguments.logs[0], parsed(&arguments.logs[0])?),
    };
    let track = Arc::new(Track::of_log(&track.1).with_context(|| named(track.0))?);
    let reading = LogSettings {
        operator: arguments.operator.clone(),
        corridor_m: arguments.corridor,
        ..LogSettings::default()
    };
    let mut learner = Learner::new(Arc::clone(&track), settings)?;
    for path in &arguments.logs {
        let log = parsed(path)?;
        let observed = observe(&log, &track, &reading).with_context(|| named(path))?;
        observed.rides.iter().for_each(|ride| learner.ride(ride));
        let handovers: usize = observed.rides.iter().map(|ride| ride.handovers()).sum();
        let rides = plural(observed.rides.len() as u64, "ride");
        let mut said =
            format!("{}: {rides}, {}", named(path), plural(handovers as u64, "handover"));
        for (count, what, why) in [
            (observed.beside_track, "position", "beside the track ignored"),
            (observed.unplaced, "handover", "in gaps of the log ignored"),
        ] {
            if count > 0 {
                said.push_str(&format!(", {} {why}", plural(count as u64, what)));
            }
        }
        let mut cells = log.samples.iter().flat_map(|sample| &sample.cells).peekable();
        let has_names = cells.peek().is_some() && cells.all(|(name, _)| !name.is_empty());
        if arguments.operator.is_some() && has_names {
            said.push_str(", --operator ignored: it names operators");
        }
        tell(said + &log.skipped());
    }
    Ok(learner.table())
}

/// Months of a drive at one position a second.
const LOG_BYTES_MAX: u64 = 256_000_000;
