//! Small campaigns whose summaries can be computed by hand.

use super::*;
use trackbed_scenario::{self as scenario, Override, PART, Plan, Source};

fn cells(plan: &Plan, runs: &[RunResult]) -> Vec<CellResult> {
    let counted = Counted { plan, results: &runs.to_vec(), keep_invalid: false };
    let summed = super::cells(counted, |_, _| Vec::new()).unwrap();
    summed.into_iter().map(|summed| summed.cell).collect()
}

fn differences(plan: &Plan, cells: &[CellResult], runs: &[RunResult]) -> Vec<Difference> {
    let counted = Counted { plan, results: &runs.to_vec(), keep_invalid: false };
    super::differences(counted, cells, UsefulDifference::default()).unwrap()
}

/// Two protocols; with `sweep`, for each of two losses.
fn plan(sweep: bool, runs: u32) -> Plan {
    let mut settings = vec!["protocol=quic,tcp".to_owned(), format!("runs={runs}")];
    settings.extend(["tls=1.3", "handshake=new"].map(str::to_owned));
    if sweep {
        settings.push("link.loss=0,1%".to_owned());
    }
    let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
    scenario::load(&Source::named("vru"), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn run(cell: u32, run: u32, metrics: &[(&str, &[f64])]) -> RunResult {
    let samples = metrics.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
    RunResult::new(cell, run, Outcome::Samples(samples.collect()))
}

fn failed(cell: u32, run: u32, reason: &str) -> RunResult {
    RunResult::new(cell, run, Outcome::Failed(reason.to_owned()))
}

/// One completion time for each run of each cell.
fn campaign(times: &[&[f64]]) -> Vec<RunResult> {
    let of_cell = |(cell, times): (usize, &&[f64])| {
        let run =
            move |(k, ms): (usize, &f64)| run(cell as u32, k as u32, &[("completion_ms", &[*ms])]);
        times.iter().enumerate().map(run).collect::<Vec<_>>()
    };
    times.iter().enumerate().flat_map(of_cell).collect()
}

#[test]
fn the_mean_is_over_runs_and_quantiles_over_samples() {
    let plan = plan(false, 2);
    let runs = [
        run(0, 1, &[("rtt_ms", &[50.0])]),
        run(0, 0, &[("rtt_ms", &[10.0, 20.0, 30.0])]),
        failed(1, 0, "lost"),
        failed(1, 1, "lost"),
    ];
    let cells = cells(&plan, &runs);
    let rtt = &cells[0].metrics["rtt_ms"];
    // Run 0 has mean 20, run 1 has 50: 35. All samples are 10, 20, 30, 50.
    assert_eq!((rtt.mean, rtt.n, rtt.samples), (35.0, 2, 4));
    assert_eq!((rtt.min, rtt.p50, rtt.max), (10.0, 25.0, 50.0));
    // Of two values Student's t has one degree of freedom: 12.706 times half of what they differ by.
    let reach = 12.706 * 15.0;
    // The other end would be at -155.6 ms, which no time is.
    assert!(rtt.ci95[0] == 0.0 && rtt.ci95[1] >= 35.0 + reach - 0.1, "{rtt:?}");
    assert_eq!(cells[0].failed, 0);
    assert!(cells[1].metrics.is_empty());
    assert_eq!(
        (cells[1].failed, &cells[1].failures),
        (2, &vec![Failure { run: 0, count: 2, reason: "lost".to_owned() }])
    );
}

#[test]
fn differences_are_between_runs_of_the_same_number() {
    let plan = plan(false, 6);
    // Cell 1 always takes 5 ms longer, although the runs differ far more than that.
    let first = [10.0, 90.0, 20.0, 80.0, 30.0, 70.0];
    let second = first.map(|ms| ms + 5.0);
    let runs = campaign(&[&first, &second]);
    let differences = differences(&plan, &cells(&plan, &runs), &runs);
    let [difference] = &differences[..] else { panic!("{differences:?}") };
    assert_eq!((difference.cell, difference.against, difference.n), (1, 0, 6));
    assert_eq!((difference.mean, difference.ci95), (5.0, [5.0, 5.0]));
    assert_eq!(difference.percent, Some(10.0));
    assert_eq!(difference.verdict, Verdict::Higher);
}

#[test]
fn five_runs_give_no_verdict_and_equal_ones_are_called_so() {
    let five = plan(false, 5);
    let runs = campaign(&[&[10.0; 5], &[15.0; 5]]);
    assert_eq!(differences(&five, &cells(&five, &runs), &runs)[0].verdict, Verdict::Undecided);
    let runs = campaign(&[&[10.0; 5], &[10.0; 5]]);
    assert_eq!(differences(&five, &cells(&five, &runs), &runs)[0].verdict, Verdict::Equal);
}

#[test]
fn each_condition_has_a_best_cell_of_its_own() {
    let plan = plan(true, 1);
    let factor = |cell: usize, name: &str| plan.cells[cell].factors.iter().find(|(n, _)| n == name);
    assert_eq!(plan.conditions, ["loss"]);
    assert_eq!(plan.cells.len(), 4);
    assert_eq!(factor(0, "loss"), factor(2, "loss"));
    // quic wins without loss, tcp with it.
    let runs = campaign(&[&[10.0], &[40.0], &[20.0], &[30.0]]);
    let found = differences(&plan, &cells(&plan, &runs), &runs);
    let pairs: Vec<(u32, u32, f64)> = found.iter().map(|d| (d.cell, d.against, d.mean)).collect();
    assert_eq!(pairs, [(2, 0, 10.0), (1, 3, 10.0)]);
}

#[test]
fn where_only_conditions_differ_cells_are_compared_within_their_part() {
    let plan = scenario::load(&Source::named("v2x"), &[]).unwrap();
    let runs: Vec<RunResult> = (0..plan.cells.len() as u32)
        .map(|cell| match part(&plan, cell).as_str() {
            "threads" | "splits" => run(cell, 0, &[("signature_rate_hz", &[f64::from(cell)])]),
            _ => run(cell, 0, &[("verdict_ms", &[1.0]), ("signature_rate_hz", &[1e6])]),
        })
        .collect();
    let found = differences(&plan, &cells(&plan, &runs), &runs);
    assert!(found.iter().all(|d| part(&plan, d.cell) == part(&plan, d.against)));
    // The best of a part verifies the most, whatever other parts have.
    let is_last = |cell: &u32| part(&plan, *cell) == "splits";
    let last = (0..plan.cells.len() as u32).rev().find(is_last).unwrap();
    let rates = found.iter().filter(|d| d.metric == "signature_rate_hz" && d.against == last);
    let behind = [3, 2, 1].map(|by| (last - by, -f64::from(by)));
    assert_eq!(rates.map(|d| (d.cell, d.mean)).collect::<Vec<_>>(), behind);
}

fn part(plan: &Plan, cell: u32) -> String {
    let factors = &plan.cells[cell as usize].factors;
    let part = factors.iter().find(|(name, _)| name == PART);
    part.map(|(_, value)| value.to_string()).unwrap_or_default()
}

#[test]
fn a_cell_with_failed_runs_is_not_the_best() {
    let plan = plan(false, 2);
    let mut runs = campaign(&[&[10.0, 10.0], &[1.0]]);
    runs.push(failed(1, 1, "lost"));
    let found = differences(&plan, &cells(&plan, &runs), &runs);
    assert_eq!((found[0].cell, found[0].against, found[0].n), (1, 0, 1));
    assert_eq!(found[0].mean, -9.0);
}

#[test]
fn more_throughput_is_better() {
    let plan = plan(false, 1);
    let runs =
        [run(0, 0, &[("throughput_mbps", &[10.0])]), run(1, 0, &[("throughput_mbps", &[20.0])])];
    let found = differences(&plan, &cells(&plan, &runs), &runs);
    assert_eq!((found[0].cell, found[0].against, found[0].mean), (0, 1, -10.0));
}

#[test]
fn results_do_not_depend_on_the_order_in_which_runs_end() {
    let plan = plan(true, 3);
    let mut runs = campaign(&[&[1.0, 5.0, 3.0], &[2.0, 9.0, 4.0], &[7.0, 1.5, 2.5], &[3.0; 3]]);
    let (one, two) = (cells(&plan, &runs), differences(&plan, &cells(&plan, &runs), &runs));
    runs.reverse();
    assert_eq!(cells(&plan, &runs), one);
    assert_eq!(differences(&plan, &one, &runs), two);
}

/// One run of eight took long: the interval of the mean would reach below zero.
#[test]
fn intervals_end_where_values_cannot_be() {
    let plan = plan(false, 8);
    let times: Vec<f64> =
        (0..8).map(|k| if k == 0 { 1_000.0 } else { 100.0 + f64::from(k) }).collect();
    let mut runs = campaign(&[&times, &times]);
    for run in &mut runs {
        let Outcome::Samples(samples) = &mut run.outcome else { panic!("none failed") };
        samples.insert("resumed_ratio".to_owned(), vec![if run.run == 0 { 0.2 } else { 1.0 }]);
        samples.insert("temperature_celsius".to_owned(), vec![f64::from(run.run) - 3.0]);
    }
    let cells = cells(&plan, &runs);
    let interval = |name: &str| cells[0].metrics[name].ci95;
    assert_eq!(interval("completion_ms")[0], 0.0);
    assert!(
        interval("completion_ms")[1] > 400.0,
        "the other end stays: {:?}",
        interval("completion_ms")
    );
    assert_eq!(interval("resumed_ratio")[1], 1.0);
    assert!(interval("temperature_celsius")[0] < 0.0, "it may freeze");
}

/// Thirty runs of which one waited for a second: Student's interval begins 35 ms below the others.
#[test]
fn the_interval_of_a_mean_does_not_begin_below_the_fastest_run() {
    let values: Vec<Vec<f64>> =
        (0..30).map(|run| vec![if run == 7 { 1_102.0 } else { 102.0 }]).collect();
    let runs: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let [low, high] = metric_summary("completion_ms", &runs).unwrap().ci95;
    assert_eq!(low, 102.0);
    assert!(high > 250.0, "{high}");
    // Few runs do not show where the values end.
    let few = metric_summary("completion_ms", &runs[5..11]).unwrap();
    assert!(few.ci95[0] < 102.0, "{few:?}");
}

/// Of 20,000 sets of ten, at most one in two hundred loses its mean at a limit: normal and exponential values.
#[test]
fn the_limits_of_a_mean_hardly_ever_leave_it_out() {
    let mut rng = trackbed_core::Seed::of_run(1, 0).stream("limits");
    for (is_normal, truth) in [(true, 0.0), (false, 1.0)] {
        let mut draw = || if is_normal { rng.normal() } else { rng.exponential() };
        let is_lost = |_: &u32| {
            let sample = Sample::new(&(0..10).map(|_| draw()).collect::<Vec<f64>>()).unwrap();
            let [least, most] = limits(&sample, [f64::NEG_INFINITY, f64::INFINITY]);
            truth < least || truth > most
        };
        let lost = (0..20_000).filter(is_lost).count();
        assert!(lost < 100, "{lost}, normal: {is_normal}");
    }
}
