//! The sentence that summarises a group of cells.

use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{
    CellResult, Difference, MIN_RUNS, MedianDifference, SPOILED_MOST, UsefulDifference, Verdict,
};

use super::beyond::SPOILED;
use super::names::{Names, scale, unit};
use crate::groups::{Group, Section};
use crate::number::{Decimals, plural};

pub(super) struct Sentence<'a> {
    pub section: &'a Section<'a>,
    cells: &'a [CellResult],
    pub useful: UsefulDifference,
    pub compared: &'a Compared,
    pub best: &'a CellResult,
    /// The cells of the group, the best one first.
    pub members: Vec<&'a CellResult>,
    names: Names<'a>,
    /// Those without a significant difference from the best one.
    level: Vec<&'a Difference>,
    /// Those that look much worse, without a significant difference because there are too few runs.
    open: Vec<&'a Difference>,
    /// Those that are worse by less than matters.
    near: Vec<&'a Difference>,
    /// Those that are worse by more, the best of them first.
    worse: Vec<&'a Difference>,
    /// Those that are better run by run, but have failed runs or a worse median.
    failing: Vec<&'a Difference>,
    /// Those that are no answer, while the best one is.
    pub spoiled: Vec<&'a Difference>,
    bound: Option<&'a Difference>,
    too_few: Option<String>,
}

