//! The swarm: random networks, faults, protocols and workloads, one for each seed.
//!
//! Half of the cases are first faulty and then healed, and have to succeed. The others may fail,
//! but cleanly: without a panic, a stall or a wrong byte, and with a report of what was given up
//! and why. A failure prints the scenario and the command that repeats this case.
//!
//! - `TRACKBED_SWARM_RUNS=20000` runs this many cases, beginning with seed 0.
//! - `TRACKBED_SWARM_SEED=17` runs one case, and prints its result; with a number of cases, it is
//!   the seed of the first.

mod dice;
mod generate;
mod links;
mod verdict;
mod watch;

use std::num::NonZeroUsize;
use std::thread;

use trackbed_core::Time;
use trackbed_core::event::Record;
use trackbed_lab::run::Runner;
use trackbed_measure::metrics;
use trackbed_scenario::{self as scenario, Source};
use trackbed_substrate::simulated::{Cancel, RunError, parallel};
use trackbed_tests::random::selected;

use generate::Case;
use watch::Watch;

#[test]
fn random_scenarios_end_well() {
    let seeds = seeds();
    let cases = seeds.len();
    let watch = Watch::begin();
    let enough = Cancel::default();
    let execute = |&seed: &u64| -> Result<Verdict, RunError> {
        let _guard = watch.guard(seed);
        Ok(judge(&Case::new(seed)))
    };
    let (mut failed, mut succeeded) = (0, 0);
    parallel(seeds.into_iter(), workers(), &enough, execute, |seed, verdict| {
        let verdict = &verdict.unwrap_or_else(|error| Verdict {
            problems: vec![error.to_string()],
            outcome: String::new(),
        });
        succeeded += usize::from(verdict.outcome == SUCCEEDED);
        if cases == 1 || !verdict.problems.is_empty() {
            tell(seed, verdict);
        }
        if !verdict.problems.is_empty() {
            failed += 1;
            if failed >= FAILURES_MAX {
                enough.cancel();
            }
        }
    });
    assert_eq!(failed, 0, "cases failed; each is printed above with its command");
    println!("{cases} cases: {succeeded} succeeded, the others failed cleanly");
    // A swarm that breaks everything tests nothing, and neither does one that breaks nothing.
    assert!(cases < 100 || (succeeded * 2 > cases && succeeded < cases));
}

/// The cases to run: those selected by the environment, or the first ones and those that once found
/// a bug.
fn seeds() -> Vec<u64> {
    selected("TRACKBED_SWARM_SEED", "TRACKBED_SWARM_RUNS")
        .map_or_else(|| (0..CASES).chain(FINDINGS).collect(), Vec::from_iter)
}

struct Verdict {
    problems: Vec<String>,
    outcome: String,
}

fn judge(case: &Case) -> Verdict {
    let plan = match scenario::load(&Source::recorded("swarm", &case.text), &[]) {
        Ok(plan) => plan,
        Err(error) => {
            let problems = vec![format!("the scenario is refused: {error}")];
            return Verdict { problems, outcome: "not run".to_owned() };
        }
    };
    let run = || -> Result<Vec<Record>, String> {
        let runner = Runner::new(Cancel::default()).with_time_limit(TIME_LIMIT);
        runner.events(&plan.cells[0], plan.seed, 0).map_err(|error| error.to_string())
    };
    let records = match run() {
        Ok(records) => records,
        Err(error) => return Verdict { problems: vec![error], outcome: "no end".to_owned() },
    };
    let mut problems = verdict::problems(case, &records);
    if case.seed.is_multiple_of(REPEAT_EVERY) && case.repeatable && run().as_ref() != Ok(&records) {
        problems.push("a second run of the same seed differs".to_owned());
    }
    let outcome = metrics::outcome(&records).err().unwrap_or_else(|| SUCCEEDED.to_owned());
    Verdict { problems, outcome }
}

fn tell(seed: u64, verdict: &Verdict) {
    println!("{}", Case::new(seed));
    println!("outcome: {}", verdict.outcome);
    for problem in &verdict.problems {
        println!("WRONG: {problem}");
    }
    println!("run it again: {}\n", command(seed));
}

fn command(seed: u64) -> String {
    let build = if cfg!(debug_assertions) { "--profile checked" } else { "--release" };
    format!(
        "TRACKBED_SWARM_SEED={seed} cargo test {build} -p trackbed-tests --test virtual_time swarm:: -- --nocapture"
    )
}

fn workers() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

const CASES: u64 = 500;

/// A change of the generator changes their meaning; then start a new list.
const FINDINGS: [u64; 20] = [
    311, 2_624, 2_688, 5_306, 6_303, 7_392, 13_039, 14_381, 15_616, 16_666, 20_603, 21_996, 22_734,
    24_663, 24_730, 27_562, 36_233, 91_186, 17_056, 118_986,
];

const FAILURES_MAX: u32 = 10;

/// One case in this many is run twice.
const REPEAT_EVERY: u64 = 8;

const SUCCEEDED: &str = "succeeded";

/// Longer than every patience in a scenario adds up to: ten warm-ups of a minute, then messages
/// one after the other that are given up after five minutes at most.
const TIME_LIMIT: Time = Time::from_millis(3 * 3_600_000);
