//! Random cases: which ones, several at once, and what is said of those that fail.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use trackbed_substrate::simulated::{Cancel, parallel};
use trackbed_tcp::config::KeepAlive;
use trackbed_tests::random::selected;

use crate::capture::{self, Seen};
use crate::*;

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
    let cases = selected(&name, &format!("{name}S")).unwrap_or(0..usual);
    let count = cases.end - cases.start;
    let (mut failed, mut met) = (0, BTreeMap::new());
    let enough = Cancel::default();
    let play = |number: &u64| Ok(play(*number));
    parallel(cases, AT_ONCE, &enough, play, |number, played| {
        let Played { problems, met: newly, description, packets } =
            played.unwrap_or_else(|error| panic!("case {number}: {error}"));
        for (feature, times) in newly {
            *met.entry(feature).or_insert(0) += times;
        }
        if count == 1 || !problems.is_empty() {
            let again = command(family, number);
            println!("{description}\n{}", keep(&format!("{family}-{number}"), &again, &packets));
            problems.iter().for_each(|problem| println!("WRONG: {problem}"));
            println!("play it again: {again}\n");
        }
        failed += usize::from(!problems.is_empty());
        if failed >= FAILURES_MAX {
            enough.cancel();
        }
    });
    assert_eq!(failed, 0, "cases failed; each is printed above with its command");
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

/// What takes time is waiting.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(12).unwrap();
const FAILURES_MAX: usize = 10;
/// How long a silent side waits before it probes.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// The same for the engine.
pub const ENGINE_KEEP_ALIVE: KeepAlive =
    KeepAlive { idle: KEEP_ALIVE, interval: KEEP_ALIVE, probes: 30 };
