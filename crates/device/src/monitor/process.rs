//! Processes: proc(5).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::monitor::files;

/// A process that exists, possibly as a zombie. Process numbers are reused; together with the start
/// time they are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// In clock ticks since the machine started.
    pub(crate) start: u64,
}

/// The content of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) identity: Identity,
    pub(crate) parent: u32,
    /// Its own time in user and system mode, in clock ticks.
    pub(crate) own: u64,
    /// The time of ended children that it has waited for.
    pub(crate) children: u64,
    /// Resident pages.
    pub(crate) resident: u64,
}

/// All processes by number. Processes that end meanwhile are left out.
pub(crate) fn all(root: &Path) -> BTreeMap<u32, Process> {
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter_map(|pid| Some((pid, of(root, pid)?))).collect()
}

/// The processor time of each process but this one, in clock ticks; empty where the machine does not tell.
pub fn times() -> BTreeMap<u32, u64> {
    let mut all = all(Path::new("/"));
    all.remove(&std::process::id());
    all.into_iter().map(|(pid, process)| (pid, process.own)).collect()
}

/// The process that has used most processor time since `before` was read, if any has used some.
pub fn busiest_since(before: &BTreeMap<u32, u64>) -> Option<String> {
    let used = |pid, now: u64| now.saturating_sub(before.get(&pid).copied().unwrap_or(0));
    let used = times().into_iter().map(|(pid, now)| (used(pid, now), pid));
    let (_, pid) = used.max().filter(|(ticks, _)| *ticks > 0)?;
    Some(files::text(&Path::new("/proc").join(format!("{pid}/comm")))?.trim().to_owned())
}

fn of(root: &Path, pid: u32) -> Option<Process> {
    parse(pid, &files::text(&root.join(format!("proc/{pid}/stat")))?)
}

/// The name of a process may contain spaces and brackets; the numbers follow the last bracket.
fn parse(pid: u32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    // Field 3 of proc(5) is the first of these. Some kernels have reported negative times.
    let field = |number: usize| fields.get(number - 3).copied();
    let ticks = |number| field(number)?.parse::<i64>().ok().map(|ticks| ticks.max(0) as u64);
    Some(Process {
        identity: Identity { pid, start: ticks(22)? },
        parent: field(4)?.parse().ok()?,
        own: ticks(14)? + ticks(15)?,
        children: ticks(16)? + ticks(17)?,
        resident: ticks(24).unwrap_or(0),
    })
}

/// Its proportional set size in bytes, if the kernel reports it.
pub(crate) fn proportional_bytes(root: &Path, pid: u32) -> Option<u64> {
    files::bytes_of(&files::text(&root.join(format!("proc/{pid}/smaps_rollup")))?, "Pss:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let stat = "42 (a) b (c) 1) S 7 42 42 0 -1 4194560 0 0 0 0 11 22 33 44 20 0 3 0 5555 \
                    1000000 123 18446744073709551615";
        let process = parse(42, stat).unwrap();
        assert_eq!(process.identity, Identity { pid: 42, start: 5555 });
        assert_eq!((process.parent, process.own, process.children), (7, 33, 77));
        assert_eq!(process.resident, 123);
    }

    #[test]
    fn what_is_cut_short_is_no_process() {
        for stat in ["", "42 (a", "42 (a) S", "42 (a) S 1 2 3", "42 (a) S x"] {
            assert_eq!(parse(42, stat), None, "{stat}");
        }
    }
}
