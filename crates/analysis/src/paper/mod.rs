//! Compares a study's statements with our runs of its scenario.

mod chart;
mod dependence;
mod edge;
mod estimate;
mod held;
mod outcome;
mod over_settings;
mod over_time;
mod reference;
mod statement;
mod unknowns;
mod verdict;

use std::collections::BTreeMap;

use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Document};
use trackbed_measure::timeline::Timeline;

pub use dependence::{StatementOver, UnknownsDocument};
pub use edge::{Figure, Place, Printed, devices};
pub use estimate::MANY;
use estimate::Ours;
pub use held::PaperDocument;
pub use outcome::{Setting, Verdict};
pub use over_settings::{FoundThere, InSetting, OverSettings, OverVerdict};
pub use reference::{Given, Unknown};
use reference::{Reference, ReferenceFigure, ReferenceStatement};
pub use statement::{Chart, Curve, Held, Point, Statement};
use trackbed_archive::{Counted, DirectoryError, Results};
use trackbed_scenario::papers::{self, PAPERS};
use trackbed_scenario::{Cell, PART, Plan};
pub use unknowns::{Choice, Unknowns};

/// Compares the paper called `name` with the runs of `plan`, summarised in `document`; `None` if
/// there is no such paper. Runs for which the machine was too slow count if `keep_invalid`.
///
/// # Errors
/// If the results cannot be read.
pub fn hold(
    name: &str,
    plan: &Plan,
    document: &Document,
    results: &dyn Results,
    keep_invalid: bool,
) -> Result<Option<Held>, DirectoryError> {
    let Some(reference) = reference(name) else { return Ok(None) };
    let counted = Counted { plan, results, keep_invalid };
    let unknowns = Unknowns::of(name);
    let over = |id: &str| {
        let unknowns = unknowns.as_ref()?;
        unknowns.over(unknowns.stored(), id)
    };
    let mut held = compare(reference, &document.cells, &Ours { counted }, &over)?;
    held.model = document.model.clone();
    if name == papers::EDGE {
        edge::add(&mut held, document, &counted.all()?);
    }
    Ok(Some(held))
}

/// The parts of the scenario that the statements and figures of the paper called `name` refer to;
/// empty if it has no parts.
pub fn parts(name: &str) -> Vec<String> {
    let Some(reference) = reference(name) else { return Vec::new() };
    let Reference { statement, figure, over_time, .. } = reference;
    let of_statements = statement.iter().flat_map(|one| [Some(&one.cell), one.against.as_ref()]);
    let of_figures = figure.iter().flat_map(|one| [Some(&one.cell), one.against.as_ref()]);
    let of_runs = over_time.iter().flat_map(|one| &one.curve).map(|curve| Some(&curve.cell));
    let cells = of_statements.chain(of_figures).chain(of_runs).flatten();
    distinct(cells.filter_map(|cell| cell.factor(PART)))
}

/// The cells of `plan` to which statements of the paper called `name` need more runs than it gives them, and
/// how many.
pub fn more_runs(name: &str, plan: &Plan) -> BTreeMap<u32, u32> {
    let needs = reference(name).map(|reference| reference.runs).unwrap_or_default();
    let least = |cell: &Cell| {
        let needs = needs.iter().filter(|need| need.cell.fits_planned(cell));
        needs.map(|need| need.least).max().filter(|least| *least > cell.runs)
    };
    (0..).zip(&plan.cells).filter_map(|(index, cell)| Some((index, least(cell)?))).collect()
}

/// Why the quick form of the scenario of the paper called `name` cannot judge its statements, if it cannot.
pub fn quick(name: &str) -> Option<String> {
    reference(name)?.quick
}

/// The study's figures of single runs, for the paper called `name`: `repeat` repeats a run, given
/// its cell and run number.
pub fn over_time(
    name: &str,
    document: &Document,
    repeat: impl Fn(usize, u32) -> Option<Timeline>,
) -> Vec<Chart> {
    let figures = reference(name).map(|reference| reference.over_time).unwrap_or_default();
    over_time::charts(figures, &document.cells, repeat)
}

fn reference(name: &str) -> Option<Reference> {
    PAPERS.iter().find(|(paper, _)| *paper == name).map(|(_, text)| Reference::parse(text))
}

