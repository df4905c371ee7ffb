//! The monitor: a sampler on a separate thread.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::monitor::nvml::Nvml;
use crate::monitor::reading::Reading;
use crate::monitor::sampler::{Sampler, Units};

/// Takes a reading of this machine at regular intervals, until it is dropped.
#[derive(Debug)]
pub struct Monitor {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// Why there is no monitor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages describe the fields")]
pub enum MonitorError {
    #[error("the interval of a monitor must not be zero")]
    NoInterval,
    #[error("cannot start the monitor's thread: {0}")]
    Thread(io::Error),
}

#[derive(Debug)]
struct Order {
    role: String,
    pid: u32,
}

impl Monitor {
    /// Calls `take` with a reading now, and then every `interval`. A late reading does not delay
    /// the others; one that would be late by a whole interval is skipped.
    ///
    /// # Errors
    /// If the interval is zero, or no thread can be started.
    pub fn start(
        interval: Duration,
        roles: &[(&str, u32)],
        take: impl FnMut(Reading) + Send + 'static,
    ) -> Result<Monitor, MonitorError> {
        let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        if interval == 0 {
            return Err(MonitorError::NoInterval);
        }
        let mut sampler = Sampler::new(Path::new("/"), Units::of_this_machine());
        for (role, pid) in roles {
            sampler.add(role, *pid);
        }
        let (orders, inbox) = channel();
        let work = move || watch(sampler, interval, &inbox, take);
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(work);
        let thread = thread.map_err(MonitorError::Thread)?;
        Ok(Monitor { orders: Some(orders), thread: Some(thread) })
    }

    /// Adds a process and its descendants to a role, from the next reading on.
    pub fn add(&self, role: &str, pid: u32) {
        if let Some(orders) = &self.orders {
            // A thread that has ended has dropped its receiver.
            let _ = orders.send(Order { role: role.to_owned(), pid });
        }
    }
}

/// Ends the thread, after the reading in progress.
impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(
    mut sampler: Sampler,
    interval: u64,
    inbox: &Receiver<Order>,
    mut take: impl FnMut(Reading),
) {
    let nvml = Nvml::open();
    let mut due = monotonic_nanos();
    loop {
        let now = monotonic_nanos();
        if now >= due {
            let mut reading = sampler.sample(now);
            reading.machine.gpus.extend(nvml.iter().flat_map(Nvml::read));
            take(reading);
            let missed = monotonic_nanos().saturating_sub(due) / interval;
            due = due.saturating_add(interval.saturating_mul(missed + 1));
        }
        let wait = Duration::from_nanos(due.saturating_sub(monotonic_nanos()));
        match inbox.recv_timeout(wait) {
            Ok(Order { role, pid }) => sampler.add(&role, pid),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanos).unwrap_or(0)
}
