//! Compares two run directories, cell by cell: which differences are significant, and which cells have
//! become worse.
//!
//! Directories of other versions can be compared too: nothing is planned again, cells are matched by
//! their factors.

mod asked;
mod verdicts;

use std::path::{Path, PathBuf};

use trackbed_measure::contrast::{Change, Contrast, Incomparable, Side};
use trackbed_measure::metrics;
use trackbed_measure::results::{
    CellResult, Document, RunResult, SCHEMA, UsefulDifference, VIRTUAL,
};
use trackbed_stats::{Margin, Terms, compare_paired, compare_unpaired};

use crate::document::open;
use crate::significance::{margin, terms};
use asked::Asked;
use trackbed_archive::{About, DirectoryError, RecordedRuns, Results as _, read_about};
use verdicts::{Single, in_these_runs, judged, sentence, too_few};

/// What is to be compared, and how.
#[derive(Clone, Debug)]
pub struct Question {
    /// The metrics; empty for that by which each cell is ranked.
    pub metrics: Vec<String>,
    /// How sure verdicts are to be, strictly between 0 and 1.
    pub confidence: f64,
    /// What does not matter; by default what the first directory says.
    pub margin: Option<UsefulDifference>,
}

/// Compares the run directory at `second` with that at `first`.
///
/// # Errors
/// If one of them cannot be read, or they have nothing in common.
pub fn compare(first: &Path, second: &Path, question: &Question) -> Result<Contrast, CompareError> {
    let (first, second) = (Opened::read(first)?, Opened::read(second)?);
    let asked: Vec<Asked> =
        question.metrics.iter().map(|text| Asked::parse(text)).collect::<Result<_, _>>()?;
    let shared = [&first, &second].iter().all(|side| side.document.shares_seeds());
    let same = |of: fn(&Document) -> u64| of(&first.document) == of(&second.document);
    let paired = shared && same(|it| it.seed) && same(|it| it.results_version.into());
    let useful = question.margin.unwrap_or(first.document.useful_difference);
    let (mut found, mut incomparable) = (Vec::new(), Vec::new());
    let mut missing = Vec::new();
    let mut matched = vec![false; second.document.cells.len()];
    for (index, cell) in first.document.cells.iter().enumerate() {
        let same = |other: &CellResult| other.factors == cell.factors;
        let Some(other) = second.document.cells.iter().position(same) else {
            missing.push(cell.factors.clone());
            continue;
        };
        matched[other] = true;
        let places = [index as u32, other as u32];
        for tried in of_cell([&first, &second], places, (question, &asked), paired)? {
            match tried {
                Ok(single) => found.push(single),
                Err(not) => incomparable.push(not),
            }
        }
    }
    let others = second.document.cells.iter().zip(&matched);
    let added = others.filter(|(_, matched)| !**matched).map(|(cell, _)| cell.factors.clone());
    if found.is_empty() && incomparable.is_empty() {
        return Err(CompareError::NothingInCommon([first.path, second.path]));
    }
    let same_runs = paired && [&first, &second].iter().all(|it| it.document.substrate == VIRTUAL);
    let mut contrast = Contrast {
        schema: SCHEMA,
        answer: String::new(),
        same_runs,
        too_few: too_few(&found, question.confidence, paired),
        changes: changes(&first, &second),
        added: added.collect(),
        first: first.side(),
        second: second.side(),
        paired,
        confidence: question.confidence,
        margin: useful.percent / 100.0,
        margin_ms: useful.ms,
        cells: judged(found, question.confidence, same_runs),
        incomparable,
        missing,
    };
    contrast.answer = sentence(&contrast, useful);
    Ok(contrast)
}

/// A run directory as it was left.
struct Opened {
    path: PathBuf,
    about: About,
    document: Document,
    runs: RecordedRuns,
}

impl Opened {
    fn read(path: &Path) -> Result<Opened, CompareError> {
        let (about, (document, runs)) = (read_about(path)?, open(path)?);
        Ok(Opened { path: path.to_owned(), about, document, runs })
    }

    fn side(&self) -> Side {
        let Document { trackbed, scenario, substrate, seed, runs, results_version, .. } =
            &self.document;
        Side {
            directory: self.path.display().to_string(),
            trackbed: trackbed.clone(),
            scenario: scenario.clone(),
            substrate: substrate.clone(),
            seed: *seed,
            runs: *runs,
            results_version: *results_version,
        }
    }

    fn of(&self, cell: u32) -> Result<Vec<RunResult>, DirectoryError> {
        let mut runs = self.runs.of(cell)?.into_owned();
        runs.retain(|run| run.run < self.document.runs && !run.is_invalid());
        Ok(runs)
    }
}

