//! The cost of a whole campaign: per phone at 100 and at 10,000 phones, with one and with two workers, in
//! two shards, and what is added to each run by everything around it. Figures are processor time where one thread works, and wall time where several do;
//! ratios come from runs that take turns, so that a machine that slows down slows both.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use trackbed_lab::backend::Virtual;
use trackbed_lab::campaign::{self, Execution};
use trackbed_lab::run::Runner;
use trackbed_scenario::{self as scenario, Override, Plan, Source};
use trackbed_substrate::Cancel;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    for protocol in ["http2", "quic"] {
        phones(protocol);
    }
    workers();
    overhead();
    shards();
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
    let execution = Execution { jobs, cancel: Cancel::new() };
    let runs = campaign::run_all(plan, &Virtual::new(), &execution);
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

/// The smallest possible runs: two messages, no losses.
const TINY: &str = "protocol=quic tls=1.3 handshake=new link.rate=50mbit link.delay=5ms link.loss=0% \
                    workload.count=2 seed=1";

/// An empty folder.
fn empty() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaign");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("what a round before left can be removed");
    }
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A campaign of `runs` tiny runs in a process, as a user starts it.
fn process(folder: &Path, runs: u32, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    command.args(["run", "vru", "--quiet", "--runs", &runs.to_string(), "--jobs", "1"]);
    command.args(TINY.split_whitespace().flat_map(|setting| ["--set", setting]));
    command.args(more).args(["--out", "out"]).current_dir(folder).stdout(Stdio::null());
    command.spawn().expect("the program starts")
}

/// Wall time until processes that start now are done.
fn until_done(start: impl FnOnce() -> Vec<Child>) -> Duration {
    let begun = Instant::now();
    for mut child in start() {
        assert!(child.wait().expect("a process").success(), "every run goes through");
    }
    begun.elapsed()
}

/// The cost of a run beyond its simulation: a separate thread, its line in the log, its part of the sums and of
/// the files.
fn overhead() {
    const RUNS: u32 = 4_000;
    let runner = Runner::new(Cancel::new());
    let plan = plan("vru", TINY);
    let rounds = (0..5).map(|_| {
        let begun = Instant::now();
        for run in 0..RUNS {
            runner.execute(&plan.cells[0], plan.seed, run).expect("a run");
        }
        let alone = begun.elapsed();
        let folder = empty();
        let whole = until_done(|| vec![process(&folder, RUNS, &[])]);
        let each = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(RUNS);
        (each(alone), each(whole))
    });
    let (alone, whole): (Vec<f64>, Vec<f64>) = rounds.unzip();
    let (alone, whole) = (median(alone), median(whole));
    println!(
        "a tiny run takes {alone:.3} ms, {whole:.3} ms in a campaign of {RUNS} that is written to a \
         directory: {:.3} ms more",
        whole - alone
    );
}

/// One worker with everything, and two with a shard each, in turns.
fn shards() {
    const RUNS: u32 = 20_000;
    let ratios = (0..5).map(|_| {
        let folder = empty();
        let one = until_done(|| vec![process(&folder, RUNS, &[])]);
        let folder = empty();
        let shard = |shard| process(&folder, RUNS, &["--shard", shard]);
        let two = until_done(|| vec![shard("1/2"), shard("2/2")]);
        one.as_secs_f64() / two.as_secs_f64()
    });
    println!("two shards are {:.2} times as fast as one campaign", median(ratios.collect()));
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