/// What a statement comes to over settings.
type Over<'a> = dyn Fn(&str) -> Option<OverSettings> + 'a;

fn compare(
    reference: Reference,
    cells: &[CellResult],
    ours: &Ours<'_>,
    over: &Over<'_>,
) -> Result<Held, DirectoryError> {
    let Reference { title, statement, figure, .. } = reference;
    let names = statement.iter().filter_map(|statement| statement.metric.clone());
    let names = names.chain(figure.iter().map(|figure: &ReferenceFigure| figure.metric.clone()));
    let definition = |name: String| Some((name.clone(), metrics::find(&name)?.help.to_owned()));
    let definitions = names.filter_map(definition).collect();
    let each = statement.iter().flat_map(ReferenceStatement::each);
    Ok(Held {
        title,
        statements: each.map(|statement| judge(statement, ours, over)).collect::<Result<_, _>>()?,
        charts: figure
            .into_iter()
            .map(|figure| chart::chart(figure, cells, ours))
            .collect::<Result<_, _>>()?,
        definitions,
        ..Held::default()
    })
}

/// The verdict of the runs on a statement.
fn judge(
    statement: ReferenceStatement,
    ours: &Ours<'_>,
    over: &Over<'_>,
) -> Result<Statement, DirectoryError> {
    let is_judged = statement.not_testable.is_none();
    let over_settings = over(&statement.id_and_place()).filter(|_| is_judged);
    let (says, found) = (statement.says(), ours.found(&statement)?);
    let (verdict, runs_needed) = match (says, found) {
        _ if statement.not_testable.is_some() => (Verdict::NotTestable, None),
        (Some(says), Some(found)) => says.verdict(found),
        _ => (Verdict::NotRun, None),
    };
    let why = statement.why.filter(|_| verdict.differs());
    let reasons = [statement.not_testable, why, statement.chosen];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    let is_difference = statement.against.is_some();
    Ok(Statement {
        says: says.map_or_else(String::new, |says| says.words()),
        study: says.and_then(|says| says.number()),
        unit: match statement.metric {
            Some(metric) if !is_difference => metric,
            _ => "%".to_owned(),
        },
        ours: found.map(|found| found.value),
        ci95: found.and_then(|found| found.ci95),
        runs: found.map_or(0, |found| found.runs),
        verdict,
        runs_needed,
        over_settings,
        why: (!reasons.is_empty()).then(|| reasons.join(" ")),
        evidence: statement.evidence.filter(|_| !reasons.is_empty()),
        id: statement.id,
        source: statement.source,
        text: statement.text,
        setting: statement.setting,
    })
}

#[cfg(test)]
mod tests {
    use trackbed_measure::metrics;
    use trackbed_measure::results::{CellResult, Certificate, Outcome, Reliability, RunResult};

    use super::reference::Selector;
    use super::*;
    use trackbed_measure::results::VIRTUAL;
    use trackbed_scenario::{self as scenario, Override, Source};

    /// The runs of a plan in virtual time.
    pub(super) fn document_of(plan: &Plan, runs: &[RunResult]) -> Document {
        let origin = crate::Origin { substrate: VIRTUAL.to_owned(), ..crate::Origin::default() };
        crate::document(plan, &origin, &runs.to_vec(), false).unwrap()
    }

    /// The cells of a plan without any runs.
    pub(super) fn document_of_nothing(plan: &Plan) -> Document {
        document_of(plan, &[])
    }

