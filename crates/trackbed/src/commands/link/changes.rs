//! Settings that change while the link runs: at given times, or when a file is written.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::inotify;
use trackbed_core::Time;
use trackbed_core::text::lines;
use trackbed_core::units::parse_duration;
use trackbed_emulator::Remote;
use trackbed_net::{Change, Direction, Duplex, LinkId};
use trackbed_outward::files::read_bounded;
use trackbed_scenario::Override;

use super::arguments::Arguments;
use crate::output::tell;

/// The changes and their times.
#[derive(Debug)]
pub struct Timetable {
    /// In order of time since the command's start.
    entries: Vec<(Duration, Setting)>,
    /// A file of settings, and what tells when it is written.
    file: Option<(PathBuf, OwnedFd)>,
}

/// A new value for one direction or both: `delay=20ms`, `up.rate=5mbit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    directions: Vec<Direction>,
    change: Change,
}

impl FromStr for Setting {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Setting> {
        let (key, value) = text
            .split_once('=')
            .with_context(|| format!("\"{text}\" has no \"=\"; write, for example, delay=20ms"))?;
        let (directions, key) = match key.trim().split_once('.') {
            Some(("up", key)) => (vec![Direction::Forward], key),
            Some(("down", key)) => (vec![Direction::Backward], key),
            _ => (BOTH.to_vec(), key.trim()),
        };
        let value = value.trim().trim_matches('"');
        let wrong = |why: &dyn std::fmt::Display| anyhow!("{key}: {why}");
        let change = match key {
            "rate" => Change::Rate(value.parse().map_err(|why| wrong(&why))?),
            "delay" => Change::Delay(parse_duration(value).map_err(|why| wrong(&why))?),
            "loss" => Change::Loss(value.parse().map_err(|why| wrong(&why))?),
            "paused" => Change::Paused(value.parse().map_err(|_| wrong(&"write true or false"))?),
            _ => bail!(
                "\"{key}\" cannot change while the link runs; rate, delay, loss and paused can"
            ),
        };
        Ok(Setting { directions, change })
    }
}

/// `5s rate=10mbit`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedSetting {
    at: Duration,
    setting: Setting,
}

impl FromStr for TimedSetting {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<TimedSetting> {
        let advice = "write a time and a setting, for example \"5s rate=10mbit\"";
        let (at, setting) = text.trim().rsplit_once(char::is_whitespace).context(advice)?;
        let at = parse_duration(at.trim()).map_err(|why| anyhow!("{why}; {advice}"))?;
        Ok(TimedSetting { at, setting: setting.parse()? })
    }
}

impl Timetable {
    /// Reads the changes from the arguments.
    pub fn read(arguments: &Arguments) -> anyhow::Result<Timetable> {
        let timed = arguments.at.iter().map(|timed| (timed.at, timed.setting.clone()));
        let mut entries: Vec<_> = timed.collect();
        entries.sort_by_key(|(at, _)| *at);
        let mut file = None;
        if let Some(path) = &arguments.control {
            // What is written from now on is noticed.
            file = Some((path.clone(), watch(path)?));
            let now = settings_in(path)?.into_iter().map(|setting| (Duration::ZERO, setting));
            entries.splice(..0, now);
        }
        Ok(Timetable { entries, file })
    }

    /// The models without effect that a link needs besides the settings `said`, so that every change in this
    /// timetable is possible.
    pub fn neutral(&self, said: &[Override]) -> Vec<Override> {
        let mut neutral = Vec::new();
        for (direction, prefix) in [(Direction::Backward, "down"), (Direction::Forward, "up")] {
            let is_needed = |needed: &str| {
                let changes = |setting: &Setting| {
                    key(setting.change) == needed && setting.directions.contains(&direction)
                };
                self.file.is_some() || self.entries.iter().any(|(_, setting)| changes(setting))
            };
            let is_said = |key: &str| {
                said.iter().any(|setting| {
                    let mut words = setting.key.split('.');
                    let first = words.next();
                    first == Some(key) || first == Some(prefix) && words.next() == Some(key)
                })
            };
            for (key, value) in NEUTRAL {
                if is_needed(key) && !is_said(key) {
                    let key = format!("{prefix}.{key}");
                    neutral.push(Override { key, value: value.to_owned() });
                }
            }
        }
        neutral
    }

