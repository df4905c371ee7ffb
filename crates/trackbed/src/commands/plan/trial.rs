//! An estimate of what a plan costs, from trial runs.

use std::num::NonZeroUsize;
use std::time::Duration;

use trackbed_lab::backend::{Backend as _, Virtual};
use trackbed_scenario::Plan;
use trackbed_substrate::Cancel;

use crate::options::{RunOptions, SubstrateArgument};
use crate::output::tell;
use crate::patience::Patience;
use crate::progress::Stopwatch;

/// No trial run begins after this time.
const BUDGET: Duration = Duration::from_secs(3);

/// A trial run ends after this time.
const LIMIT: Duration = Duration::from_secs(20);

/// Tells a terminal's user how long the runs of `plan` will take in virtual time. Says nothing of other substrates, on which a
/// run takes as long as its events.
pub fn tell_cost(plan: &Plan, options: &RunOptions) {
    if !console::user_attended_stderr() {
        return;
    }
    if options.substrate.unwrap_or(plan.home.into()) != SubstrateArgument::Virtual {
        return tell("time: unknown; on this substrate a run takes as long as what happens in it");
    }
    let cancel = Cancel::default();
    let _patience = Patience::begin(LIMIT, &cancel);
    let backend = Virtual::until(cancel);
    if backend.check(plan).is_err() {
        return;
    }
    let families = plan.families();
    let trials = trials(plan, &families, &backend);
    let cores = options.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let cores = cores.unwrap_or_else(|| backend.jobs()).get();
    let Some(total) = total(plan, &families, &trials) else {
        return tell(format_args!("time: a run takes more than {} s", LIMIT.as_secs()));
    };
    let (time, count) = (in_words(total / cores as f64), trials.len());
    tell(format_args!("time: {time} on {cores} cores in virtual time, by {count} trial runs"));
}

/// The durations in seconds of a run of families that are spread over the plan, each with its family.
fn trials(plan: &Plan, families: &[Vec<u32>], backend: &Virtual) -> Vec<(usize, f64)> {
    let (mut trials, all) = (Vec::new(), Stopwatch::start());
    for family in spread(families.len()) {
        if all.elapsed() > BUDGET {
            break;
        }
        let clock = Stopwatch::start();
        match backend.execute(plan, &families[family], 0) {
            Ok(_) => trials.push((family, clock.elapsed().as_secs_f64())),
            Err(_) => break,
        }
    }
    trials
}

/// All numbers below `count`, the early ones spread evenly: every 64th, then the rest of every 32nd, and so on.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let step = count.next_power_of_two();
    let steps = std::iter::successors(Some(step), |step| (*step > 1).then_some(step / 2));
    steps.flat_map(move |step| {
        let is_new = move |number: &usize| step >= count || !number.is_multiple_of(2 * step);
        (0..count).step_by(step).filter(is_new)
    })
}

/// The seconds of one core for all runs; families without a trial take the mean of the others.
fn total(plan: &Plan, families: &[Vec<u32>], trials: &[(usize, f64)]) -> Option<f64> {
    let mean = trials.iter().map(|(_, seconds)| seconds).sum::<f64>() / trials.len() as f64;
    let of = |number: usize| {
        trials.iter().find(|(tried, _)| *tried == number).map_or(mean, |(_, it)| *it)
    };
    let runs = |family: &[u32]| family.first().map_or(0, |cell| plan.cells[*cell as usize].runs);
    let all = families.iter().enumerate();
    let total = all.map(|(number, family)| of(number) * f64::from(runs(family))).sum();
    (!trials.is_empty()).then_some(total)
}

/// `less than a second`, `about 40 s`, `about 12 min`, `about 3.5 h`.
fn in_words(seconds: f64) -> String {
    match seconds {
        ..1.0 => "less than a second".to_owned(),
        ..90.0 => format!("about {seconds:.0} s"),
        ..5400.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_tried_once() {
        for count in 0..70 {
            let mut all: Vec<usize> = spread(count).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "{count}");
        }
        assert_eq!(spread(8).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 3, 5, 7]);
    }
}
