//! Two invented substrates, of which one is slower by a known factor.

use std::path::Path;

use trackbed_analysis::computing::Computing;
use trackbed_core::Seed;
use trackbed_measure::results::{Certificate, Document, Outcome, SCHEMA};
use trackbed_substrate::{Cancel, RunError};

use super::super::Execution;
use super::*;
use crate::backend::Backend;
use crate::testing::built_in;

/// Whether Ctrl-C comes during this run of this cell.
type Stop = fn(u32, u32) -> bool;

/// Completion times around 100 ms times the factor of the cell, with noise of this many percent. Programs
/// need this much processor time for 100 packets.
struct Invented {
    factors: [f64; 3],
    noise: f64,
    computing: Duration,
    /// Cancelled at a run of a cell.
    cancel: Option<(Cancel, Stop)>,
    /// The same while packets take processor time.
    cancel_computing: Option<(Cancel, Stop)>,
}

impl Backend for Invented {
    fn name(&self) -> &'static str {
        "invented"
    }

    fn check(&self, _: &Plan) -> Result<(), String> {
        Ok(())
    }

    /// Nothing happens while packets take their time.
    fn with_computing(&self, Computing { client, server }: Computing) -> Option<Box<dyn Backend>> {
        let percent = ((client + server) * 100).as_secs_f64() * 1e3;
        let factors = self.factors.map(|factor| factor + percent / 100.0);
        let cancel = self.cancel_computing.clone();
        Some(Box::new(Invented { factors, cancel, cancel_computing: None, ..*self }))
    }

    fn execute(&self, _: &Plan, cells: &[u32], run: u32) -> Result<Vec<RunResult>, RunError> {
        let cell = cells[0];
        if let Some((cancel, stops)) = &self.cancel
            && stops(cell, run)
        {
            cancel.cancel();
        }
        let mut rng =
            Seed::of_run(u64::from(cell), u64::from(run)).stream(&format!("{}", self.noise));
        let value = 100.0 * self.factors[cell as usize] * (1.0 + self.noise / 100.0 * rng.normal());
        let each = self.computing.as_secs_f64() * 1e3;
        let samples = [
            ("completion_ms", value),
            ("client_cpu_ms", 0.8 * each),
            ("server_cpu_ms", 0.2 * each),
        ];
        let samples = samples.map(|(name, value)| (name.to_owned(), vec![value]));
        let certificate = (!self.computing.is_zero())
            .then(|| Certificate { packets: 100, ..Certificate::default() });
        let outcome = Outcome::Samples(samples.into());
        Ok(vec![RunResult { cell, run, outcome, certificate, answered: None }])
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

    fn note(&mut self, _: &str) {}
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
        build: None,
        files: Vec::new(),
        plan: plan.hash.clone(),
        substrate: substrate.to_owned(),
        shard: None,
    }
}

/// Compares the invented substrates; the verdicts, the pairs of each cell, and whether all were made.
/// Programs need processor time on the first substrate; if they do, it is stopped while they need it on
/// the other.
fn decided(
    second: [f64; 3],
    computing: Duration,
    limits: (u64, u32),
    stops_at: Option<Stop>,
) -> (Vec<Agreement>, bool) {
    let mut found = decided_again(second, computing, &[limits], stops_at);
    found.remove(0)
}

/// The same once for each limit, with the results of the time before.
fn decided_again(
    second: [f64; 3],
    computing: Duration,
    limits: &[(u64, u32)],
    stops_at: Option<Stop>,
) -> Vec<(Vec<Agreement>, bool)> {
    let plan = || built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
    let cancel = Cancel::default();
    let stops = stops_at.map(|stop| (cancel.clone(), stop));
    let (cancel_first, cancel_computing) = match computing.is_zero() {
        true => (stops, None),
        false => (None, stops),
    };
    let first = Invented {
        factors: second,
        noise: 5.0,
        computing,
        cancel: cancel_first,
        cancel_computing: None,
    };
    let other = Invented {
        factors: [1.0; 3],
        noise: 5.1,
        computing: Duration::ZERO,
        cancel: None,
        cancel_computing,
    };
    let folder = tempfile::tempdir().unwrap();
    let mut plans = [plan(), plan()];
    let mut abouts = [about(&plans[0], "emulated"), about(&plans[1], "virtual")];
    let mut directories = abouts.each_ref().map(|about| {
        RunDirectory::create_anew(&folder.path().join(&about.substrate), about.clone()).unwrap()
    });
    let [a, b] = &mut directories;
    let [plan_a, plan_b] = &mut plans;
    let [about_a, about_b] = &mut abouts;
    let keeping = |backend| Keeping {
        backend,
        keep_invalid: false,
        execution: Execution { jobs: None, cancel: cancel.clone() },
    };
    let mut sides = [
        Side { keeping: keeping(&first), plan: plan_a, about: about_a, directory: a },
        Side { keeping: keeping(&other), plan: plan_b, about: about_b, directory: b },
    ];
    let decide = |&(seconds, runs_max): &(u64, u32)| {
        let budget = Duration::from_secs(seconds);
        let terms = Terms { metrics: Vec::new(), budget, runs_min: 12, runs_max };
        terms.check().unwrap();
        let mut deciding = Deciding::new(sides[0].plan, terms);
        let is_complete = deciding.run(&mut sides, &mut Seconds::default()).unwrap();
        (deciding.into_found(), is_complete)
    };
    limits.iter().map(decide).collect()
}