/// The comparisons of a cell: of each metric that one of both sides has.
fn of_cell(
    sides: [&Opened; 2],
    cells: [u32; 2],
    (question, asked): (&Question, &[Asked]),
    paired: bool,
) -> Result<Vec<Result<Single, Incomparable>>, CompareError> {
    let results = [0, 1].map(|side| &sides[side].document.cells[cells[side] as usize]);
    let runs = [sides[0].of(cells[0])?, sides[1].of(cells[1])?];
    let count = sides[0].document.runs.max(sides[1].document.runs);
    let failed = results.map(|cell| cell.failed);
    let share =
        |cell: &CellResult| f64::from(cell.failed) / f64::from(cell.ran() + cell.failed).max(1.0);
    let fails_more = share(results[1]) > share(results[0]);
    let factors = || results[0].factors.clone();
    let single = |asked: &Asked| {
        let metric = asked.label.as_str();
        let terms = |it| Terms { center: asked.center, ..terms(metric, it, question.confidence) };
        let values = runs.each_ref().map(|runs| asked.of_runs(runs, count));
        let [one, two] = &values;
        let compare = if paired { compare_paired } else { compare_unpaired };
        let with = |margin: Margin| compare(one, two, &terms(margin));
        // The margin depends on the first value.
        let useful = question.margin.unwrap_or(sides[0].document.useful_difference);
        let margin = with(Margin::Absolute(0.0)).map(|it| margin(useful, metric, it.centers[0]));
        // Without any pair of runs that went through there is nothing to compare.
        let comparison = margin.and_then(with).map_err(|_| Incomparable {
            factors: factors(),
            cells,
            metric: Some(metric.into()),
            n: values.each_ref().map(|values| values.iter().flatten().count() as u32),
            failed,
            fails_more,
        })?;
        let facts = margin.ok().and_then(|margin| in_these_runs(metric, [one, two], margin));
        let (factors, metric, center) = (factors(), metric.to_owned(), asked.center);
        Ok(Single { factors, cells, metric, center, failed, fails_more, comparison, facts })
    };
    let chosen = chosen(results, asked);
    if chosen.is_empty() && question.metrics.is_empty() {
        return Ok(vec![Err(Incomparable {
            factors: factors(),
            cells,
            metric: None,
            n: [0, 0],
            failed,
            fails_more,
        })]);
    }
    if let Some(few) = chosen.iter().find_map(|one| one.too_few(&runs)) {
        return Err(few);
    }
    Ok(chosen.iter().map(single).collect())
}

/// The metrics by which a cell is compared: the requested ones that either side has. If none are
/// requested: those that rank both sides; or else one that both have, or one of them.
fn chosen(results: [&CellResult; 2], asked: &[Asked]) -> Vec<Asked> {
    let count = |name: &str| results.iter().filter(|cell| cell.metrics.contains_key(name)).count();
    if !asked.is_empty() {
        return asked.iter().filter(|one| count(&one.metric) > 0).cloned().collect();
    }
    let declared = metrics::declared(results.into_iter());
    if !declared.is_empty() {
        return declared.iter().map(|compared| Asked::plain(compared.name)).collect();
    }
    let ranking =
        |sides: usize| metrics::COMPARED.iter().map(|it| it.name).find(|name| count(name) == sides);
    ranking(2).or_else(|| ranking(1)).map(Asked::plain).into_iter().collect()
}

/// What is different about the two directories themselves.
fn changes(first: &Opened, second: &Opened) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut change = |what: &str, first: String, second: String| {
        if first != second {
            changes.push(Change { what: what.to_owned(), first, second });
        }
    };
    let (one, two) = (&first.document, &second.document);
    let mut differ = |what: &str, of: fn(&Document) -> String| change(what, of(one), of(two));
    differ("version of trackbed", |it| it.trackbed.clone());
    differ("version of results (the same seeds give other results; see CHANGELOG)", |it| {
        it.results_version.to_string()
    });
    differ("scenario", |it| it.scenario.clone());
    differ("substrate", |it| it.substrate.clone());
    differ("seed", |it| it.seed.to_string());
    differ("runs", |it| it.runs.to_string());
    let settings = |about: &About| {
        let is_told_above =
            |text: &&String| !["runs=", "seed="].iter().any(|key| text.starts_with(key));
        let told: Vec<&str> =
            about.overrides.iter().filter(is_told_above).map(String::as_str).collect();
        if told.is_empty() { "none".to_owned() } else { told.join(", ") }
    };
    change("settings", settings(&first.about), settings(&second.about));
    let (line, other) = first_difference(&first.about.text, &second.about.text);
    change("scenario text", line, other);
    let none = || "none".to_owned();
    change("model", one.model.clone().unwrap_or_else(none), two.model.clone().unwrap_or_else(none));
    let mut names: Vec<&String> = one.environment.keys().chain(two.environment.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let value = |document: &Document| document.environment.get(name).cloned();
        change(name, value(one).unwrap_or_else(none), value(two).unwrap_or_else(none));
    }
    changes
}

/// The first line that differs, with its number; twice nothing if none does.
fn first_difference(first: &str, second: &str) -> (String, String) {
    let (mut ours, mut theirs) = (first.lines(), second.lines());
    for number in 1.. {
        let pair = (ours.next(), theirs.next());
        if pair == (None, None) {
            break;
        }
        if pair.0 != pair.1 {
            let text = |line: Option<&str>| match line {
                Some(line) => format!("line {number}: {}", line.trim()),
                None => format!("ends before line {number}"),
            };
            return (text(pair.0), text(pair.1));
        }
    }
    Default::default()
}

/// Why two directories cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum CompareError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(
        "{label}: a run of one side has {least} of at least {needed} values for this quantile; \
         send more messages a run, or compare the median"
    )]
    FewSamples { label: String, least: usize, needed: usize },
    #[error(
        "there is no metric {0}; `trackbed list metrics` shows those that there are. A statistic of each \
         run comes first: mean, median, p95, p99"
    )]
    NoMetric(String),
    #[error(
        "{} and {} have no cell with the same factors and the same metric; name another --metric, \
         or run both with the same axes", .0[0].display(), .0[1].display()
    )]
    NothingInCommon([PathBuf; 2]),
}