    /// Checks that a link `like` this accepts every change.
    pub fn check(&self, like: &mut Duplex) -> anyhow::Result<()> {
        self.entries.iter().try_for_each(|(_, setting)| check(setting, like))
    }

    /// Makes every change at its time, on threads that end with the process.
    pub fn follow(self, remote: Remote, link: LinkId, mut like: Duplex) {
        let Timetable { entries, file } = self;
        if let Some((file, watch)) = file {
            let remote = remote.clone();
            thread::spawn(move || {
                if let Err(why) = follow_file((&file, watch), &remote, link, &mut like) {
                    tell(format_args!("trackbed: {why:#}; the link is unchanged"));
                }
            });
        }
        thread::spawn(move || {
            let mut now = Duration::ZERO;
            for (at, setting) in entries {
                #[expect(clippy::disallowed_methods, reason = "the link runs in real time")]
                thread::sleep(at.saturating_sub(now));
                now = at;
                apply(&setting, &remote, link);
            }
        });
    }
}

/// Tests a change on a link like the running one, but without traffic.
fn check(Setting { directions, change }: &Setting, like: &mut Duplex) -> anyhow::Result<()> {
    for direction in directions {
        let link = match direction {
            Direction::Forward => &mut like.forward,
            Direction::Backward => &mut like.backward,
        };
        if !link.change(Time::ZERO, change) {
            let key = key(*change);
            bail!(
                "{key} cannot change while the link runs: its model does not support changes\n  \
                 help: use --{key} instead of the model"
            );
        }
    }
    Ok(())
}

/// The key of the link whose model makes the change.
fn key(change: Change) -> &'static str {
    match change {
        Change::Delay(_) => "delay",
        Change::Loss(_) => "loss",
        // Pausing is a change of the rate.
        _ => "rate",
    }
}

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// Settings without noticeable effect: at this rate a packet takes nanoseconds.
const NEUTRAL: [(&str, &str); 3] = [("delay", "0 ms"), ("loss", "0 %"), ("rate", "1000 Gbit/s")];

fn apply(setting: &Setting, remote: &Remote, link: LinkId) {
    for direction in &setting.directions {
        remote.change(link, *direction, setting.change);
    }
}

/// Reads one setting per line; empty lines and comments (`#`) are skipped.
fn settings_in(path: &Path) -> anyhow::Result<Vec<Setting>> {
    let text = match read_bounded(path, SETTINGS_BYTES_MAX) {
        // It may be written later.
        Err(why) if why.kind() == io::ErrorKind::NotFound => Vec::new(),
        text => text.with_context(|| format!("cannot read the settings in {}", path.display()))?,
    };
    let text = String::from_utf8_lossy(&text);
    let setting = |(number, line): (u64, &str)| {
        let place = || format!("{}, line {number}", path.display());
        line.split('#').next().unwrap_or_default().trim().parse().with_context(place)
    };
    lines(&text).map(setting).collect()
}

/// A file of settings is written by hand or by a script.
const SETTINGS_BYTES_MAX: u64 = 1_000_000;

/// Watches the folder of a file, because editors replace a file instead of writing to it.
fn watch(path: &Path) -> anyhow::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).context("cannot watch files")?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let events = inotify::WatchFlags::CLOSE_WRITE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&watch, folder, events)
        .with_context(|| format!("cannot watch the folder {}", folder.display()))?;
    Ok(watch)
}

