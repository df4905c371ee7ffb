//! The monitor: a sampler on a separate thread.

use std::convert::Infallible;
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
    /// Dropped to end the thread.
    open: Option<Sender<Infallible>>,
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
        let (open, end) = channel();
        let work = move || watch(sampler, interval, &end, take);
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(work);
        let thread = thread.map_err(MonitorError::Thread)?;
        Ok(Monitor { open: Some(open), thread: Some(thread) })
    }
}

/// Ends the thread, after the reading in progress.
impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.open.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(
    mut sampler: Sampler,
    interval: u64,
    end: &Receiver<Infallible>,
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
        if end.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanos).unwrap_or(0)
}
