//! The cost of a whole campaign: per phone at 100 and at 10,000 phones, and with one and with two workers. Runs that
//! are compared take turns, so that a machine that slows down slows both.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use trackbed_lab::backend::Virtual;
use trackbed_lab::campaign::{self, Execution};
use trackbed_scenario::{self as scenario, Override, Plan, Source};
use trackbed_substrate::Cancel;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    for protocol in ["http2", "quic"] {
        phones(protocol);
    }
    workers();
}

/// The plan of a scenario with settings, separated by spaces.
fn plan(scenario: &str, settings: &str) -> Plan {
    let overrides: Vec<Override> =
        settings.split_whitespace().map(|text| text.parse().expect("a setting")).collect();
    scenario::load(&Source::named(scenario), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Wall time of all runs of a plan.
fn time(plan: &Plan, workers: usize) -> Duration {
    let begun = Instant::now();
    let jobs = NonZeroUsize::new(workers);
    let execution = Execution { jobs, cancel: Cancel::default() };
    let runs = campaign::run_all(plan, &Virtual::default(), &execution);
    let elapsed = begun.elapsed();
    assert!(runs.iter().all(|run| run.outcome.samples().is_some()), "every run goes through");
    elapsed
}

/// Ten messages of each of 100 and of 10,000 phones over one shared link.
fn phones(protocol: &str) {
    let plan = |phones: u32, runs: u32| {
        let common = "tls=1.3 handshake=new link.rate=1gbit";
        let own = format!("protocol={protocol} workload.phones={phones} runs={runs}");
        plan("vru", &format!("{own} {common}"))
    };
    let (few, many) = (plan(100, 20), plan(10_000, 1));
    let mut ratios = Vec::new();
    let mut costs = Vec::new();
    for _ in 0..3 {
        let each_of_few = time(&few, 1).as_secs_f64() / 2_000.0;
        let each_of_many = time(&many, 1).as_secs_f64() / 10_000.0;
        ratios.push(each_of_many / each_of_few);
        costs.push((each_of_few, each_of_many));
    }
    let (few, many) = costs[0];
    println!(
        "{protocol}: a phone costs {:.2} ms of 100 and {:.2} ms of 10,000; ratio {:.2}",
        few * 1e3,
        many * 1e3,
        median(ratios)
    );
}

/// The whole `vru` scenario with one worker and with two, in turns.
fn workers() {
    let plan = plan("vru", "runs=60");
    time(&plan, 2);
    let ratios = (0..5).map(|_| {
        let one = time(&plan, 1).as_secs_f64();
        one / time(&plan, 2).as_secs_f64()
    });
    println!("two workers are {:.2} times as fast as one", median(ratios.collect()));
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
