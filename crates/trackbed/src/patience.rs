//! How long runs may take whose user waits, and how much memory.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use trackbed_substrate::Cancel;

use crate::progress::Stopwatch;

/// Cancels runs when a time is over, or when this process takes half of the memory, unless it is dropped before. A
/// scenario from elsewhere may have runs without end.
pub struct Patience(#[expect(dead_code, reason = "its end is noticed")] Sender<()>);

impl Patience {
    /// Begins to wait, until it fires `cancel`.
    pub fn begin(limit: Duration, cancel: &Cancel) -> Patience {
        let memory_max = rustix::system::sysinfo().totalram as u64 / 2;
        Patience::within(limit, memory_max, cancel.clone())
    }

    fn within(limit: Duration, memory_max: u64, cancel: Cancel) -> Patience {
        let (until_dropped, dropped) = mpsc::channel::<()>();
        let begun = Stopwatch::start();
        thread::spawn(move || {
            while dropped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if begun.elapsed() > limit || resident() > memory_max {
                    return cancel.cancel();
                }
            }
        });
        Patience(until_dropped)
    }
}

/// The resident memory of this process, in bytes (proc_pid_statm(5)).
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

const LOOK_EVERY: Duration = Duration::from_millis(50);

#[cfg(test)]
#[test]
#[expect(clippy::disallowed_methods, reason = "it ends in real time")]
fn it_ends_with_the_time_or_the_memory() {
    let (long, short) = (Duration::from_secs(3_600), Duration::ZERO);
    for (limit, memory_max) in [(long, 1), (short, u64::MAX)] {
        let cancel = Cancel::default();
        let _patience = Patience::within(limit, memory_max, cancel.clone());
        let ends = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(20));
            cancel.is_cancelled()
        });
        assert!(ends, "{limit:?}, {memory_max}");
    }
}
