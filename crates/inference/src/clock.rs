//! The machine's clock, where frames are timed, and waiting by it.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

/// A reading of `CLOCK_MONOTONIC`, in nanoseconds. All processes of a machine share this clock.
pub fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanos).unwrap_or(0)
}

/// Waits until `file` can be read, at most until `deadline_ns`; whether it can.
pub(crate) fn is_ready(file: &impl AsFd, deadline_ns: u64) -> io::Result<bool> {
    loop {
        let left = Duration::from_nanos(deadline_ns.saturating_sub(monotonic_nanos()));
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other? > 0),
        }
    }
}
