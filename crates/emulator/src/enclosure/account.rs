//! The resources used by a command, as its init reports them.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use trackbed_core::Time;
use trackbed_linux::reaping::{Usage, used_by_children};

use crate::clock::Clock;

/// When a command ran and the resources it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// `CLOCK_MONOTONIC` just before it was started.
    pub begin: Time,
    /// `CLOCK_MONOTONIC` when it had ended.
    pub end: Time,
    /// The resources of the command and of all children that it waited for.
    pub usage: Usage,
}

impl Account {
    /// The account of a command that began at `begin` and has just ended, in its init.
    pub(super) fn close(begin: Time) -> Account {
        Account { begin, end: Clock::since(0).now(), usage: used_by_children() }
    }

    pub(super) fn tell(self, pipe: OwnedFd) {
        let Account { begin, end, usage } = self;
        let nanos = usage.processor.as_nanos();
        let text =
            format!("{} {} {nanos} {}\n", begin.as_nanos(), end.as_nanos(), usage.memory_bytes);
        // The reader may be gone.
        let _ = rustix::io::write(pipe, text.as_bytes());
    }

    pub(super) fn read(pipe: impl AsFd) -> Option<Account> {
        let mut text = [0; 128];
        let len = rustix::io::read(pipe, &mut text).ok()?;
        let text = std::str::from_utf8(&text[..len]).ok()?;
        let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (begin, end) = (Time::from_nanos(next()?), Time::from_nanos(next()?));
        let usage = Usage { processor: Duration::from_nanos(next()?), memory_bytes: next()? };
        Some(Account { begin, end, usage })
    }
}
