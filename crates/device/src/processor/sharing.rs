//! Cores shared evenly by all runnable threads.
//!
//! Processor sharing is what a fair scheduler (Linux's EEVDF and CFS before it) tends to when its
//! time slices are short compared with the work: n threads on c cores each run at the rate min(1, c
//! / n).

use std::collections::BTreeSet;
use std::time::Duration;

use trackbed_core::Time;

/// The cores of a host. Sans-IO: calls pass the time and return the next wake-up.
///
/// After [`Cores::begin`] and [`Cores::advance`], [`Cores::next_wake`] may have changed, and
/// finished jobs must be taken with [`Cores::next_finished`].
#[derive(Clone, Debug)]
pub struct Cores {
    count: u64,
    now: Time,
    /// The service of a thread that always ran, in [`PARTS`] of a nanosecond.
    service: u128,
    /// The service at which each job is finished, its number, its threads and its claimant.
    jobs: BTreeSet<(u128, Job, u32, Claimant)>,
    /// Runnable threads, by claimant.
    threads: [u64; Claimant::COUNT],
    finished: std::collections::VecDeque<(Time, Job)>,
    begun: u64,
    /// The service received, by claimant, in [`PARTS`] of a nanosecond.
    used: [u128; Claimant::COUNT],
}

/// The owner of threads that use the cores, to whom their time is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claimant {
    /// Communication.
    Network,
    /// Inference.
    Inference,
}

impl Claimant {
    const COUNT: usize = 2;
}

/// A piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job(u64);

impl Cores {
    /// This number of cores, at least one, all idle.
    pub fn new(count: u32) -> Cores {
        Cores {
            count: u64::from(count.max(1)),
            now: Time::ZERO,
            service: 0,
            jobs: BTreeSet::new(),
            threads: [0; Claimant::COUNT],
            finished: std::collections::VecDeque::new(),
            begun: 0,
            used: [0; Claimant::COUNT],
        }
    }

    /// Begins a job of `threads` (at least one) that each have this much to do. Jobs that finish
    /// until `now` are finished first; a time earlier than the last one counts as the last one.
    pub fn begin(&mut self, now: Time, whose: Claimant, threads: u32, work: Duration) -> Job {
        self.advance(now);
        let threads = threads.max(1);
        let job = Job(self.begun);
        self.begun += 1;
        self.jobs.insert((self.service + work.as_nanos() * PARTS, job, threads, whose));
        self.threads[whose as usize] += u64::from(threads);
        job
    }

