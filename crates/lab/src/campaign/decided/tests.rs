//! Two invented substrates, of which one is slower by a known factor.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use trackbed_core::Seed;
use trackbed_measure::results::{Document, Outcome, SCHEMA};
use trackbed_substrate::{Cancel, RunError};

use super::super::Execution;
use super::*;
use crate::backend::Backend;
use crate::testing::built_in;

/// Completion times around 100 ms times the factor of the cell, with noise of this many percent.
struct Invented {
    factors: [f64; 3],
    noise: f64,
    cancel: Option<(Cancel, u32)>,
}

impl Backend for Invented {
    fn name(&self) -> &'static str {
        "invented"
    }

    fn environment(&self, _: &Plan) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn jobs(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    fn check(&self, _: &Plan) -> Result<(), String> {
        Ok(())
    }

    fn execute(&self, _: &Plan, cell: u32, run: u32) -> Result<RunResult, RunError> {
        if let Some((cancel, last)) = &self.cancel
            && run == *last
        {
            cancel.cancel();
        }
        let mut rng =
            Seed::of_run(u64::from(cell), u64::from(run)).stream(&format!("{}", self.noise));
        let value = 100.0 * self.factors[cell as usize] * (1.0 + self.noise / 100.0 * rng.normal());
        let samples = BTreeMap::from([("completion_ms".to_owned(), vec![value])]);
        Ok(RunResult { cell, run, outcome: Outcome::Samples(samples), certificate: None })
    }
}

/// A clock that advances by a second with each run.
#[derive(Default)]
struct Seconds(u64);

impl Progress for Seconds {
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0)
    }

    fn set(&mut self, _: u64, _: u64) {}

    fn finished(&mut self, _: u32) {
        self.0 += 1;
    }

    fn summed_up(&mut self, _: &Document, _: &Path) {}
}

fn about(plan: &Plan, substrate: &str) -> About {
    About {
        schema: SCHEMA,
        trackbed: "0".to_owned(),
        command: Vec::new(),
        scenario: "vru".to_owned(),
        text: String::new(),
        overrides: Vec::new(),
        seed: plan.seed,
        runs: plan.runs,
        more_runs: Default::default(),
        folder: "/".into(),
        plan: plan.hash.clone(),
        substrate: substrate.to_owned(),
        shard: None,
    }
}

/// Compares the invented substrates; the verdicts, the pairs of each cell, and whether all were made.
fn decided(
    second: [f64; 3],
    (seconds, runs_max): (u64, u32),
    stops_at: Option<u32>,
) -> (Vec<Agreement>, bool) {
    let plan = || built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
    let cancel = Cancel::new();
    let sides = [
        Invented {
            factors: second,
            noise: 5.0,
            cancel: stops_at.map(|last| (cancel.clone(), last)),
        },
        Invented { factors: [1.0; 3], noise: 5.1, cancel: None },
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut plans = [plan(), plan()];
    let mut abouts = [about(&plans[0], "emulated"), about(&plans[1], "virtual")];
    let mut directories = abouts.each_ref().map(|about| {
        RunDirectory::create_anew(&folder.path().join(&about.substrate), about.clone()).unwrap()
    });
    let [a, b] = &mut directories;
    let [plan_a, plan_b] = &mut plans;
    let [about_a, about_b] = &mut abouts;
    let [first, other] = &sides;
    let keeping = |backend| Keeping {
        backend,
        keep_invalid: false,
        execution: Execution { jobs: None, cancel: cancel.clone() },
    };
    let mut sides = [
        Side { keeping: keeping(first), plan: plan_a, about: about_a, directory: a },
        Side { keeping: keeping(other), plan: plan_b, about: about_b, directory: b },
    ];
    let budget = Duration::from_secs(seconds);
    let terms = Terms { metrics: Vec::new(), budget, runs_min: 12, runs_max };
    terms.check().unwrap();
    let mut deciding = Deciding::new(sides[0].plan, terms);
    let is_complete = deciding.run(&mut sides, &mut Seconds::default()).unwrap();
    (deciding.into_found(), is_complete)
}

fn verdicts(found: &[Agreement]) -> Vec<AgreementVerdict> {
    found.iter().map(|found| found.verdict).collect()
}

/// Noise of 5 % on each side: about 7 % of a difference of one pair. The margins are 3 % (QUIC) and 5 %.
#[test]
fn each_cell_goes_on_until_it_is_decided() {
    use AgreementVerdict::{Different, Equivalent};
    let (found, is_complete) = decided([1.0, 1.25, 1.0], (100_000, 1_000), None);
    assert!(is_complete);
    assert_eq!(verdicts(&found), [Equivalent, Different, Equivalent]);
    let pairs: Vec<u32> = found.iter().map(|found| found.pairs).collect();
    assert_eq!(pairs[1], 12, "{pairs:?}");
    assert!(pairs[0] > pairs[2], "3 % needs more pairs than 5 %: {pairs:?}");
    assert!(pairs.iter().all(|pairs| [12, 18, 27, 41, 62, 93, 140].contains(pairs)), "{pairs:?}");
    assert!(found.iter().all(|found| found.pairs_to_decide.is_none()));
    assert!(found[0].correlation.unwrap().abs() < 0.5, "independent noise");
}

/// The first cell lies at the limit of its margin, so it can never be decided.
#[test]
fn the_limits_of_pairs_and_of_time_are_kept() {
    let undecided = |limits| {
        let (found, is_complete) = decided([1.03, 1.0, 1.0], limits, None);
        assert!(is_complete);
        assert_eq!(found[0].verdict, AgreementVerdict::Undecided);
        assert!(found[0].pairs_to_decide.is_none_or(|pairs| pairs > u64::from(found[0].pairs)));
        found
    };
    assert_eq!(undecided((100_000, 100))[0].pairs, 100);
    // The cells of 12 pairs take 72 s. What remains goes to those that are decided soonest.
    let found = undecided((200, 1_000));
    let runs: u32 = found.iter().map(|found| 2 * found.pairs).sum();
    assert!((150..=200).contains(&runs), "{runs}");
    assert!(found[1].verdict == AgreementVerdict::Equivalent, "{found:?}");
    // There is no time for the third cell.
    assert_eq!(decided([1.0; 3], (40, 1_000), None).0.len(), 2);
}

#[test]
fn a_campaign_that_is_stopped_keeps_what_it_found() {
    let (found, is_complete) = decided([1.0, 1.0, 1.0], (100_000, 1_000), Some(14));
    assert!(!is_complete);
    assert_eq!(found.len(), 3);
    // The slower side stops in the second look of the cell that is decided soonest; its runs until then have
    // partners.
    let pairs: Vec<u32> = found.iter().map(|found| found.pairs).collect();
    assert!(pairs.iter().sum::<u32>() == 36 + 3 && pairs.contains(&15), "{pairs:?}");
}

#[test]
fn too_few_pairs_are_refused() {
    let terms = |runs_min, runs_max| Terms {
        metrics: Vec::new(),
        budget: Duration::from_secs(1),
        runs_min,
        runs_max,
    };
    assert!(terms(5, 1_000).check().unwrap_err().contains("must be 6 or more"));
    assert!(terms(12, 11).check().unwrap_err().contains("--runs-max (11)"));
}
