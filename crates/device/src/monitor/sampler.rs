//! The sampler: makes readings from files.

use std::path::{Path, PathBuf};

use crate::monitor::machine::{ProcessorTime, memory};
use crate::monitor::process::{self, Process};
use crate::monitor::reading::{Machine, MemoryKind, Reading, RoleUse};
use crate::monitor::role::{Role, children};
use crate::monitor::sensors::Sensors;

/// Reads `/proc` and `/sys` below a folder. It has no clock: the caller passes the time of each
/// reading.
#[derive(Debug)]
pub struct Sampler {
    root: PathBuf,
    units: Units,
    sensors: Sensors,
    roles: Vec<Role>,
    before: Option<Before>,
}

/// The units of the kernel from which the files come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Clock ticks in a second (`getconf CLK_TCK`), from 1 on.
    pub ticks_per_second: u64,
    /// Bytes of a page of memory.
    pub page_bytes: u64,
}

#[derive(Debug)]
struct Before {
    at_ns: u64,
    processors: Option<ProcessorTime>,
}

impl Units {
    /// The units of this machine.
    pub fn of_this_machine() -> Units {
        Units {
            ticks_per_second: rustix::param::clock_ticks_per_second().max(1),
            page_bytes: rustix::param::page_size() as u64,
        }
    }
}

impl Sampler {
    /// A sampler of the machine whose `/proc` and `/sys` are below `root`: `/` for this one.
    /// Sensors are searched for now.
    pub fn new(root: &Path, units: Units) -> Sampler {
        Sampler {
            root: root.to_owned(),
            units,
            sensors: Sensors::find(root),
            roles: Vec::new(),
            before: None,
        }
    }

    /// Adds a process and all its descendants, also future ones, to a role. A role may have several
    /// such trees; their time counts from the next reading on. A process in two roles counts for
    /// both.
    pub fn add(&mut self, role: &str, pid: u32) {
        let place = self.roles.iter().position(|known| known.name == role);
        let place = place.unwrap_or_else(|| {
            self.roles.push(Role::new(role));
            self.roles.len() - 1
        });
        self.roles[place].add(pid);
    }

    /// Takes a reading. `now_ns` is its time in nanoseconds, by any steady clock; shares are
    /// averaged since the previous reading.
    pub fn sample(&mut self, now_ns: u64) -> Reading {
        let processors = ProcessorTime::read(&self.root);
        let mut machine = Machine { cores: processors.map(|it| it.cores), ..Machine::default() };
        let before = self.before.replace(Before { at_ns: now_ns, processors });
        let processors_before = before.as_ref().and_then(|before| before.processors);
        let shares = processors.zip(processors_before).and_then(|(now, then)| now.since(&then));
        machine.cpu_percent = shares.map(|shares| shares.busy);
        machine.stolen_percent = shares.map(|shares| shares.stolen);
        (machine.memory_used_bytes, machine.memory_total_bytes) = memory(&self.root);
        self.sensors.read(now_ns, &mut machine);
        let elapsed = before.and_then(|before| now_ns.checked_sub(before.at_ns));
        let elapsed = elapsed.filter(|nanos| *nanos > 0).map(|nanos| nanos as f64 / 1e9);
        Reading { at_ns: now_ns, machine, roles: self.roles(elapsed) }
    }

    /// The resources that each role has used in these seconds.
    fn roles(&mut self, elapsed: Option<f64>) -> Vec<RoleUse> {
        if self.roles.is_empty() {
            return Vec::new();
        }
        let all = process::all(&self.root);
        let below = children(&all);
        let (root, units) = (&self.root, self.units);
        let one = |role: &mut Role| {
            let was_there = role.members().next().is_some();
            let used = role.look(&all, &below);
            let seconds = |ticks: u64| ticks as f64 / units.ticks_per_second as f64;
            let processes = role.members().count() as u32;
            let is_known = was_there && processes > 0;
            let (memory_bytes, memory_kind) = memory_of(root, units, role).unzip();
            RoleUse {
                name: role.name.clone(),
                processes,
                cpu_percent: elapsed.filter(|_| is_known).map(|time| 100.0 * seconds(used) / time),
                cpu_seconds: seconds(role.used),
                memory_bytes,
                memory_kind,
            }
        };
        self.roles.iter_mut().map(one).collect()
    }
}

/// Memory of all processes of a role, counted in the same way for all.
fn memory_of(root: &Path, units: Units, role: &Role) -> Option<(u64, MemoryKind)> {
    role.members().next()?;
    // A process that has just ended has no memory; files of other users' processes may be
    // unreadable.
    let living = |process: &&Process| process.resident > 0;
    let parts: Option<u64> = role
        .members()
        .filter(living)
        .map(|process| process::proportional_bytes(root, process.identity.pid))
        .sum();
    Some(match parts {
        Some(bytes) => (bytes, MemoryKind::Pss),
        None => {
            let pages: u64 = role.members().map(|process| process.resident).sum();
            (pages.saturating_mul(units.page_bytes), MemoryKind::Rss)
        }
    })
}
