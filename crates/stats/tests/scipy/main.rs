//! Compares our statistics with SciPy and NumPy, on the data of `reference.txt`, written by
//! `reference.py`. If Python has SciPy, the table itself is checked too; Python comes from the
//! active virtual environment, from `TRACKBED_PYTHON`, or from `PATH`.
#![forbid(unsafe_code)]

#[path = "../../../../tests/src/programs.rs"]
mod programs;
mod table;

use std::path::Path;
use std::process::{Command, Stdio};

use table::{Line, Table, assert_near};
use trackbed_stats::{
    Better, Bootstrap, Comparison, Terms, compare_paired, compare_unpaired, mean_interval,
    order_statistics,
};

const COMMITTED: &str = include_str!("reference.txt");

#[test]
fn quantiles_are_numpys() {
    let table = Table::new(COMMITTED);
    for line in table.lines("quantile") {
        let found = table.sample(line.name(0)).quantile(line.number(1)).unwrap();
        assert_near(line, found, line.number(2), 1e-12);
    }
}

/// In Python the end that skewness moves is found by a search; ours is solved for.
#[test]
fn intervals_of_means_are_what_a_search_finds() {
    let table = Table::new(COMMITTED);
    for line in table.lines("mean") {
        let ends = mean_interval(table.sample(line.name(0)), line.number(1)).unwrap();
        line.assert_ends(2, ends, 1e-9);
    }
}

/// SciPy's t: equal to ours for symmetric values, and never wider.
#[test]
fn intervals_of_means_reach_as_far_as_students() {
    let table = Table::new(COMMITTED);
    for line in table.lines("student") {
        let [low, high] = mean_interval(table.sample(line.name(0)), line.number(1)).unwrap();
        assert!(low <= line.number(2) + 1e-9 && high >= line.number(3) - 1e-9, "{line:?}");
        if line.name(0) == "symmetric" {
            line.assert_ends(2, [low, high], 1e-9);
        }
    }
}

/// `quantile_test` has no end where ours is open.
#[test]
fn intervals_of_quantiles_are_scipys() {
    let table = Table::new(COMMITTED);
    for line in table.lines("order") {
        let found = order_statistics(table.sample(line.name(0)), line.number(1)).unwrap();
        for (place, end) in [(2, found.low), (3, found.high)] {
            match end {
                Some(end) => assert_near(line, end, line.number(place), 1e-12),
                None => assert!(line.number(place).is_nan(), "{line:?}"),
            }
        }
    }
}

/// Random interval ends: within a twentieth of the interval's width.
#[test]
fn bootstrap_intervals_are_scipys_but_for_chance() {
    let table = Table::new(COMMITTED);
    let bootstrap = Bootstrap::default().with_resamples(20_000);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // As in NumPy, with n in the divisor.
    let deviation = |values: &[f64]| {
        let centre = mean(values);
        mean(&values.iter().map(|x| (x - centre) * (x - centre)).collect::<Vec<f64>>()).sqrt()
    };
    for line in table.lines("bca") {
        let sample = table.sample(line.name(0));
        let ends = match line.name(1) {
            "mean" => bootstrap.ci95(sample, mean),
            _ => bootstrap.ci95(sample, deviation),
        };
        let width = line.number(3) - line.number(2);
        line.assert_ends(2, ends.unwrap(), 0.05 * width / line.number(3));
    }
}

#[test]
fn comparisons_are_what_a_search_finds() {
    let table = Table::new(COMMITTED);
    for paired in [true, false] {
        for line in table.lines(if paired { "paired" } else { "unpaired" }) {
            let found = compared(&table, line.name(0), line.name(1), paired);
            assert_near(line, found.p_value, line.number(2), 1e-7);
            line.assert_ends(3, found.difference_interval, 1e-8);
            line.assert_ends(5, found.ratio.unwrap().interval, 1e-8);
        }
    }
    for line in table.lines("margins") {
        let found = compared(&table, line.name(0), line.name(1), line.name(2) == "paired");
        let regression = found.regression.unwrap();
        let expected = [3, 4, 5].map(|place| line.number(place));
        let p_values = [found.p_equivalent, regression.p_no_worse, regression.p_worse];
        for (found, expected) in p_values.into_iter().zip(expected) {
            // Below this, pairs are limited by the sign test.
            assert_near(line, found, expected.max(2.0_f64.powi(-30)), 1e-7);
        }
    }
}

/// Distribution-free tests (permutations, Wilcoxon's and Mann and Whitney's) and Student's or
/// Welch's agree on the magnitude; and none of our p-values is below Student's.
#[test]
fn p_values_have_the_magnitude_of_other_tests() {
    let table = Table::new(COMMITTED);
    for line in table.lines("chance") {
        let found = compared(&table, line.name(0), line.name(1), line.name(2) == "paired").p_value;
        let [permuted, ranks, student] = [3, 4, 5].map(|place| line.number(place));
        assert!(found >= student * (1.0 - 1e-7), "{line:?} {found}");
        if found < 1e-3 {
            assert!(permuted < 5e-3 && ranks < 5e-3, "{line:?} {found}");
        } else {
            assert!((0.7..1.5).contains(&(found / permuted)), "{line:?} {found}");
        }
    }
}

/// SciPy's two one-sided t tests at a margin of 3 %: equal to ours for symmetric values, and ours
/// is never smaller.
#[test]
fn equivalence_is_no_surer_than_two_one_sided_t_tests() {
    let table = Table::new(COMMITTED);
    for line in table.lines("tost") {
        let found = compared(&table, line.name(0), line.name(1), true).p_equivalent;
        assert!(found >= line.number(2) * (1.0 - 1e-7), "{line:?} {found}");
        if line.name(0) == "level" {
            assert_near(line, found, line.number(2), 1e-7);
        }
    }
}

/// The table matches the installed SciPy; resampled values within a tenth.
#[test]
fn the_table_is_scipys() {
    let Some(python) = programs::python(&["scipy"]) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scipy/reference.py");
    let output = Command::new(python).arg(script).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the reference failed: {}", output.status);
    let fresh = String::from_utf8(output.stdout).unwrap();
    let (fresh, committed) = (Table::new(&fresh), Table::new(COMMITTED));
    assert_eq!(fresh.all().len(), committed.all().len());
    for (fresh, committed) in fresh.all().iter().zip(committed.all()) {
        let resampled = ["bca", "chance"].contains(&committed.question());
        fresh.assert_is(committed, if resampled { 0.1 } else { 1e-6 });
    }
}

fn compared(table: &Table, first: &str, second: &str, paired: bool) -> Comparison {
    let terms = Terms { better: Some(Better::Lower), ..Terms::default() };
    let [first, second] = [first, second].map(|name| table.runs(name));
    match paired {
        true => compare_paired(&first, &second, &terms),
        false => compare_unpaired(&first, &second, &terms),
    }
    .unwrap()
}

impl Line<'_> {
    fn assert_ends(&self, place: usize, ends: [f64; 2], tolerance: f64) {
        assert_near(self, ends[0], self.number(place), tolerance);
        assert_near(self, ends[1], self.number(place + 1), tolerance);
    }
}
