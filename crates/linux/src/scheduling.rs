//! Scheduling of threads: sched(7).

use std::io;

use crate::sys;

/// Gives the calling thread priority over all threads of ordinary priority (`SCHED_FIFO` at its
/// lowest priority). Threads that it starts are ordinary.
///
/// # Errors
/// If this process has no permission: root, CAP_SYS_NICE or RLIMIT_RTPRIO is needed.
pub fn run_before_others() -> io::Result<()> {
    set_policy(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Lets the calling thread run only while no other thread needs its processor (`SCHED_IDLE`).
///
/// # Errors
/// If the kernel refuses.
pub fn yield_to_all() -> io::Result<()> {
    set_policy(libc::SCHED_IDLE, 0)
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: all zero is a valid value of this plain structure.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the pointer is to a local of the right type, which the kernel only reads; 0 is the
    // calling thread.
    sys::check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

#[cfg(test)]
mod tests {
    use std::{fs, io, thread};

    use super::*;

    /// The policy of the calling thread, as reported by the kernel: the 41st field of
    /// /proc/thread-self/stat, proc_pid_stat(5).
    fn policy() -> i32 {
        let stat = fs::read_to_string("/proc/thread-self/stat").expect("procfs");
        // The second field, in parentheses, may contain spaces.
        let (_, after_name) = stat.rsplit_once(") ").expect("a name in parentheses");
        let policy = after_name.split_ascii_whitespace().nth(41 - 3).expect("41 fields");
        policy.parse().expect("a number")
    }

    /// In a separate thread, since the policy persists.
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