    /// Every statement and figure refers to a cell of its scenario and to an existing metric, so
    /// that no typo leaves one unmeasured.
    #[test]
    fn every_reference_is_about_cells_of_its_scenario() {
        for (name, text) in PAPERS {
            let reference = Reference::parse(text);
            // `trackbed paper` adds the devices of this study as an axis.
            let devices = "inference.device=raspberry-pi-5,jetson-orin-nano".parse::<Override>();
            let devices: Vec<Override> =
                devices.into_iter().filter(|_| name == papers::EDGE).collect();
            let plan = scenario::load(&Source::named(name), &devices).unwrap();
            assert_eq!(plan.paper.as_deref(), Some(name));
            let cells = document_of_nothing(&plan).cells;
            let known = |selector: &Selector| {
                assert!(selector.find(&cells).is_some(), "{name}: no cell {selector}");
            };
            let metric = |metric: &str| assert!(metrics::find(metric).is_some(), "{metric}");
            for figure in &reference.figure {
                figure.curve.iter().map(|curve| &curve.cell).chain([&figure.cell]).for_each(known);
                metric(&figure.metric);
                for printed in &figure.printed {
                    let curve = Selector::of(&figure.curves, &printed.curve);
                    known(&figure.cell.with(&curve).with(&Selector::of(&figure.x, &printed.x)));
                }
            }
            let of_runs = reference.over_time.iter().flat_map(|figure| &figure.curve);
            of_runs.for_each(|curve| known(&curve.cell));
            for statement in reference.statement.iter().flat_map(ReferenceStatement::each) {
                let Some(_) = statement.says() else {
                    assert!(statement.not_testable.is_some(), "{}", statement.id);
                    continue;
                };
                let places = statement.beyond.iter().chain(&statement.over).cloned();
                let places: Vec<Selector> = places.chain([Selector::default()]).collect();
                for place in &places[..places.len() - usize::from(!statement.over.is_empty())] {
                    for selector in [Some(&statement.cell), statement.against.as_ref()] {
                        selector.iter().for_each(|selector| known(&selector.with(place)));
                    }
                }
                metric(statement.metric.as_deref().unwrap_or_default());
            }
        }
    }

    /// Where the scenario makes too few runs for a statement, its cells get more, and no other cell does.
    #[test]
    fn statements_get_the_runs_that_they_need() {
        for (name, text) in PAPERS {
            let plan = scenario::load(&Source::named(name), &[]).unwrap();
            let more = more_runs(name, &plan);
            for need in Reference::parse(text).runs {
                let fitting = |cell: &u32| need.cell.fits_planned(&plan.cells[*cell as usize]);
                let mut raised = more.iter().filter(|(cell, _)| fitting(cell));
                assert!(raised.any(|(_, runs)| *runs == need.least), "{name}: {}", need.cell);
            }
        }
        let web = scenario::load(&Source::named("web"), &[]).unwrap();
        let more = more_runs("web", &web);
        let loss = |cell: u32| {
            let factors = &web.cells[cell as usize].factors;
            factors.iter().find(|(name, _)| *name == "loss").unwrap().1.to_string()
        };
        let mut raised: Vec<(String, u32)> =
            more.into_iter().map(|(cell, runs)| (loss(cell), runs)).collect();
        raised.sort();
        // The two protocols that the statements compare.
        let expected = [("0.02", 4_000), ("0.2", 10_000)].map(|(loss, runs)| (loss.into(), runs));
        assert_eq!(raised, expected.map(|one: (String, u32)| [one.clone(), one]).concat());
    }

