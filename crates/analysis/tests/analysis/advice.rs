//! Answers from results with known answers.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use trackbed_analysis::advise::{
    Advice, AdviseError, Baseline, Names, Need, Question, Verdict, advise,
};
use trackbed_core::Seed;
use trackbed_measure::results::{CellResult, Document, Outcome, RunResult};
use trackbed_stats::{Looks, look_error};

/// The samples of a run: a metric and its values.
type Samples<'a> = &'a [(&'a str, Vec<f64>)];

#[derive(Default)]
struct Results {
    cells: Vec<CellResult>,
    runs: Vec<RunResult>,
}

impl Results {
    /// A cell with these factors, whose run k has the samples `of(k)`.
    fn cell<'a>(
        mut self,
        factors: &[(&str, &str)],
        count: u32,
        of: impl Fn(u32) -> Vec<(&'a str, Vec<f64>)>,
    ) -> Results {
        let cell = self.cells.len() as u32;
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
        let factors = factors.iter().map(text).collect::<Map<_, _>>();
        self.cells.push(CellResult { factors, ..CellResult::default() });
        for run in 0..count {
            let outcome = Outcome::Samples(named(&of(run)));
            self.runs.push(RunResult { cell, run, outcome, certificate: None, answered: None });
        }
        self
    }

    /// A cell of `protocol` with the RTT of each run around `centre`.
    fn rtt(self, protocol: &str, centre: f64, reach: f64) -> Results {
        let of = around(centre, reach);
        self.cell(&[("protocol", protocol)], 30, move |run| vec![("rtt_ms", vec![of(run)])])
    }

    fn document(&self) -> Document {
        Document { runs: 30, cells: self.cells.clone(), ..Document::default() }
    }

    fn ask(&self, needs: &[&str]) -> Advice {
        self.try_ask(needs, None).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_ask(&self, needs: &[&str], baseline: Option<&str>) -> Result<Advice, AdviseError> {
        let question = Question {
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            baseline: baseline.map(|text| text.parse::<Baseline>().unwrap()),
            known_metrics: vec!["plt_ms".to_owned()],
        };
        advise(&self.document(), &self.runs, &question)
    }
}

fn named(samples: Samples<'_>) -> BTreeMap<String, Vec<f64>> {
    samples.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect()
}

/// Thirty values around `centre`, evenly spread over `centre` plus and minus `reach`.
fn around(centre: f64, reach: f64) -> impl Fn(u32) -> f64 {
    move |run| centre + reach * (f64::from(run * 7 % 30) - 14.5) / 14.5
}

fn verdicts(advice: &Advice) -> Vec<(&str, Verdict)> {
    advice.cells.iter().map(|cell| (cell.name.as_str(), cell.verdict)).collect()
}

use Verdict::{CannotTell, Fails, Meets};

/// Means of 30, 49.9 and 60 ms with intervals of about 1 ms on each side, compared with 50 ms. The
/// standard error of 30 evenly spread values in +-3 is 3 / sqrt(3) / sqrt(30) = 0.32; times 1.96 it
/// is 0.62.
#[test]
fn the_interval_decides_and_the_best_comes_first() {
    let results = Results::default().rtt("slow", 60.0, 3.0).rtt("close", 49.9, 3.0);
    let results = results.rtt("fast", 30.0, 3.0);
    let advice = results.ask(&["rtt < 50 ms"]);
    assert_eq!(verdicts(&advice), [("fast", Meets), ("close", CannotTell), ("slow", Fails)]);
    let best = advice.best().unwrap();
    assert!(best.reason.starts_with("fast meets it: mean rtt 30 ms [29."), "{}", best.reason);
    assert!(best.reason.ends_with("is below 50 ms"), "{}", best.reason);
    assert!((best.margin.unwrap() - 0.4).abs() < 1e-9);
    assert_eq!(advice.cells.iter().map(|c| c.on_front).collect::<Vec<_>>(), [true, false, false]);
    // The half width is 0.67 (Student's t of 29 degrees), the distance 0.1: about 45 times the
    // runs.
    let close = &advice.cells[1].findings[0];
    let more = close.more_runs.unwrap();
    assert!((900..1_500).contains(&more), "{more}");
    assert!(close.words.contains("more runs might decide it"), "{}", close.words);
    assert!(results.ask(&["rtt < 10 ms"]).best().is_none());
}

/// With 30 samples, little is known about the 99th percentile except that most samples are not
/// above it: enough to fail a need, not to meet it. 368 samples are needed.
#[test]
fn a_quantile_beyond_the_samples_is_not_claimed() {
    let results = Results::default().rtt("fast", 30.0, 3.0);
    let finding = |need: &str| results.ask(&[need]).cells[0].findings[0].clone();
    let open = finding("p99 rtt < 50 ms");
    assert_eq!((open.verdict, open.more_runs), (CannotTell, Some(338)));
    assert!(open.words.contains("30 samples are too few"), "{}", open.words);
    assert_eq!(open.measured.unwrap().high, None);
    assert_eq!(finding("p99 rtt < 30 ms").verdict, Fails);
    assert_eq!(finding("p50 rtt < 50 ms").verdict, Meets);
    assert_eq!(finding("max rtt < 50 ms").verdict, Meets);
}

/// One run in ten that took ten times as long leaves the mean's interval wide, but not below all others.
#[test]
fn an_interval_ends_where_its_metric_does() {
    let of = |run: u32| vec![("rtt_ms", vec![if run == 3 { 1_000.0 } else { 100.0 }])];
    let results = Results::default().cell(&[("protocol", "quic")], 10, of);
    let measured = results.ask(&["rtt < 300 ms"]).cells[0].findings[0].measured.unwrap();
    assert_eq!(measured.low, Some(100.0), "{measured:?}");
    assert!(measured.high.unwrap() > 300.0, "{measured:?}");
}

/// With 100 samples in each of 30 runs it is known.
#[test]
fn a_quantile_of_many_samples_has_an_interval() {
    let of = |run: u32| {
        let samples: Vec<f64> = (0..100).map(|k| f64::from(k) + f64::from(run % 3)).collect();
        vec![("rtt_ms", samples)]
    };
    let results = Results::default().cell(&[("protocol", "quic")], 30, of);
    let advice = results.ask(&["p95 rtt < 110 ms", "p95 rtt > 90 ms"]);
    assert_eq!(advice.cells[0].verdict, Meets, "{advice:#?}");
    let measured = advice.cells[0].findings[0].measured.unwrap();
    assert_eq!((measured.runs, measured.samples), (30, 3_000));
    let [low, high] = [measured.low.unwrap(), measured.high.unwrap()];
    assert!(low < measured.value && measured.value < high && high - low < 5.0, "{measured:?}");
}

/// Verdicts combine as in Kleene's logic: a part that decides is not affected by an undecided one.
#[test]
fn and_and_or_join_verdicts() {
    let results = Results::default().rtt("quic", 50.0, 3.0);
    let verdict = |need: &str| results.ask(&[need]).cells[0].verdict;
    let (yes, no, maybe) = ("rtt < 90 ms", "rtt < 10 ms", "rtt < 50 ms");
    for (need, expected) in [
        (format!("{yes} and {yes}"), Meets),
        (format!("{yes} and {maybe}"), CannotTell),
        (format!("{no} and {maybe}"), Fails),
        (format!("{yes} or {maybe}"), Meets),
        (format!("{no} or {maybe}"), CannotTell),
        (format!("{no} or {no}"), Fails),
        (format!("({no} or {yes}) and {yes}"), Meets),
        (format!("{no} or {yes} and {no}"), Fails),
    ] {
        assert_eq!(verdict(&need), expected, "{need}");
    }
    let both = results.ask(&[yes, no]);
    assert_eq!((both.cells[0].verdict, both.needs.len()), (Fails, 2));
}

#[test]
fn a_count_is_nothing_where_every_run_says_so() {
    let lost =
        |lost: f64| move |run: u32| vec![("lost_count", vec![if run == 3 { lost } else { 0.0 }])];
    let results = Results::default()
        .cell(&[("protocol", "a")], 30, lost(0.0))
        .cell(&[("protocol", "b")], 30, lost(2.0))
        .cell(&[("protocol", "c")], 30, |_| vec![("lost_count", vec![3.0])]);
    let advice = results.ask(&["lost = 0"]);
    assert_eq!(verdicts(&advice), [("a", Meets), ("b", CannotTell), ("c", Fails)]);
    assert!(
        advice.cells[0].reason.ends_with("mean lost 0 [0, 0] is 0"),
        "{}",
        advice.cells[0].reason
    );
    assert_eq!(advice.cells.iter().map(|c| c.on_front).collect::<Vec<_>>(), [true, true, false]);
}

/// The frame rate without a protocol is the baseline of every cell with one; each run has its own
/// frame rate, and the comparison is paired by run.
#[test]
fn cells_are_compared_with_their_baseline_run_by_run() {
    let fps =
        |share: f64| move |run: u32| vec![("fps", vec![(2.0 + 0.1 * f64::from(run % 10)) * share])];
    let results = Results::default()
        .cell(&[("protocol", "none"), ("cipher", "none"), ("threads", "1")], 30, fps(1.0))
        .cell(&[("protocol", "none"), ("cipher", "none"), ("threads", "4")], 30, fps(4.0))
        .cell(&[("protocol", "mqtt"), ("cipher", "aes"), ("threads", "1")], 30, fps(0.98))
        .cell(&[("protocol", "http3"), ("cipher", "aes"), ("threads", "1")], 30, fps(0.95))
        .cell(&[("protocol", "http3"), ("cipher", "aes"), ("threads", "4")], 30, fps(3.9));
    let advice = results.ask(&["fps >= 0.97 baseline"]);
    assert_eq!(
        verdicts(&advice),
        [("mqtt aes 1", Meets), ("http3 aes 4", Meets), ("http3 aes 1", Fails)]
    );
    assert_eq!(advice.baselines, [0, 1]);
    let baselines: Vec<_> = advice.cells.iter().map(|cell| cell.findings[0].baseline).collect();
    assert_eq!(baselines, [Some(0), Some(1), Some(0)]);
    // Paired by run, 0.98 is above 0.97, although the intervals of both means overlap widely.
    let mqtt = &advice.cells[0];
    assert!(mqtt.reason.contains("is at least 0.97 of the 2.45 of none none 1"), "{}", mqtt.reason);
    assert!((mqtt.margin.unwrap() - 0.01 / 0.97).abs() < 1e-9);
}

/// A baseline may be in a separate part of the scenario, where the load does not exist.
#[test]
fn a_baseline_may_stand_in_another_part() {
    let fps = |fps: f64| move |run: u32| vec![("fps", vec![fps + 0.001 * f64::from(run)])];
    let results = Results::default()
        .cell(&[("part", "low"), ("protocol", "mqtt"), ("rate", "1")], 10, fps(2.95))
        .cell(&[("part", "high"), ("protocol", "mqtt"), ("rate", "100")], 10, fps(2.0))
        .cell(&[("part", "alone"), ("protocol", "none")], 10, fps(3.0));
    let advice = results.ask(&["fps >= 0.97 baseline"]);
    assert_eq!(verdicts(&advice), [("low mqtt 1", Meets), ("high mqtt 100", Fails)]);
    assert_eq!(advice.baselines, [2]);
}

#[test]
fn a_baseline_can_be_chosen() {
    let results = Results::default().rtt("http2", 50.0, 3.0).rtt("quic", 30.0, 3.0);
    let advice = results.try_ask(&["rtt < 0.8 baseline"], Some("protocol=http2")).unwrap();
    assert_eq!(verdicts(&advice), [("quic", Meets)]);
    assert_eq!(advice.baselines, [0]);
    let none = results.ask(&["rtt < 0.8 baseline"]);
    assert_eq!(none.cells[0].verdict, CannotTell);
    assert!(none.cells[0].reason.contains("no baseline"), "{}", none.cells[0].reason);
    for (text, expected) in [
        ("protocol=tcp", "no cell has protocol = tcp; available: http2, quic"),
        ("cipher=none", "no cell has a factor \"cipher\"; available: protocol"),
    ] {
        let error = results.try_ask(&["rtt < baseline"], Some(text)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!("protocol".parse::<Baseline>().is_err());
}

#[test]
fn few_runs_failed_runs_and_missing_metrics_give_no_verdict() {
    let few = |count| {
        let of = |_: u32| vec![("rtt_ms", vec![10.0])];
        Results::default().cell(&[("protocol", "quic")], count, of)
    };
    let advice = few(5).ask(&["rtt < 50 ms"]);
    assert_eq!(advice.cells[0].verdict, CannotTell);
    assert_eq!(advice.cells[0].findings[0].more_runs, Some(1));
    assert_eq!(few(6).ask(&["rtt < 50 ms"]).cells[0].verdict, Meets);

    let mut failing = few(10);
    failing.cells[0].failed = 2;
    let advice = failing.ask(&["rtt < 50 ms"]);
    assert_eq!(advice.cells[0].verdict, CannotTell);
    assert!(advice.cells[0].reason.contains("2 runs failed"), "{}", advice.cells[0].reason);
    assert_eq!(failing.ask(&["rtt < 5 ms"]).cells[0].verdict, Fails);

    let results = few(6).cell(&[("protocol", "tcp")], 6, |_| vec![("cpu_percent", vec![1.0])]);
    let advice = results.ask(&["rtt < 50 ms and cpu < 50 %"]);
    assert!(advice.cells.iter().all(|cell| cell.verdict == CannotTell && !cell.on_front));
    assert!(matches!(Results::default().try_ask(&["rtt < 1 s"], None), Err(AdviseError::NoRuns)));
    assert!(matches!(few(6).try_ask(&[], None), Err(AdviseError::NoNeed)));
    assert!(matches!(few(6).try_ask(&["rt <"], None), Err(AdviseError::Need(_))));
}

/// Cells that are best in one of two quantities are both on the front; a cell that is worse than
/// another in both is not.
#[test]
fn the_front_is_over_everything_that_is_needed() {
    let cell = |results: Results, name: &str, rtt: f64, fps: f64| {
        results.cell(&[("protocol", name)], 30, move |run| {
            let noise = f64::from(run % 5) * 0.01;
            vec![("rtt_ms", vec![rtt + noise]), ("fps", vec![fps + noise])]
        })
    };
    let results = cell(Results::default(), "a", 10.0, 2.0);
    let results = cell(results, "b", 20.0, 3.0);
    let advice = cell(results, "c", 25.0, 2.5).ask(&["rtt < 50 ms", "fps > 1"]);
    let on: BTreeMap<&str, bool> =
        advice.cells.iter().map(|cell| (cell.name.as_str(), cell.on_front)).collect();
    assert_eq!(on, BTreeMap::from([("a", true), ("b", true), ("c", false)]));
    let objectives: Vec<_> =
        advice.objectives.iter().map(|o| (o.quantity.as_str(), o.less_is_better)).collect();
    assert_eq!(objectives, [("mean rtt", true), ("mean fps", false)]);
    // The margin is the smaller of both: 0.8 of the bound on rtt for a, 0.6 for b, 0.5 for c.
    let order: Vec<&str> = advice.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

/// At each of two losses one protocol is compared with the other.
#[test]
fn what_holds_under_every_condition_is_named() {
    let cell = |results: Results, protocol, loss, centre: f64| {
        let factors = [("protocol", protocol), ("loss", loss)];
        results.cell(&factors, 30, move |run| vec![("rtt_ms", vec![around(centre, 3.0)(run)])])
    };
    let answer = |slow: f64| {
        let results = cell(Results::default(), "quic", "0 %", 30.0);
        let results = cell(cell(results, "http2", "0 %", 31.0), "quic", "1 %", slow);
        let results = cell(results, "http2", "1 %", 90.0);
        let mut document = results.document();
        document.differences = [(1, 0), (3, 2)]
            .map(|(cell, against)| {
                let difference = serde_json::json!({
                    "metric": "rtt_ms", "cell": cell, "against": against, "mean": 1.0,
                    "ci95": [0.5, 1.5], "percent": 1.0, "n": 30, "verdict": "higher",
                });
                serde_json::from_value(difference).unwrap()
            })
            .to_vec();
        let question = Question { needs: vec!["rtt < 50 ms".to_owned()], ..Question::default() };
        advise(&document, &results.runs, &question).unwrap().answer
    };
    let found = answer(40.0);
    assert!(found.ends_with("Under all 2 conditions (loss): quic."), "{found}");
    let found = answer(80.0);
    let none = "No choice certainly meets it under all 2 conditions (loss); http2 and quic do under 1 each.";
    assert!(found.ends_with(none), "{found}");
}

/// The true value is exactly at the bound, so each verdict is wrong in one direction. Looks after 30 runs and half as many
/// more each time, up to 500, until there is a verdict. Runs have four values, with half of their variance in common.
/// 1,000 campaigns: the standard error is 0.5 points. If the bound is 10 % off, at least 95 % are decided.
#[test]
fn verdicts_over_many_looks_err_in_five_of_two_hundred_in_each_direction() {
    let names = Names::new(["rtt_ms"], [""; 0]);
    let looks = Looks::new(30, 500).unwrap().by_halves();
    let mut rng = Seed::of_run(9, 0).stream("looks");
    let mut decide = |quantity: &str, bound: f64| -> Verdict {
        let need = Need::parse(&format!("{quantity} rtt < {bound} ms"), &names).unwrap();
        let mut runs = Vec::new();
        let verdicts = looks.counts().enumerate().map(|(look, len)| {
            runs.resize_with(len, || {
                let common = rng.normal();
                let value = |_| (0.3 * 0.5_f64.sqrt() * (common + rng.normal())).exp();
                named(&[("rtt_ms", (0..4).map(value).collect())])
            });
            need.judge(runs.iter(), look_error(look as u32) / 2.0).0
        });
        verdicts.into_iter().find(|verdict| *verdict != CannotTell).unwrap_or(CannotTell)
    };
    // Of e^(0.3 z): the 90 % quantile, and the mean.
    for (quantity, value) in [("p90", (0.3 * 1.281_552_f64).exp()), ("mean", 0.045_f64.exp())] {
        let found: Vec<Verdict> = (0..1_000).map(|_| decide(quantity, value)).collect();
        let wrong = [Meets, Fails].map(|kind| found.iter().filter(|found| **found == kind).count());
        assert!(wrong.iter().all(|wrong| *wrong <= 40), "{quantity}: {wrong:?} of 1,000");
        let found = (0..100).filter(|_| decide(quantity, 1.1 * value) == Meets).count();
        assert!(found >= 95, "{quantity}: {found} of 100");
    }
}
