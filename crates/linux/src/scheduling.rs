//! How the kernel chooses who runs: sched(7).

use std::io;

use crate::sys;

/// Lets the calling thread run before all threads of ordinary priority, as soon as it has something
/// to do (`SCHED_FIFO` at the lowest of its priorities). Threads that it starts are ordinary.
///
/// # Errors
/// If this process may not: it takes root, CAP_SYS_NICE or RLIMIT_RTPRIO.
pub fn run_before_others() -> io::Result<()> {
    // SAFETY: all zero is a valid value of this plain structure.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = 1;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the pointer is to a local of the right type, which the kernel only reads; 0 is the
    // calling thread.
    sys::check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Lets the calling thread run only while nobody else wants its processor (`SCHED_IDLE`).
///
/// # Errors
/// If the kernel refuses.
pub fn yield_to_all() -> io::Result<()> {
    // SAFETY: all zero is a valid value of this plain structure.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a local of the right type, which the kernel only reads; 0 is the
    // calling thread.
    sys::check(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use std::{fs, io, thread};

    use super::*;

    /// The policy of the calling thread as the kernel tells it: the 41st field of
    /// /proc/thread-self/stat, proc_pid_stat(5).
    fn policy() -> i32 {
        let stat = fs::read_to_string("/proc/thread-self/stat").expect("procfs");
        // The second field, in parentheses, may hold spaces.
        let (_, after_name) = stat.rsplit_once(") ").expect("a name in parentheses");
        let policy = after_name.split_ascii_whitespace().nth(41 - 3).expect("41 fields");
        policy.parse().expect("a number")
    }

    /// In a thread of its own, since the policy stays.
    fn aside(test: fn()) {
        thread::spawn(test).join().expect("the thread of the test");
    }

    #[test]
    fn who_yields_is_idle() {
        aside(|| {
            assert_eq!(policy(), libc::SCHED_OTHER);
            yield_to_all().expect("needs no privilege");
            assert_eq!(policy(), libc::SCHED_IDLE);
        });
    }

    #[test]
    fn who_runs_before_others_does_not_pass_it_on() {
        aside(|| match run_before_others() {
            Ok(()) => {
                assert_eq!(policy(), libc::SCHED_FIFO);
                aside(|| assert_eq!(policy(), libc::SCHED_OTHER));
            }
            Err(why) => {
                assert_eq!(why.kind(), io::ErrorKind::PermissionDenied);
                assert_eq!(policy(), libc::SCHED_OTHER);
            }
        });
    }
}
