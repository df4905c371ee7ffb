//! The sockets of one run, the epoll instance that watches them (epoll(7)), and the timer that ends its waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use slab::Slab;
use trackbed_core::Time;

use super::origin::Origin;
use super::source::{Source, Way};
use super::waiting::Watch;
use crate::host::run_ended;

pub(super) struct World {
    /// The executor's number, which handles carry, so that a handle that outlives its run or
    /// leaves its thread finds nothing.
    run: u64,
    epoll: OwnedFd,
    alarm: Alarm,
    events: Vec<Event>,
    pub(super) sources: Slab<Source>,
    /// Datagrams dropped at sockets that are closed by now.
    dropped: u64,
    /// Addresses that are known to be this machine's.
    local: BTreeSet<IpAddr>,
    pub(super) watch: Watch,
    /// How many hosts the machine has been so far.
    pub(super) hosts: usize,
}

impl World {
    pub(super) fn new(run: u64, origin: Origin) -> io::Result<World> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let alarm = Alarm::new(origin)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &alarm, EventData::new_u64(ALARM), flags)?;
        Ok(World {
            run,
            epoll,
            alarm,
            events: Vec::with_capacity(EVENTS_MAX),
            sources: Slab::new(),
            dropped: 0,
            local: BTreeSet::new(),
            watch: Watch::begin(origin.elapsed()),
            hosts: 0,
        })
    }

    pub(super) fn insert(&mut self, source: Source) -> io::Result<u32> {
        let entry = self.sources.vacant_entry();
        let key = entry.key() as u32;
        let data = EventData::new_u64(key.into());
        epoll::add(&self.epoll, source.descriptor()?, data, source.interest())?;
        entry.insert(source);
        Ok(key)
    }

    pub(super) fn source(&mut self, key: u32) -> &mut Source {
        &mut self.sources[key as usize]
    }

    pub(super) fn remove(&mut self, key: u32) {
        let source = self.sources.remove(key as usize);
        self.dropped += source.dropped();
        if let Ok(descriptor) = source.descriptor() {
            // Closing does it too, unless the descriptor was duplicated.
            let _ = epoll::delete(&self.epoll, descriptor);
        }
    }

    /// Runs an operation on socket `key` that may have to wait. `act` is called at once if the
    /// socket may be ready; if it reports [`io::ErrorKind::WouldBlock`], the task waits.
    pub(super) fn poll<T>(
        &mut self,
        key: u32,
        way: Way,
        cx: &mut Context<'_>,
        mut act: impl FnMut(&mut Source) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let source = &mut self.sources[key as usize];
        if source.is_ready(way) {
            if BUDGET.get() == 0 {
                // Other tasks wait too, and so do the clock and the timers.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            spend(1);
            match act(source) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => source.block(way),
                result => return Poll::Ready(result),
            }
        }
        let before = source.interest();
        source.wait(way, cx);
        if source.interest() != before {
            self.watch(key)?;
        }
        Poll::Pending
    }

    /// Updates epoll with the waits of a socket's tasks. It reports at once what is already ready.
    fn watch(&self, key: u32) -> io::Result<()> {
        let source = &self.sources[key as usize];
        let data = EventData::new_u64(key.into());
        Ok(epoll::modify(&self.epoll, source.descriptor()?, data, source.interest())?)
    }

    /// Waits for an event, the alarm or `timeout`; wakes the affected tasks, and counts the sockets
    /// with events.
    pub(super) fn collect(&mut self, timeout: Duration) -> u64 {
        // The whole milliseconds that old kernels know suffice: the alarm has the precise time.
        let timeout = Timespec::try_from(timeout).expect("it is short");
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => unreachable!("epoll is open and its arguments are valid: {error}"),
        }
        let mut count = 0;
        for at in 0..self.events.len() {
            let Event { flags, data, .. } = self.events[at];
            if data.u64() == ALARM {
                self.alarm.rang();
                continue;
            }
            // It may have been closed since.
            let key = data.u64() as u32;
            let Some(source) = self.sources.get_mut(key as usize) else { continue };
            count += 1;
            let before = source.interest();
            source.wake(flags);
            if source.interest() != before {
                self.watch(key).expect("an open socket is watched");
            }
        }
        count
    }

    pub(super) fn wake_by(&mut self, now: Time, time: Time) {
        self.alarm.ring_by(now, time).expect("a timer can be set to any time");
    }

    pub(super) fn is_awaiting(&self) -> bool {
        self.sources.iter().any(|(_, source)| source.is_awaited())
    }

    pub(super) fn is_local(&mut self, address: IpAddr) -> bool {
        if self.local.contains(&address) {
            return true;
        }
        let local = std::net::UdpSocket::bind((address, 0)).is_ok();
        if local {
            self.local.insert(address);
        }
        local
    }

    pub(super) fn forget_addresses(&mut self) {
        self.local.clear();
    }

    pub(super) fn datagrams_dropped(&self) -> u64 {
        self.dropped + self.sources.iter().map(|(_, source)| source.dropped()).sum::<u64>()
    }
}

/// Gives the task that runs next its share of socket operations. Without a limit, a task whose
/// sockets are always ready would starve all others.
pub(super) fn refill() {
    BUDGET.set(OPERATIONS_PER_POLL);
}

pub(super) fn spend(operations: usize) {
    BUDGET.set(BUDGET.get().saturating_sub(operations));
}

/// Calls `action` with the world of run `run`; `None` if this thread no longer executes that run.
pub(super) fn with<R>(run: u64, action: impl FnOnce(&mut World) -> R) -> Option<R> {
    WORLD.with_borrow_mut(|world| world.as_mut().filter(|world| world.run == run).map(action))
}

/// The same; an error if this thread no longer executes that run.
pub(super) fn reach<R>(run: u64, action: impl FnOnce(&mut World) -> R) -> io::Result<R> {
    with(run, action).ok_or_else(run_ended)
}

pub(super) fn replace(world: Option<World>) -> Option<World> {
    WORLD.replace(world)
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
    static BUDGET: Cell<usize> = const { Cell::new(0) };
}

/// The key of the alarm among the events; no socket has it.
const ALARM: u64 = u64::MAX;

/// The most events taken from the kernel in one call; the others wait for the next.
const EVENTS_MAX: usize = 256;

/// Few, because each operation may carry 64 datagrams, and another poll is cheap. The QUIC engine's
/// own limit is one of time, which stands still during a poll; if it takes in more than about 2,000
/// packets before the application has read any, the connection ends.
const OPERATIONS_PER_POLL: usize = 32;

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
