//! Cores, some of them slowed down, and the expected rates of threads on them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope};

use anyhow::Context as _;
use trackbed_verifier::engine::Split;

/// The cores that this process may use.
#[derive(Debug)]
pub struct Cores {
    /// Their numbers, the slow ones last; empty if threads may run on any core.
    pinned: Vec<usize>,
    count: usize,
    slow: usize,
    slowdown: usize,
}

impl Cores {
    /// All cores at full speed.
    pub fn equal() -> Cores {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        Cores { pinned: Vec::new(), count, slow: 0, slowdown: 1 }
    }

    /// All cores, the last `slow` of them `slowdown` times slower than the rest.
    ///
    /// # Errors
    /// If no core would run at full speed, or this system cannot pin threads.
    pub fn unequal(slow: usize, slowdown: usize) -> anyhow::Result<Cores> {
        let pinned = affinity::cores()?;
        let count = pinned.len();
        anyhow::ensure!(
            slow < count,
            "--slow-cores {slow}: this program may use {count} cores, and one must run at full speed"
        );
        Ok(Cores { pinned, count, slow, slowdown })
    }

    /// `count` cores, of which the last `slow` are slow.
    #[cfg(test)]
    pub fn imagined(count: usize, slow: usize, slowdown: usize) -> Cores {
        Cores { pinned: (0..count).collect(), count, slow, slowdown }
    }

    /// The number of cores.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether some are slow.
    pub fn are_unequal(&self) -> bool {
        self.slow > 0
    }

    /// The rate of `threads` threads as a multiple of one thread's, if only cores limit them. With a dynamic
    /// division, each core works at its speed. A static one ends with the slowest thread.
    pub fn expected(&self, threads: usize, split: Split) -> f64 {
        if !self.are_unequal() {
            return threads.min(self.count) as f64;
        }
        let speeds = (0..threads).map(|thread| self.speed(thread, threads));
        match split {
            Split::Dynamic => speeds.sum(),
            Split::Static => threads as f64 * speeds.fold(f64::INFINITY, f64::min),
        }
    }

    /// The speed of one of `threads` threads; 1 is a separate core at full speed.
    fn speed(&self, thread: usize, threads: usize) -> f64 {
        let slowdown = if self.is_slow(thread % self.count) { self.slowdown } else { 1 };
        1.0 / (self.threads_on(thread % self.count, threads) * slowdown) as f64
    }

    fn is_slow(&self, place: usize) -> bool {
        place >= self.count - self.slow
    }

    /// The number of threads on a core; threads are assigned to cores in turn.
    fn threads_on(&self, place: usize, threads: usize) -> usize {
        (threads + self.count - 1 - place) / self.count
    }

    /// Pins the calling thread, which verifies, to its core if cores are unequal.
    pub fn settle(&self, thread: usize) -> anyhow::Result<()> {
        let place = thread % self.count;
        self.pinned.get(place..=place).map_or(Ok(()), affinity::keep_on)
    }

    /// Starts busy threads on the slow cores beside `threads` verifying ones, until `is_over`. The kernel
    /// gives equal threads equal time, so their number sets the share of the core that each verifying thread
    /// gets.
    pub fn slow_down<'scope>(
        &self,
        threads: usize,
        scope: &'scope Scope<'scope, '_>,
        is_over: &'scope AtomicBool,
    ) -> anyhow::Result<()> {
        if !self.are_unequal() {
            return Ok(());
        }
        for place in (0..self.count).filter(|place| self.is_slow(*place)) {
            // A thread inherits the affinity of the thread that starts it.
            affinity::keep_on(&self.pinned[place..=place])?;
            for _ in 0..self.threads_on(place, threads) * (self.slowdown - 1) {
                let spin = || {
                    let mut number = 1u64;
                    while !is_over.load(Ordering::Relaxed) {
                        number = std::hint::black_box(number.wrapping_mul(3));
                    }
                };
                Builder::new().spawn_scoped(scope, spin).context("cannot start a thread")?;
            }
        }
        affinity::keep_on(&self.pinned)
    }
}

#[cfg(target_os = "linux")]
mod affinity {
    use anyhow::Context as _;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub fn cores() -> anyhow::Result<Vec<usize>> {
        let set = sched_getaffinity(None).context("cannot read the cores of this program")?;
        Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
    }

    pub fn keep_on(cores: &[usize]) -> anyhow::Result<()> {
        let mut only = CpuSet::new();
        cores.iter().for_each(|core| only.set(*core));
        sched_setaffinity(None, &only)
            .with_context(|| format!("cannot pin a thread to cores {cores:?}"))
    }
}

#[cfg(not(target_os = "linux"))]
mod affinity {
    pub fn cores() -> anyhow::Result<Vec<usize>> {
        anyhow::bail!("--slow-cores works on Linux only")
    }

    pub fn keep_on(_: &[usize]) -> anyhow::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand: with two threads, the static half on the slow core takes twice as long.
    #[test]
    fn slow_cores_delay_a_static_division_and_add_to_a_dynamic_one() {
        for (cores, threads, fixed, dynamic) in [
            (Cores::imagined(2, 1, 2), 1, 1.0, 1.0),
            (Cores::imagined(2, 1, 2), 2, 1.0, 1.5),
            (Cores::imagined(2, 1, 2), 4, 1.0, 1.5),
            (Cores::imagined(2, 1, 4), 2, 0.5, 1.25),
            (Cores::imagined(8, 4, 2), 4, 4.0, 4.0),
            (Cores::imagined(8, 4, 2), 8, 4.0, 6.0),
            // Two threads share the fast core, one has the slow one.
            (Cores::imagined(2, 1, 2), 3, 1.5, 1.5),
        ] {
            assert_eq!(cores.expected(threads, Split::Static), fixed, "{cores:?} {threads}");
            assert_eq!(cores.expected(threads, Split::Dynamic), dynamic, "{cores:?} {threads}");
        }
    }
}
