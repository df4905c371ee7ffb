//! Random cases: which ones, several at once, and what is said of those that fail.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use trackbed_core::Rng;

use crate::capture::{self, Seen};

/// What became of a case.
pub struct Played {
    pub problems: Vec<String>,
    /// How often it covered each feature: uncovered features are not tested.
    pub met: Vec<(&'static str, u64)>,
    pub description: String,
    pub packets: Vec<Seen>,
}

/// Plays the cases of `family` selected by the environment, or the first `usual` ones.
///
/// # Panics
/// If something is wrong with a case, or if no fewer than usual were played and a feature was not
/// covered.
pub fn play_all(family: &str, usual: u64, play: impl Fn(u64) -> Played + Sync) {
    let name = format!("TRACKBED_KERNEL_{}_CASE", family.to_uppercase());
    let (first, count) = match (setting(&name), setting(&format!("{name}S"))) {
        (None, None) => (0, usual),
        (Some(case), None) => (case, 1),
        (first, Some(cases)) => (first.unwrap_or(0), cases),
    };
    let (next, failed) = (AtomicU64::new(first), AtomicUsize::new(0));
    let all_met = Mutex::new(BTreeMap::new());
    let printing = Mutex::new(());
    let play_some = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= first + count || failed.load(Ordering::Relaxed) >= FAILURES_MAX {
            return;
        }
        let Played { problems, met, description, packets } = play(number);
        for (feature, times) in met {
            *all_met.lock().unwrap().entry(feature).or_insert(0) += times;
        }
        if count == 1 || !problems.is_empty() {
            let _one_at_a_time = printing.lock();
            let again = command(family, number);
            println!("{description}\n{}", keep(&format!("{family}-{number}"), &again, &packets));
            problems.iter().for_each(|problem| println!("WRONG: {problem}"));
            println!("play it again: {again}\n");
        }
        failed.fetch_add(usize::from(!problems.is_empty()), Ordering::Relaxed);
    };
    // What takes time is waiting.
    thread::scope(|scope| (0..AT_ONCE.min(count)).for_each(|_| drop(scope.spawn(play_some))));
    assert_eq!(failed.into_inner(), 0, "cases failed; each is printed above with its command");
    let met: BTreeMap<&str, u64> = all_met.into_inner().unwrap();
    println!("{met:?}");
    let is_complete = met.values().all(|times| *times > 0);
    assert!(count < usual || is_complete, "the cases spare something: {met:?}");
}

/// Writes packets to a file in the temporary folder, and says where they are.
pub fn keep(name: &str, command: &str, packets: &[Seen]) -> String {
    let path = std::env::temp_dir().join(format!("trackbed-kernel-{name}.pcapng"));
    let written = capture::write(&path, command, packets);
    format!("packets: {} ({written:?})", path.display())
}

/// The command that plays a case again. In real time no two plays are identical, but all its
/// parameters are the same.
fn command(family: &str, number: u64) -> String {
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
