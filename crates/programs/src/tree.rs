//! Resource usage of a process and its descendants so far: proc_pid_stat(5) and related files.

use std::fs;
use std::time::Duration;

use trackbed_linux::processes::{family, resident_max};

/// The processor time of all descendants of `root`, without threads that have ended.
pub(crate) fn processor(root: u32) -> Duration {
    let of_process = |pid: u32| {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        threads.filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
        })
    };
    below(root).flat_map(of_process).sum()
}

/// Maximum resident memory of each descendant of `root`, summed, in bytes; shared pages count for
/// each process.
pub(crate) fn memory_bytes(root: u32) -> u64 {
    below(root).filter_map(resident_max).sum()
}

fn below(root: u32) -> impl Iterator<Item = u32> {
    family(root).into_iter().filter(move |pid| *pid != root)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_of_children_count() {
        let mut child = Command::new("sh")
            .args(["-c", "sh -c 'echo; read line'; :"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0; 1];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        assert_eq!(family(child.id()).len(), 2);
        assert!(family(std::process::id()).contains(&child.id()));
        assert!(memory_bytes(child.id()) > 100_000, "the inner shell's alone");
        assert!(memory_bytes(std::process::id()) > memory_bytes(child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
