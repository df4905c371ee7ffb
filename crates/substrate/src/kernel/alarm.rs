//! A kernel timer for epoll.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use trackbed_core::Time;

use super::origin::Origin;

/// Ends a wait at a point in time (timerfd_create(2)).
///
/// The timeout of epoll itself is too coarse: the kernel may delay it by a thousandth of its length
/// (`select_estimate_accuracy`), a retransmission timer of 1 s by 1 ms.
pub(super) struct Alarm {
    timer: OwnedFd,
    origin: Origin,
    /// When it fires, as last set in the kernel.
    set_to: Option<Time>,
}

impl Alarm {
    pub(super) fn new(origin: Origin) -> io::Result<Alarm> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Alarm { timer, origin, set_to: None })
    }

    /// Makes it fire at `time` or earlier. An earlier setting is kept: transports move their timers
    /// later with nearly every packet, and one early wake costs less than a system call for each.
    pub(super) fn ring_by(&mut self, now: Time, time: Time) -> io::Result<()> {
        if self.set_to.is_some_and(|set_to| now < set_to && set_to <= time) {
            return Ok(());
        }
        let value = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: self.origin.reading_at(time),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value)?;
        self.set_to = Some(time);
        Ok(())
    }

    pub(super) fn rang(&mut self) {
        self.set_to = None;
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
