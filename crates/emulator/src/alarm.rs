//! Waiting for packets and for a point in time, to the nanosecond.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use trackbed_core::Time;

use crate::clock::Clock;

/// Wakes a thread when one of its sources is ready, or at a given time. The timeout of
/// epoll_wait(2) would be rounded up to a millisecond.
#[derive(Debug)]
pub(crate) struct Alarm {
    epoll: OwnedFd,
    timer: OwnedFd,
    clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A source is ready, or a signal arrived.
    Called,
    /// The time has come.
    InTime,
}

impl Alarm {
    pub(crate) fn new(clock: Clock) -> io::Result<Alarm> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let alarm = Alarm { epoll, timer, clock };
        alarm.watch_as(&alarm.timer, TIMER)?;
        Ok(alarm)
    }

    pub(crate) fn watch(&self, source: impl AsFd) -> io::Result<()> {
        self.watch_as(source, SOURCE)
    }

    fn watch_as(&self, source: impl AsFd, mark: u64) -> io::Result<()> {
        let data = epoll::EventData::new_u64(mark);
        Ok(epoll::add(&self.epoll, source, data, epoll::EventFlags::IN)?)
    }

    /// Waits for a source, until `until` at the latest.
    pub(crate) fn wait(&self, until: Option<Time>) -> io::Result<Woken> {
        // A value of zero disarms the timer.
        let nanos = until.map_or(0, |until| self.clock.origin() + until.as_nanos().max(1));
        let it_value = Duration::from_nanos(nanos).try_into().unwrap_or_default();
        let setting = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        let mut events = Vec::with_capacity(EVENTS);
        match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
            Ok(_) if events.iter().all(|event| event.data.u64() == TIMER) => Ok(Woken::InTime),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(Woken::Called),
            Err(why) => Err(why.into()),
        }
    }
}

const EVENTS: usize = 16;
const SOURCE: u64 = 0;
const TIMER: u64 = 1;