impl<'a> Sentence<'a> {
    /// `None` where a difference names a cell that does not exist.
    pub fn new(
        section: &'a Section<'a>,
        compared: &'a Compared,
        group: &Group<'a>,
    ) -> Option<Self> {
        let cells = &section.document.cells;
        let best = cells.get(group.best as usize)?;
        let others = group.differences.iter().filter_map(|one| cells.get(one.cell as usize));
        let members: Vec<&CellResult> = std::iter::once(best).chain(others).collect();
        let all: Vec<&CellResult> = section.results().collect();
        let names = Names::new(section.document, &members, &all);
        let is_bound =
            |one: &&Difference| cells.get(one.cell as usize).is_some_and(|cell| cell.is_bound);
        let (bounds, real): (Vec<&Difference>, Vec<&Difference>) =
            group.differences.iter().copied().partition(is_bound);
        let is_spoiled = |cell: &CellResult| cell.spoiled() > SPOILED_MOST;
        let is_none = |one: &&Difference| {
            !is_spoiled(best) && cells.get(one.cell as usize).is_some_and(is_spoiled)
        };
        let (spoiled, real): (Vec<&Difference>, Vec<&Difference>) =
            real.into_iter().partition(is_none);
        let is_worse = if compared.less_is_better { Verdict::Higher } else { Verdict::Lower };
        let of = |wanted: &dyn Fn(Verdict) -> bool| -> Vec<&'a Difference> {
            real.iter().copied().filter(|one| wanted(one.headline().verdict)).collect()
        };
        let useful = section.document.useful_difference;
        let least = compared.least_useful(compared.of(best).unwrap_or(0.0), useful);
        let is_near = |one: &&Difference| one.headline().value.abs() < least;
        let (near, worse) = of(&|verdict| verdict == is_worse).into_iter().partition(is_near);
        let is_open = |one: &&Difference| {
            let here = cells.get(one.cell as usize).and_then(|cell| compared.of(cell));
            let center_of = here.zip(compared.of(best));
            let is_far = center_of.is_some_and(|(here, best)| {
                let whole = if compared.is_share() { 1.0 } else { best.abs() };
                (here - best).abs() > OPEN_SHARE * whole
            });
            is_far && one.headline().verdict == Verdict::Undecided
        };
        let (open, level) = of(&|verdict| matches!(verdict, Verdict::Equal | Verdict::Undecided))
            .into_iter()
            .partition(is_open);
        Some(Sentence {
            section,
            cells,
            useful,
            compared,
            best,
            names,
            level,
            open,
            near,
            worse,
            failing: of(&|verdict| {
                matches!(verdict, Verdict::Lower | Verdict::Higher) && verdict != is_worse
            }),
            spoiled,
            bound: bounds.first().copied(),
            too_few: group.too_few(),
            members,
        })
    }

    pub fn text(&self) -> String {
        let none = (self.best.spoiled() > SPOILED_MOST).then(|| self.none_ahead());
        let equal = none.or_else(|| self.all_equal().filter(|_| self.tails().is_none()));
        let is_ranked = equal.is_none();
        let mut parts = vec![equal.unwrap_or_else(|| self.lead())];
        if let Some(why) = self.too_few.as_ref().filter(|_| is_ranked) {
            parts.push(format!("Undecided: {why}."));
        } else if is_ranked {
            parts.extend(self.list("No significant difference", &self.level));
            parts.extend(self.list(&format!("{} behind", self.near_words()), &self.near));
            parts.extend(self.tails());
            parts.extend(self.fastest_of_level());
            parts.extend(self.behind());
            parts.extend(self.undecided());
            parts.extend(self.rivals());
        }
        parts.extend(self.failing.first().map(|one| self.failing(one)));
        parts.extend(self.list(&format!("Ruled out ({SPOILED})"), &self.spoiled));
        parts.extend(self.bound.and_then(|one| self.bound(one)));
        parts.extend(self.failed());
        parts.extend(self.artefacts());
        parts.join(" ")
    }

    /// `Fastest at loss 1 %: QUIC, 0-RTT: median completion time 106.8 ms (95 % CI 104.2 to 109.0), p95 148.8 ms.`
    fn lead(&self) -> String {
        let so_far = if self.too_few.is_some() { " so far" } else { "" };
        let name = self.name(self.best);
        let Compared { name: metric, title, best: superlative, .. } = self.compared;
        let Some(summary) = self.best.metrics.get(*metric) else { return format!("{name}.") };
        let center = self.compared.center(summary) * scale(self.compared);
        let decimals = Decimals::of([center]);
        let statistic = if self.compared.by_median() { "median" } else { "mean" };
        // Where all cells are compared, a loss or a load is not chosen.
        let place = self.place();
        let at = match place.is_empty() && self.names.are_numbers(self.best) {
            true => format!("{so_far} at {name}"),
            false => format!("{so_far}{place}: {name}"),
        };
        // `Highest goodput` names the metric, `Fastest` does not.
        let title = if *superlative == "Fastest" { format!(" {title}") } else { String::new() };
        let (value, unit) = (decimals.text(center), unit(self.compared));
        let interval = match self.compared.interval(summary) {
            _ if summary.min == summary.max && summary.n >= MIN_RUNS => {
                format!(" in all {} runs", summary.n)
            }
            Some(ends) => span(ends.map(|end| decimals.text(end * scale(self.compared))), &value),
            None => String::new(),
        };
        let tail =
            match summary.tail().filter(|_| self.compared.by_median() && summary.min < summary.max)
            {
                Some((name, value)) => format!(", {name} {} {unit}", digits(value)),
                None => String::new(),
            };
        match self.compared.is_share() {
            true => format!("{superlative}{at}: {value} {unit}{interval}."),
            false => {
                format!("{superlative}{at}: {statistic}{title} {value} {unit}{interval}{tail}.")
            }
        }
    }

    /// ` at loss 1 %`
    pub(super) fn place(&self) -> String {
        let condition = self.names.condition(self.best);
        if condition.is_empty() { condition } else { format!(" at {condition}") }
    }

    /// `Less than 1 %`
    fn near_words(&self) -> String {
        let UsefulDifference { percent, ms } = self.useful;
        let in_percent =
            |one: &&Difference| one.headline().percent.is_some_and(|it| it.abs() < percent);
        match self.compared.is_share() {
            true => format!("Less than {percent} percentage points"),
            false if self.near.iter().all(in_percent) => format!("Less than {percent} %"),
            false => format!("Less than {ms} ms"),
        }
    }

    /// `No significant difference: HTTP/3, 0-RTT.`
    fn list(&self, title: &str, differences: &[&Difference]) -> Option<String> {
        let names: Vec<String> = differences.iter().map(|one| self.name_of(one)).collect();
        shortened(&names).map(|list| format!("{title}: {list}."))
    }

    /// How far the tails of those are apart that are level in the middle: `Tails: p99 261.0 ms (QUIC) to 461.2 ms
    /// (HTTP/2).`
    fn tails(&self) -> Option<String> {
        let others = self.section.declared().into_iter();
        let others = others.filter(|one| *one != self.compared && self.equal(one).is_some());
        std::iter::once(self.compared).chain(others).find_map(|one| self.tails_of(one))
    }

    fn tails_of(&self, compared: &Compared) -> Option<String> {
        let tail = |cell: &'a CellResult| {
            let summary = cell.metrics.get(compared.name)?;
            let (name, value) = summary.tail().filter(|_| compared.by_median())?;
            Some((name, value, cell))
        };
        let tails: Vec<(&str, f64, &CellResult)> = self.level_cells().filter_map(tail).collect();
        let by_value =
            |a: &&(&str, f64, &CellResult), b: &&(&str, f64, &CellResult)| a.1.total_cmp(&b.1);
        let (least, most) = (tails.iter().min_by(by_value)?, tails.iter().max_by(by_value)?);
        let is_told = least.0 == most.0 && most.1 > TAILS_FROM * least.1;
        let unit = unit(compared);
        let end = |(_, value, cell): &(&str, f64, &CellResult)| {
            format!("{} {unit} ({})", digits(*value), self.name(cell))
        };
        is_told.then(|| format!("Tails: {} {} to {}.", least.0, end(least), end(most)))
    }

    /// Of cells that miss as many deadlines, the one with the shortest round trip: `Fastest of these: QUIC: median
    /// round-trip time 20.5 ms, p99 87.0 ms.`
    fn fastest_of_level(&self) -> Option<String> {
        let rtt = |cell: &'a CellResult| Some((cell, cell.metrics.get("rtt_ms")?));
        let known = self.level_cells().filter_map(rtt).filter(|_| self.compared.is_share());
        let mut known: Vec<_> = known.collect();
        known.sort_by(|a, b| a.1.p50.total_cmp(&b.1.p50));
        let (cell, rtt) = *known.first()?;
        // By less than matters none is ahead.
        let least = metrics::compared("rtt_ms")?.least_useful(rtt.p50, self.useful);
        let is_ahead = known.get(1).is_none_or(|(_, next)| next.p50 - rtt.p50 >= least);
        let tail = rtt
            .tail()
            .map_or_else(String::new, |(name, value)| format!(", {name} {} ms", digits(value)));
        let start = match self.level.len() + self.near.len() {
            0 => "Its".to_owned(),
            _ if is_ahead => format!("Fastest of these: {}:", self.name(cell)),
            _ => format!("Medians are alike: {}:", self.name(cell)),
        };
        Some(format!("{start} median round-trip time {} ms{tail}.", digits(rtt.p50)))
    }

    /// `Undecided after 10 runs: HTTP/2, 226.2 ms.`
    fn undecided(&self) -> Option<String> {
        let n = self.open.iter().map(|one| one.n).min()?;
        let names: Vec<String> = self.open.iter().take(2).map(|one| self.center_of(one)).collect();
        let more = match self.open.len() - names.len() {
            0 => String::new(),
            more => format!("; {}", plural(more as u64, "other")),
        };
        Some(format!("Undecided after {n} runs: {}{more}.", names.join("; ")))
    }

    /// `HTTP/2, median 226.2 ms`
    fn center_of(&self, difference: &Difference) -> String {
        self.cell(difference).map_or_else(String::new, |cell| self.valued(cell, self.compared))
    }

    /// `Then QUIC, resumed: 10.0 ms (9 %) more (95 % CI 9.8 to 10.2); slowest HTTP/2: 30.0 ms (28 %) more (...).`
    fn behind(&self) -> Option<String> {
        let (next, last) = (self.worse.first()?, self.worse.last()?);
        let next_text = self.distance(next);
        if self.worse.len() == 1 {
            return Some(format!("Then {next_text}."));
        }
        let word = match self.compared.less_is_better {
            _ if self.compared.is_share() => "most",
            true => "slowest",
            false => "lowest",
        };
        Some(format!("Then {next_text}; {word} {}.", self.distance(last)))
    }

    fn distance(&self, difference: &Difference) -> String {
        match self.is_unlike(difference) {
            true => self.center_of(difference),
            false => self.paired_distance(difference),
        }
    }

    fn paired_distance(&self, difference: &Difference) -> String {
        let shown = difference.headline();
        let shown = MedianDifference {
            value: shown.value * scale(self.compared),
            ci95: shown.ci95.map(|ends| ends.map(|end| end * scale(self.compared))),
            ..shown
        };
        let decimals = Decimals::significant(shown.value, 3);
        let word = if shown.value > 0.0 { "more" } else { "less" };
        // Beyond ten times, a percentage is no help.
        let is_told = |percent: &f64| percent.abs() < 1000.0 && !self.compared.is_share();
        let percent = match shown.percent.filter(is_told) {
            Some(percent) => {
                format!(" ({} %)", Decimals::significant(percent, 2).text(percent.abs()))
            }
            None => String::new(),
        };
        let interval = match shown.ci95.map(|ends| ends.map(|end| end * shown.value.signum())) {
            Some([low, high]) => {
                let ends = [low.min(high), low.max(high)].map(|end| decimals.text(end));
                span(ends, &decimals.text(shown.value.abs()))
            }
            None => String::new(),
        };
        let unit = if self.compared.is_share() { "percentage points" } else { unit(self.compared) };
        let name = self.name_of(difference);
        format!("{name}: {} {unit}{percent} {word}{interval}", decimals.text(shown.value.abs()))
    }

    /// Whether the median of the pairs' differences is far from the difference of the medians: then it does not
    /// add up with what the table shows.
    fn is_unlike(&self, difference: &Difference) -> bool {
        let here = self.cell(difference).and_then(|cell| self.compared.of(cell));
        let apart = here.zip(self.compared.of(self.best)).map(|(here, best)| here - best);
        let paired = difference.headline().value;
        apart.is_some_and(|apart| (apart - paired).abs() > UNLIKE_SHARE * paired.abs())
    }

    fn failing(&self, difference: &Difference) -> String {
        let failed = self.cell(difference).map_or(0, |cell| cell.failed);
        if failed == 0 {
            // The medians of the cells and that of the pairs need not agree.
            return format!("But paired by run, {}.", self.paired_distance(difference));
        }
        let runs = plural(failed.into(), "run");
        format!(
            "In the runs that succeeded, {}; but {runs} failed.",
            self.paired_distance(difference)
        )
    }

    /// How much of the way from nothing to a bound the best cell goes, where there is a cell that has
    /// neither.
    fn bound(&self, difference: &Difference) -> Option<String> {
        let bound = self.cell(difference)?;
        let [here, there] = [self.compared.of(self.best)?, self.compared.of(bound)?];
        let decimals = Decimals::of([there]);
        let (name, value) = (self.name(bound), decimals.text(there));
        let is_reached = here == there || (here < there) == self.compared.less_is_better;
        if is_reached {
            // What leaves a path in time also leaves it unused.
            let unit = unit(self.compared);
            return Some(format!("{name}, which knows the future, is no better: {value} {unit}."));
        }
        let text =
            format!("{name} is a bound that nothing real reaches: {value} {}", unit(self.compared));
        let differs_in = |one: &CellResult| -> Vec<String> {
            let names = one.factors.keys();
            names.filter(|name| one.factor_text(name) != bound.factor_text(name)).cloned().collect()
        };
        let is_base = |one: &&&CellResult| match differs_in(one).as_slice() {
            [name] => one.factor_text(name) == "none",
            _ => false,
        };
        let way = self.members.iter().find(is_base).and_then(|base| {
            let start = self.compared.of(base)?;
            let share = (here - start) / (there - start) * 100.0;
            let is_told = share.is_finite() && (0.0..=100.0).contains(&share);
            is_told.then(|| {
                format!("; the best goes {share:.0} % of the way from {}", self.name(base))
            })
        });
        Some(format!("{text}{}.", way.unwrap_or_default()))
    }

    fn failed(&self) -> Option<String> {
        let failed: u32 = self.members.iter().map(|cell| cell.failed).sum();
        let metric = self.compared.name;
        let ran = |cell: &&CellResult| cell.metrics.get(metric).map_or(0, |summary| summary.n);
        let all = failed + self.members.iter().map(ran).sum::<u32>();
        (failed > 0).then(|| format!("{failed} of {all} runs failed and are left out."))
    }

    /// `HTTP/2: median 226.2 ms`
    pub(super) fn valued(&self, cell: &CellResult, compared: &Compared) -> String {
        let value = compared.of(cell).unwrap_or(f64::NAN) * scale(compared);
        let statistic = if compared.by_median() { "median " } else { "" };
        format!("{}: {statistic}{} {}", self.name(cell), digits(value), unit(compared))
    }

    pub(super) fn name(&self, cell: &CellResult) -> String {
        let mark = if cell.is_extrapolated { " (extrapolated)" } else { "" };
        format!("{}{mark}", self.names.cell(cell, &self.members))
    }

    fn name_of(&self, difference: &Difference) -> String {
        self.cell(difference).map_or_else(String::new, |cell| self.name(cell))
    }

    fn cell(&self, difference: &Difference) -> Option<&'a CellResult> {
        self.cells.get(difference.cell as usize)
    }

    /// The best cell, and those that are as good or nearly so.
    fn level_cells(&self) -> impl Iterator<Item = &'a CellResult> {
        self.level.iter().chain(&self.near).filter_map(|one| self.cell(one)).chain([self.best])
    }
}

/// `QUIC; 3 others`; `None` without names.
pub(super) fn shortened(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [only] => Some(only.clone()),
        [first, second] => Some(format!("{first}; {second}")),
        [first, rest @ ..] => Some(format!("{first}; {} others", rest.len())),
    }
}

/// ` (95 % CI 104.2 to 109.0)`; nothing where both ends are the value, as far as it is shown.
fn span([low, high]: [String; 2], value: &str) -> String {
    match low == value && high == value {
        true => String::new(),
        false => format!(" (95 % CI {low} to {high})"),
    }
}

/// Tails that are closer together are not worth a sentence.
const TAILS_FROM: f64 = 1.1;

/// Farther from the best one, a cell without a significant difference is called undecided: as a share of the best
/// value.
const OPEN_SHARE: f64 = 0.1;

/// By more, the median of differences does not add up with the medians: as a share of it.
const UNLIKE_SHARE: f64 = 0.1;

/// Four significant digits.
fn digits(value: f64) -> String {
    Decimals::of([value]).text(value)
}