/// Reads the file again whenever it is written or replaced.
fn follow_file(
    (path, watch): (&Path, OwnedFd),
    remote: &Remote,
    link: LinkId,
    like: &mut Duplex,
) -> anyhow::Result<()> {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(watch, &mut buffer);
    loop {
        let event = reader.next().context("cannot watch files")?;
        let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
        if name.as_deref() != path.file_name().and_then(|name| name.to_str()) {
            continue;
        }
        let settings = settings_in(path).and_then(|settings| {
            settings.iter().try_for_each(|setting| check(setting, like)).map(|()| settings)
        });
        match settings {
            Ok(settings) => settings.iter().for_each(|setting| apply(setting, remote, link)),
            Err(why) => tell(format_args!("trackbed: {why:#}; the link is unchanged")),
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::{Bitrate, Seed};
    use trackbed_scenario as scenario;

    use super::*;

    fn changes(timed: &[&str]) -> Timetable {
        let entries = timed.iter().map(|text| text.parse::<TimedSetting>().unwrap());
        let entries = entries.map(|timed| (timed.at, timed.setting)).collect();
        Timetable { entries, file: None }
    }

    /// The models that these changes need besides the settings `said`, and whether the link accepts them.
    fn checked(timed: &[&str], said: &[(&str, &str)]) -> (Vec<Override>, anyhow::Result<()>) {
        let setting =
            |(key, value): &(&str, &str)| Override { key: (*key).into(), value: (*value).into() };
        let said: Vec<Override> = said.iter().map(setting).collect();
        let changes = changes(timed);
        let neutral = changes.neutral(&said);
        let plan = scenario::link(&[said, neutral.clone()].concat()).unwrap();
        let mut link = Duplex::new(&plan.up, &plan.down, &Seed::of_run(1, 0));
        (neutral, changes.check(&mut link))
    }

    #[test]
    fn every_change_has_a_model_from_the_start() {
        let all = ["1s loss=100%", "2s up.delay=5ms", "3s paused=true", "4s down.rate=1bit"];
        let (neutral, taken) = checked(&all, &[]);
        let keys: Vec<&str> = neutral.iter().map(|setting| setting.key.as_str()).collect();
        assert_eq!(keys, ["down.loss", "down.rate", "up.delay", "up.loss", "up.rate"]);
        taken.unwrap();
        let (neutral, taken) = checked(&["1s rate=1mbit"], &[("up.rate", "5mbit")]);
        assert_eq!(neutral[0].key, "down.rate");
        assert_eq!(neutral.len(), 1);
        taken.unwrap();
        let (neutral, taken) = checked(&["1s rate=1mbit", "2s paused=true"], &[("rate", "5mbit")]);
        assert!(neutral.is_empty());
        taken.unwrap();
    }

    #[test]
    fn changes_that_a_model_does_not_support_are_refused() {
        let bursts = [("loss", "{ gilbert-elliott = { p = \"1 %\", r = \"30 %\" } }")];
        let (neutral, taken) = checked(&["1s loss=100%"], &bursts);
        assert!(neutral.is_empty());
        assert!(taken.unwrap_err().to_string().contains("loss cannot change"));
        // Any delay model can be replaced by a fixed delay.
        let spread = [("delay", "{ uniform = { least = \"1 ms\", most = \"5 ms\" } }")];
        checked(&["1s delay=9ms"], &spread).1.unwrap();
    }

    #[test]
    fn settings_name_a_direction_a_key_and_a_value() {
        let setting: Setting = "up.rate=5mbit".parse().unwrap();
        assert_eq!(setting.directions, [Direction::Forward]);
        assert_eq!(setting.change, Change::Rate(Bitrate::from_mbps(5)));
        let both: Setting = "delay = \"20 ms\"".parse().unwrap();
        assert_eq!(both.directions.len(), 2);
        for wrong in ["delay", "delay=fast", "mtu=1500", "paused=maybe", "loss=1.5"] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
        let timed: TimedSetting = "5 s rate=10mbit".parse().unwrap();
        assert_eq!(timed.at, Duration::from_secs(5));
        assert!("rate=10mbit".parse::<TimedSetting>().is_err());
    }
}
