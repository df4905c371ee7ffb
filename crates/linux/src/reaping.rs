//! Reaps children and reads their resource usage: wait4(2), getrusage(2).

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use crate::sys;

/// A child that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped {
    /// How it ended.
    pub status: ExitStatus,
    /// Its resource usage, including all descendants that were waited for.
    pub usage: Usage,
}

/// Resource usage of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time, in user and system mode.
    pub processor: Duration,
    /// Maximum resident memory in bytes of the largest of them.
    pub memory_bytes: u64,
}

/// Reaps a child that has ended; `None` if it is still running. After that, do not wait for it
/// through `std`.
///
/// # Errors
/// If it is not a child of this process, or was already reaped.
pub fn reap(child: u32) -> io::Result<Option<Reaped>> {
    let child = libc::pid_t::try_from(child).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut status = 0;
    let mut usage = nothing();
    // SAFETY: both pointers are to values that live until the call returns, of the types that
    // wait4 writes.
    let found = unsafe { libc::wait4(child, &raw mut status, libc::WNOHANG, &raw mut usage) };
    if sys::check(found)? == 0 {
        return Ok(None);
    }
    Ok(Some(Reaped { status: ExitStatus::from_raw(status), usage: Usage::of(&usage) }))
}

/// The resource usage of all reaped children of this process, including their own children.
pub fn used_by_children() -> Usage {
    let mut usage = nothing();
    // SAFETY: the pointer is to a value that lives until the call returns, of the type that
    // getrusage writes.
    match sys::check(unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) }) {
        Ok(_) => Usage::of(&usage),
        Err(_) => Usage::default(),
    }
}

impl Usage {
    fn of(usage: &libc::rusage) -> Usage {
        Usage {
            processor: duration(usage.ru_utime) + duration(usage.ru_stime),
            // Linux counts in KiB.
            memory_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1_024,
        }
    }
}

fn nothing() -> libc::rusage {
    // SAFETY: rusage consists of plain numbers, for which zero is valid.
    unsafe { std::mem::zeroed() }
}

fn duration(time: libc::timeval) -> Duration {
    let micros = i128::from(time.tv_sec) * 1_000_000 + i128::from(time.tv_usec);
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    #[expect(clippy::zombie_processes, reason = "the test reaps it by other means")]
    fn a_child_is_buried_once_with_its_status_and_what_its_own_children_used() {
        // The shell waits for its child; both use processor time.
        let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let script = format!("sh -c '{work}'; exit 7");
        let child = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        let reaped = loop {
            match reap(child.id()).unwrap() {
                Some(reaped) => break reaped,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(reaped.status.code(), Some(7));
        assert!(reaped.usage.processor > Duration::from_millis(5), "{reaped:?}");
        assert!(reaped.usage.memory_bytes > 100_000, "{reaped:?}");
        assert!(reap(child.id()).is_err(), "it was reaped");
    }
}