fn verdicts(found: &[Agreement]) -> Vec<AgreementVerdict> {
    found.iter().map(|found| found.verdict).collect()
}

/// Noise of 5 % on each side: about 7 % of a difference of one pair. The margins are 3 % (QUIC) and 5 %.
#[test]
fn each_cell_goes_on_until_it_is_decided() {
    use AgreementVerdict::{Different, Equivalent};
    let (found, is_complete) = decided([1.0, 1.25, 1.0], Duration::ZERO, (100_000, 1_000), None);
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
        let (found, is_complete) = decided([1.03, 1.0, 1.0], Duration::ZERO, limits, None);
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
    assert_eq!(decided([1.0; 3], Duration::ZERO, (40, 1_000), None).0.len(), 2);
}

/// The first cell is never decided. Where there is no time, the others must not lose what is known, and
/// where there is, it goes to the cell that needs it.
#[test]
fn what_exists_is_looked_at_again_without_taking_time() {
    let pairs = |(found, _): &(Vec<Agreement>, bool)| -> Vec<u32> {
        found.iter().map(|found| found.pairs).collect()
    };
    let limits = [(600, 1_000), (1, 1_000), (400, 1_000)];
    let found = decided_again([1.03, 1.0, 1.0], Duration::ZERO, &limits, None);
    let [first, again, later] = [0, 1, 2].map(|time| pairs(&found[time]));
    assert!(first[0] > first[2] && first[2] > 12, "{first:?}");
    assert_eq!(verdicts(&found[0].0), verdicts(&found[1].0));
    assert_eq!(first, again);
    assert!(later[0] > again[0] && later[1..] == again[1..], "{later:?} {again:?}");

    let found = decided_again([1.03, 1.0, 1.0], Duration::from_millis(1), &limits[..2], None);
    let with = [0, 1].map(|time: usize| format!("{:?}", found[time].0[0].with_computing));
    assert!(found[0].0[0].pairs > 12 && with[0].contains("Some"), "{with:?}");
    assert_eq!(with[0], with[1]);
}

/// Of 25 ms more, the programs need 25 in the first test and 5 in the second.
#[test]
fn a_difference_that_is_processor_time_is_recognised() {
    use AgreementVerdict::{Different, Equivalent, EquivalentWithComputing};
    let found = |it| decided([1.0, 1.25, 1.0], Duration::from_millis(it), (100_000, 1_000), None).0;
    let known = found(25);
    assert_eq!(known[1].verdict, EquivalentWithComputing, "{known:?}");
    let with = known[1].with_computing.as_ref().unwrap();
    assert!((with.client_us - 200.0).abs() < 1e-6 && (with.server_us - 50.0).abs() < 1e-6);
    assert!((with.ratio - 1.0).abs() < 0.05 && (known[1].ratio - 1.25).abs() < 0.05, "{known:?}");
    // Where it is not needed, the comparison without it stands.
    assert_eq!(known[0].verdict, Equivalent);
    let unknown = found(5);
    assert_eq!(unknown[1].verdict, Different);
    assert_eq!(unknown[1].with_computing.as_ref().unwrap().verdict, Different, "{unknown:?}");
}

#[test]
fn a_campaign_that_is_stopped_keeps_what_it_found() {
    let (found, is_complete) =
        decided([1.0, 1.0, 1.0], Duration::ZERO, (100_000, 1_000), Some(|_, run| run == 14));
    assert!(!is_complete);
    assert_eq!(found.len(), 3);
    // The slower side stops in the second look of the cell that is decided soonest; its runs until then have
    // partners.
    let pairs: Vec<u32> = found.iter().map(|found| found.pairs).collect();
    assert!(pairs.iter().sum::<u32>() == 36 + 3 && pairs.contains(&15), "{pairs:?}");
}

/// Each cell has one look. The last one is compared again when Ctrl-C comes, and no run is missing.
#[test]
fn a_comparison_that_is_stopped_is_not_complete() {
    let (computing, limits) = (Duration::from_millis(25), (100_000, 12));
    let stopped = |stops_at| decided([1.25; 3], computing, limits, stops_at);
    let (found, is_complete) = stopped(Some(|cell, run| (cell, run) == (2, 5)));
    assert!(!is_complete);
    assert_eq!(found[2].with_computing, None, "{found:?}");
    let (found, is_complete) = stopped(None);
    assert!(is_complete);
    assert!(found[2].with_computing.is_some(), "{found:?}");
}

#[test]
fn groups_of_a_run_are_decided_together() {
    let mut plan = built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
    plan.cells[2].family = 0;
    let (metrics, budget) = (Vec::new(), Duration::from_secs(1));
    let mut deciding = Deciding::new(&plan, Terms { metrics, budget, runs_min: 12, runs_max: 12 });
    assert_eq!([0, 1].map(|cell| deciding.together(cell, &plan)), [vec![0, 2], vec![1]]);
    deciding.cells[2].is_closed = true;
    assert_eq!(deciding.together(0, &plan), [0]);
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
