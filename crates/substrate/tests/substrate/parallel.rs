//! Many runs at once.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use trackbed_substrate::simulated::parallel;

use crate::support::*;

fn job(simulation: &Simulation, run: u64) -> Result<Time, RunError> {
    let network = pair(Bitrate::from_mbps(10), Duration::from_millis(1));
    simulation.run(Seed::of_run(1, run), network, |_| async move {
        let mut rng = Seed::of_run(1, run).stream("naps");
        for _ in 0..100 {
            sleep(rng.span(Duration::ZERO, Duration::from_millis(10))).await;
        }
        assert!(run != 5, "five fails");
        now()
    })
}

fn at_most(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

#[test]
fn results_do_not_depend_on_how_many_run_at_once() {
    let simulation = Simulation::default();
    let mut texts = BTreeSet::new();
    for n in [1, 2, 7, 100] {
        let results = all_of(0..24, n, |&run| job(&simulation, run));
        for (run, result) in &results {
            assert_eq!(result.is_err(), *run == 5, "{run}");
        }
        assert_eq!(results.len(), 24);
        texts.insert(format!("{results:?}"));
    }
    assert_eq!(texts.len(), 1);
}

#[test]
fn cancelling_keeps_what_is_finished() {
    let cancel = Cancel::default();
    let simulation = Simulation::default().with_cancel(cancel.clone());
    let mut results = Vec::new();
    parallel(
        100..200,
        at_most(2),
        &cancel,
        |&run| job(&simulation, run),
        |_, result| {
            results.push(result);
            if results.len() == 10 {
                cancel.cancel();
            }
        },
    );
    assert!(results.iter().filter(|result| result.is_ok()).count() >= 10);
    assert!(results.len() < 100, "jobs were started after the cancellation");
    assert!(results.iter().all(|r| matches!(r, Ok(_) | Err(RunError::Cancelled { .. }))));
}

#[test]
fn a_job_that_panics_itself_is_one_failed_job() {
    let results = all_of(0..3, 2, |&n| if n == 1 { panic!("outside") } else { Ok(n) });
    let results = results.into_iter().map(|(n, result)| (n, result.ok())).collect::<Vec<_>>();
    assert_eq!(results, [(0, Some(0)), (1, None), (2, Some(2))]);
}

/// When the consumer of the results falls behind, jobs wait, so that results do not pile up.
#[test]
fn jobs_wait_for_the_consumer_of_results() {
    let started = AtomicUsize::new(0);
    let mut most_ahead = 0;
    let mut taken = 0;
    parallel(
        0..10_000,
        at_most(2),
        &Cancel::default(),
        |_| Ok(started.fetch_add(1, Ordering::SeqCst)),
        |_, _| {
            taken += 1;
            if taken == 1 {
                // The others would be through long before.
                while started.load(Ordering::SeqCst) < 60 {
                    std::thread::yield_now();
                }
            }
            most_ahead = most_ahead.max(started.load(Ordering::SeqCst) - taken);
        },
    );
    assert_eq!(taken, 10_000);
    assert!((59..200).contains(&most_ahead), "{most_ahead}");
}
