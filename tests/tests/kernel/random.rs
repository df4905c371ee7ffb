//! Random cases: which ones, several at once, and what is said of those that fail.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use trackbed_core::Rng;

/// Plays the cases of `family` selected by the environment, or the first `usual` ones. `play`
/// returns the problems of a case, and its description. True if no fewer than usual were played.
///
/// # Panics
/// If something is wrong with a case.
pub fn play_all<T: FnOnce()>(
    family: &str,
    usual: u64,
    play: impl Fn(u64) -> (Vec<String>, T) + Sync,
) -> bool {
    let name = format!("TRACKBED_KERNEL_{}_CASE", family.to_uppercase());
    let (first, count) = match (setting(&name), setting(&format!("{name}S"))) {
        (None, None) => (0, usual),
        (Some(case), None) => (case, 1),
        (first, Some(cases)) => (first.unwrap_or(0), cases),
    };
    let (next, failed) = (AtomicU64::new(first), AtomicUsize::new(0));
    let printing = Mutex::new(());
    let play_some = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= first + count || failed.load(Ordering::Relaxed) >= FAILURES_MAX {
            return;
        }
        let (problems, tell) = play(number);
        if count == 1 || !problems.is_empty() {
            let _one_at_a_time = printing.lock();
            tell();
            problems.iter().for_each(|problem| println!("WRONG: {problem}"));
            println!("play it again: {}\n", command(family, number));
        }
        failed.fetch_add(usize::from(!problems.is_empty()), Ordering::Relaxed);
    };
    // What takes time is waiting.
    thread::scope(|scope| (0..AT_ONCE.min(count)).for_each(|_| drop(scope.spawn(play_some))));
    assert_eq!(failed.into_inner(), 0, "cases failed; each is printed above with its command");
    count >= usual
}

/// The command that plays a case again. In real time no two plays are identical, but all its
/// parameters are the same.
pub fn command(family: &str, number: u64) -> String {
    format!(
        "TRACKBED_KERNEL_{}_CASE={number} cargo test -p trackbed-tests --test kernel -- --exact \
         {family}::random_cases_end_well --include-ignored --nocapture",
        family.to_uppercase()
    )
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: write a whole number")))
}

/// What chooses a case.
pub struct Dice(pub Rng);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    pub fn one_in(&mut self, ways: u64) -> bool {
        self.below(ways) == 0
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }

    pub fn micros(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(self.between(least, most))
    }

    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.between(least, most))
    }
}

const AT_ONCE: u64 = 12;
const FAILURES_MAX: usize = 10;
/// How long a silent side waits before it probes.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);
