//! Many runs at once.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use trackbed_core::{Bitrate, Seed, Time};
use trackbed_substrate::simulated::{Cancel, RunError, Simulation, parallel};
use trackbed_substrate::{now, sleep};

use crate::support::pair;

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
fn results_come_in_order_and_do_not_depend_on_how_many_run_at_once() {
    let jobs: Vec<u64> = (0..24).collect();
    let simulation = Simulation::new();
    let mut texts = BTreeSet::new();
    for n in [1, 2, 7, 100] {
        let mut seen = BTreeSet::new();
        let results = parallel(
            &jobs,
            at_most(n),
            &Cancel::new(),
            |&run| job(&simulation, run),
            |index, result| {
                assert!(seen.insert(index), "{index} twice");
                assert_eq!(result.is_err(), index == 5);
            },
        );
        assert_eq!(seen.len(), jobs.len());
        assert!(results.iter().enumerate().all(|(i, r)| r.as_ref().unwrap().is_err() == (i == 5)));
        texts.insert(format!("{results:?}"));
    }
    assert_eq!(texts.len(), 1);
}

#[test]
fn cancelling_keeps_what_is_finished() {
    let jobs: Vec<u64> = (100..200).collect();
    let cancel = Cancel::new();
    let simulation = Simulation::new().with_cancel(cancel.clone());
    let mut finished = 0;
    let results = parallel(
        &jobs,
        at_most(2),
        &cancel,
        |&run| job(&simulation, run),
        |_, result| {
            finished += usize::from(result.is_ok());
            if finished == 10 {
                cancel.cancel();
            }
        },
    );
    let kept = results.iter().filter(|r| matches!(r, Some(Ok(_)))).count();
    assert!(kept >= 10);
    assert!(results.iter().any(Option::is_none), "jobs were started after the cancellation");
    assert!(results.iter().flatten().all(|r| matches!(r, Ok(_) | Err(RunError::Cancelled { .. }))));
}

#[test]
fn a_job_that_panics_itself_is_one_failed_job() {
    let results = parallel(
        &[0, 1, 2],
        at_most(2),
        &Cancel::new(),
        |&n| if n == 1 { panic!("outside") } else { Ok(n) },
        |_, _| {},
    );
    let text: Vec<String> = results.into_iter().map(|r| format!("{:?}", r.unwrap().ok())).collect();
    assert_eq!(text, ["Some(0)", "None", "Some(2)"]);
}
