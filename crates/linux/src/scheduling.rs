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
