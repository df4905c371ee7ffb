//! Settings of the link that change while it works: at given times, or when a file says so.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::inotify;
use trackbed_core::units::parse_duration;
use trackbed_emulator::Remote;
use trackbed_net::{Change, Direction, LinkId};

use super::arguments::LinkArguments;
use crate::output::tell;

/// What changes when.
#[derive(Debug)]
pub struct Timetable {
    /// In order of time, counted from the command's start.
    entries: Vec<(Duration, Setting)>,
    file: Option<PathBuf>,
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
            .with_context(|| format!("\"{text}\" sets nothing; write, for example, delay=20ms"))?;
        let (directions, key) = match key.trim().split_once('.') {
            Some(("up", key)) => (vec![Direction::Forward], key),
            Some(("down", key)) => (vec![Direction::Backward], key),
            _ => (vec![Direction::Forward, Direction::Backward], key.trim()),
        };
        let value = value.trim().trim_matches('"');
        let wrong = |why: &dyn std::fmt::Display| anyhow!("{key}: {why}");
        let change = match key {
            "rate" => Change::Rate(value.parse().map_err(|why| wrong(&why))?),
            "delay" => Change::Delay(parse_duration(value).map_err(|why| wrong(&why))?),
            "loss" => Change::Loss(value.parse().map_err(|why| wrong(&why))?),
            "paused" => Change::Paused(value.parse().map_err(|_| wrong(&"write true or false"))?),
            _ => bail!(
                "\"{key}\" cannot change while the link works; rate, delay, loss and paused can"
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
    /// What the arguments say.
    ///
    /// # Errors
    /// If the file cannot be read or says something that it cannot mean.
    pub fn read(arguments: &LinkArguments) -> anyhow::Result<Timetable> {
        let timed = arguments.at.iter().map(|timed| (timed.at, timed.setting.clone()));
        let mut entries: Vec<_> = timed.collect();
        entries.sort_by_key(|(at, _)| *at);
        if let Some(file) = &arguments.control {
            let now = settings_in(file)?.into_iter().map(|setting| (Duration::ZERO, setting));
            entries.splice(..0, now);
        }
        Ok(Timetable { entries, file: arguments.control.clone() })
    }

    /// Makes every change when its time comes, on threads that end with the process.
    pub fn follow(self, remote: Remote, link: LinkId) {
        let Timetable { entries, file } = self;
        if let Some(file) = file {
            let remote = remote.clone();
            thread::spawn(move || {
                if let Err(why) = follow_file(&file, &remote, link) {
                    tell(format_args!("trackbed: {why:#}; the link stays as it is"));
                }
            });
        }
        thread::spawn(move || {
            let mut now = Duration::ZERO;
            for (at, setting) in entries {
                #[expect(clippy::disallowed_methods, reason = "the link works in real time")]
                thread::sleep(at.saturating_sub(now));
                now = at;
                apply(&setting, &remote, link);
            }
        });
    }
}

fn apply(setting: &Setting, remote: &Remote, link: LinkId) {
    for direction in &setting.directions {
        remote.change(link, *direction, setting.change);
    }
}

/// A setting a line; empty lines and comments (`#`) are passed over.
fn settings_in(path: &Path) -> anyhow::Result<Vec<Setting>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the settings in {}", path.display()))?;
    let line = |(number, line): (usize, &str)| {
        let place = || format!("{}, line {}", path.display(), number + 1);
        line.split('#').next().unwrap_or_default().trim().parse().with_context(place)
    };
    let says = |(_, line): &(usize, &str)| !line.split('#').next().unwrap_or("").trim().is_empty();
    text.lines().enumerate().filter(says).map(line).collect()
}

/// Reads the file anew whenever it was written or replaced.
fn follow_file(path: &Path, remote: &Remote, link: LinkId) -> anyhow::Result<()> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).context("cannot watch files")?;
    // Editors replace a file and do not write to it, so its folder tells more than it does.
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let events = inotify::WatchFlags::CLOSE_WRITE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&watch, folder, events)
        .with_context(|| format!("cannot watch the folder {}", folder.display()))?;
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(watch, &mut buffer);
    loop {
        let event = reader.next().context("cannot watch files")?;
        let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
        if name.as_deref() != path.file_name().and_then(|name| name.to_str()) {
            continue;
        }
        match settings_in(path) {
            Ok(settings) => settings.iter().for_each(|setting| apply(setting, remote, link)),
            Err(why) => tell(format_args!("trackbed: {why:#}; the link stays as it is")),
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::Bitrate;

    use super::*;

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