    /// The page lists every statement by number, and each of them is compared with runs.
    #[test]
    fn the_page_of_the_studies_lists_every_statement() {
        let page = include_str!("../../../../docs/studies.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
        let is_number =
            |id: &&str| PAPERS.iter().any(|(name, _)| id.starts_with(&format!("{name}-")));
        let mut listed: Vec<&str> = rows.map(|(id, _)| id).filter(is_number).collect();
        let references: Vec<Reference> = PAPERS.map(|(_, text)| Reference::parse(text)).into();
        let statements = references.iter().flat_map(|reference| &reference.statement);
        let mut held: Vec<&str> = statements
            .filter(|statement| statement.setting == Setting::Study)
            .map(|statement| statement.id.as_str())
            .chain(edge::ADVICE)
            .collect();
        listed.sort_unstable();
        held.sort_unstable();
        assert_eq!(listed, held);
    }

    /// The study called `name`, compared with six runs of each cell with this value of a metric.
    fn held_with(name: &str, metric: &str, value: impl Fn(&CellResult) -> f64) -> Held {
        let overrides = ["runs=6".parse::<Override>().unwrap()];
        let plan = scenario::load(&Source::named(name), &overrides).unwrap();
        let document = document_of_nothing(&plan);
        let run = |(cell, number): (usize, u32)| {
            let value = value(&document.cells[cell]) * (1.0 + f64::from(number) / 1e6);
            let samples = BTreeMap::from([(metric.to_owned(), vec![value; 10])]);
            let (cell, outcome) = (cell as u32, Outcome::Samples(samples));
            RunResult { cell, run: number, outcome, certificate: None, answered: None }
        };
        let all = (0..document.cells.len()).flat_map(|cell| (0..6).map(move |run| (cell, run)));
        let runs: Vec<RunResult> = all.map(run).collect();
        hold(name, &plan, &document, &runs, false).unwrap().unwrap()
    }

    fn statement<'a>(held: &'a Held, id: &str) -> &'a Statement {
        held.statements.iter().find(|statement| statement.id == id).unwrap()
    }

    /// A row that an input of the model decides shows our value and does not count; a choice of ours is named
    /// beside a row that holds.
    #[test]
    fn inputs_do_not_count_and_choices_are_named() {
        let held = held_with("v2x", "signature_rate_hz", |_| 2417.32);
        let by_input = statement(&held, "v2x-4");
        assert_eq!((by_input.verdict, by_input.runs), (Verdict::NotTestable, 6));
        let held = held_with("v2x", "late_verdict_ratio", |_| 1.0);
        let by_choice = statement(&held, "v2x-14");
        assert_eq!(by_choice.verdict, Verdict::Holds);
        assert!(by_choice.why.as_deref().is_some_and(|why| why.contains("deadline")));
    }

    /// Figures of all schedulers are the mean over them; a figure's listed curves and its bits are drawn.
    #[test]
    fn values_are_over_places_and_times_become_throughputs() {
        let of_scheduler = |cell: &CellResult| match cell.factor_text("scheduler").as_str() {
            "minrtt" => 2.0,
            "peekaboo" => 6.0,
            _ => 4.0,
        };
        let held = held_with("train", "handover_goodput_mbps", of_scheduler);
        let mean = statement(&held, "train-31").ours.unwrap();
        assert!((mean - 4.0).abs() < 1e-4, "{mean}");
        let held = held_with("vru", "rtt_ms", |_| 10.0);
        let [chart] = &held.charts[..] else { panic!("{:?}", held.charts) };
        assert_eq!((chart.metric.as_str(), chart.curves.len()), ("throughput_mbps", 4));
        assert!((chart.curves[3].points[9].ours.unwrap() - 0.284).abs() < 1e-6, "{chart:?}");
    }

    /// Runs for which the machine was too slow count in claims exactly if they count in tables.
    #[test]
    fn claims_count_the_runs_that_tables_count() {
        let overrides = ["runs=12".parse::<Override>().unwrap()];
        let plan = scenario::load(&Source::named("vru"), &overrides).unwrap();
        let document = document_of_nothing(&plan);
        let claim = &Reference::parse(PAPERS[0].1).statement[2];
        let claimed = claim.cell.find(&document.cells).unwrap();
        let run = |cell: usize, run: u32| {
            let is_late = run >= 6;
            let factor = match (cell == claimed, is_late) {
                (false, _) => 1.0,
                (true, false) => 0.9,
                (true, true) => 3.0,
            };
            let value = (100.0 + f64::from(run)) * factor;
            let samples = BTreeMap::from([(claim.metric.clone().unwrap(), vec![value])]);
            let verdict = Reliability::Invalid;
            let certificate = is_late.then(|| Certificate { verdict, ..Certificate::default() });
            let all = RunResult::new(cell as u32, run, Outcome::Samples(samples));
            RunResult { certificate, ..all }
        };
        let cells = 0..document.cells.len();
        let runs: Vec<RunResult> = cells
            .flat_map(|cell| (0..12).map(move |number| (cell, number)))
            .map(|(cell, number)| run(cell, number))
            .collect();
        let percent = |keep_invalid| {
            let held = hold("vru", &plan, &document, &runs, keep_invalid).unwrap().unwrap();
            held.statements[2].ours.unwrap()
        };
        assert!((percent(false) + 10.0).abs() < 1e-9, "{}", percent(false));
        assert!(percent(true) > 50.0, "{}", percent(true));
    }
}