    /// Advances the time to `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(due) = self.next_wake()
            && due <= now
        {
            self.serve_until(due);
            while let Some(&(at, job, threads, whose)) = self.jobs.first()
                && at <= self.service
            {
                self.jobs.pop_first();
                self.threads[whose as usize] -= u64::from(threads);
                self.finished.push_back((due, job));
            }
        }
        if now > self.now {
            self.serve_until(now);
        }
    }

    /// The next finished job, and the time; jobs that finish at the same time come in the order of
    /// their beginning.
    pub fn next_finished(&mut self) -> Option<(Time, Job)> {
        self.finished.pop_front()
    }

    /// When the next job finishes if none begins before; `None` without any.
    pub fn next_wake(&self) -> Option<Time> {
        let left = self.jobs.first()?.0.saturating_sub(self.service);
        // Rounded up, so that it is finished then.
        let nanos = (left * u128::from(self.crowd())).div_ceil(u128::from(self.count) * PARTS);
        Some(self.now + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Processor time of a claimant's threads up to the last time passed, summed over cores. All
    /// claimants together get at most the cores times that time.
    pub fn used(&self, whose: Claimant) -> Duration {
        let nanos = self.used[whose as usize] / PARTS;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The number of threads that share the cores, at least the number of cores: a core without a
    /// thread is idle.
    fn crowd(&self) -> u64 {
        self.threads.iter().sum::<u64>().max(self.count)
    }

    fn serve_until(&mut self, time: Time) {
        let nanos = time.as_nanos().saturating_sub(self.now.as_nanos());
        let shared = u128::from(nanos) * u128::from(self.count) * PARTS;
        let each = shared / u128::from(self.crowd());
        self.service += each;
        for (used, threads) in self.used.iter_mut().zip(self.threads) {
            *used += each * u128::from(threads);
        }
        self.now = self.now.max(time);
    }
}

/// Parts of a nanosecond in which service is counted: rounding errors of divisions do not add up to
/// one nanosecond in a day of changes every microsecond.
const PARTS: u128 = 1 << 40;

#[cfg(test)]
mod tests {
    use trackbed_core::seed::Seed;

    use super::*;

    fn ms(time: u64) -> Time {
        Time::from_millis(time)
    }

    fn work(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// All finished jobs, with their times in milliseconds.
    fn finish(cores: &mut Cores) -> Vec<(f64, u64)> {
        while let Some(due) = cores.next_wake() {
            cores.advance(due);
        }
        std::iter::from_fn(|| cores.next_finished())
            .map(|(at, job)| (at.as_nanos() as f64 / 1e6, job.0))
            .collect()
    }

    #[test]
    fn one_core_is_halved_between_two() {
        let mut cores = Cores::new(1);
        cores.begin(ms(0), Claimant::Network, 1, work(10));
        // 5 ms alone, 10 ms at half the rate; then 5 ms are left of the other.
        cores.begin(ms(5), Claimant::Network, 1, work(10));
        assert_eq!(finish(&mut cores), [(15.0, 0), (20.0, 1)]);
    }

    #[test]
    fn a_core_for_each_is_all_that_a_thread_can_have() {
        let mut cores = Cores::new(4);
        cores.begin(ms(0), Claimant::Network, 3, work(10));
        cores.begin(ms(0), Claimant::Network, 1, work(4));
        assert_eq!(finish(&mut cores), [(4.0, 1), (10.0, 0)]);
    }

    #[test]
    fn four_threads_on_two_cores_take_twice_as_long() {
        let mut cores = Cores::new(2);
        cores.begin(ms(1), Claimant::Network, 4, work(10));
        assert_eq!(finish(&mut cores), [(21.0, 0)]);
        // Three threads on two cores: two thirds of the rate each.
        cores.begin(ms(30), Claimant::Network, 2, work(10));
        cores.begin(ms(30), Claimant::Network, 1, work(2));
        // 3 ms for the small one; 8 ms are left of the others, at the full rate.
        assert_eq!(finish(&mut cores), [(33.0, 2), (41.0, 1)]);
    }

    #[test]
    fn it_does_not_matter_how_often_it_is_told_the_time() {
        let jobs = [(0, 2, 30), (7, 1, 11), (8, 3, 5), (9, 1, 0), (20, 1, 17)];
        let mut ends = Vec::new();
        for step in [1, 3, 1_000] {
            let mut cores = Cores::new(2);
            let mut next = jobs.iter().peekable();
            for now in (0..200).step_by(step).chain([200]) {
                while let Some((at, threads, length)) = next.next_if(|job| job.0 <= now as u64) {
                    cores.begin(ms(*at), Claimant::Network, *threads, work(*length));
                }
                cores.advance(ms(now as u64));
            }
            ends.push(finish(&mut cores));
        }
        // With long steps, jobs that are begun late still have their own times.
        assert_eq!(ends[0].len(), jobs.len());
        assert_eq!(ends[0], ends[1]);
    }

    /// Two threads of one and one of the other on two cores: two thirds of a core each.
    #[test]
    fn what_threads_were_given_is_on_their_account() {
        let mut cores = Cores::new(2);
        cores.begin(ms(0), Claimant::Inference, 2, work(10));
        cores.begin(ms(3), Claimant::Network, 1, work(2));
        cores.advance(ms(3));
        let used = |cores: &Cores| [Claimant::Network, Claimant::Inference].map(|w| cores.used(w));
        assert_eq!(used(&cores), [work(0), work(6)]);
        cores.advance(ms(6));
        assert_eq!(used(&cores), [work(2), work(10)]);
        // All is done at 11 ms, and no one gets service afterwards.
        cores.advance(ms(100));
        assert_eq!(used(&cores), [work(2), work(20)]);
    }

    /// The mean time in an M/G/1 queue with processor sharing is S / (1 - rho), whatever the law of the
    /// work (Kleinrock, Queueing Systems II, section 4.4).
    #[test]
    fn poisson_arrivals_stay_as_long_as_kleinrock_says() {
        let service = 1e6;
        for (name, rho, fixed) in
            [("M/M/1", 0.5, false), ("M/D/1", 0.5, true), ("M/D/1", 0.8, true)]
        {
            let mut random = Seed::of_run(1, 0).stream(&format!("{name} {rho}"));
            let mut cores = Cores::new(1);
            let (mut at, mut begins, mut sum) = (0.0, Vec::new(), 0.0);
            let mut ended = 0;
            for _ in 0..300_000 {
                at += random.exponential() * service / rho;
                let length = if fixed { service } else { random.exponential() * service };
                let now = Time::from_nanos(at as u64);
                cores.begin(now, Claimant::Network, 1, Duration::from_nanos(length as u64));
                begins.push(now);
                while let Some((end, job)) = cores.next_finished() {
                    sum += (end.as_nanos() - begins[job.0 as usize].as_nanos()) as f64;
                    ended += 1;
                }
            }
            let (mean, expected) = (sum / f64::from(ended), service / (1.0 - rho));
            assert!((mean / expected - 1.0).abs() < 0.03, "{name} {rho}: {mean} for {expected}");
        }
    }
}
