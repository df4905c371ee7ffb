//! What the kernel tells of processes: proc(5).

use std::fs;

/// `root` and its descendants. Processes that start or end meanwhile may be missing.
pub fn family(root: u32) -> Vec<u32> {
    let pairs: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The program's name is in parentheses and may contain any character.
            let (_, behind) = stat.rsplit_once(')')?;
            Some((pid, behind.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        family.extend(pairs.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    family
}

/// The most memory of a process that was resident at once, in bytes: `VmHWM` of proc_pid_status(5).
/// `None` if there is no such process.
pub fn resident_max(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1_024)
}
