//! Keeps this machine's processors awake.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use trackbed_linux::scheduling::yield_to_all;

/// Keeps every processor available to this process from sleeping, until it is dropped.
///
/// A sleeping processor takes tens of microseconds to wake up, on a virtual machine up to some
/// hundred, and every packet from another machine finds it asleep. On each of them a thread spins
/// that yields to all other threads (`SCHED_IDLE`, sched(7)): no other program is slowed down, but
/// it costs battery.
#[derive(Debug)]
pub struct Vigil {
    is_over: Arc<AtomicBool>,
    watchers: Vec<JoinHandle<io::Result<()>>>,
}

impl Vigil {
    /// Starts it. If the kernel does not allow it, processors may sleep.
    pub fn keep() -> Vigil {
        let is_over = Arc::new(AtomicBool::new(false));
        let processors = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let ours = (0..CpuSet::MAX_CPU).filter(|number| processors.is_set(*number));
        let watch = |number| {
            let is_over = Arc::clone(&is_over);
            let thread = thread::Builder::new().name("vigil".to_owned());
            thread.spawn(move || watch(number, &is_over)).ok()
        };
        let watchers = ours.filter_map(watch).collect();
        Vigil { is_over, watchers }
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for watcher in self.watchers.drain(..) {
            // Failing to start it does no harm.
            let _ = watcher.join();
        }
    }
}

fn watch(processor: usize, is_over: &AtomicBool) -> io::Result<()> {
    yield_to_all()?;
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only)?;
    while !is_over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    Ok(())
}
