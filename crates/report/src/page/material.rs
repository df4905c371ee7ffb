//! The data behind a section's figures.

use std::collections::BTreeMap;

use trackbed_analysis::groups::Section;
use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, FactorKind};

use super::distribution::Distribution;
use super::factors::{self, Looks, Split};
use super::figure::{Along, Axis, Chooser, Mark, Series};
use super::origin::Limit;
use super::words;

/// Cells, each with its index in the document.
pub(crate) type Numbered<'a> = Vec<(u32, &'a CellResult)>;

/// A section with the data gathered from its runs.
pub(crate) struct Material<'a> {
    pub section: &'a Section<'a>,
    /// The section's index in the document.
    pub number: usize,
    pub cells: Numbered<'a>,
    /// The factors in which the cells differ.
    pub factors: Vec<String>,
    /// The looks of its cells when all factors are distinguished.
    looks: Looks,
    /// Metrics of figures, the most relevant first.
    pub metrics: Vec<&'static str>,
    /// Distributions by cell and metric.
    pub distributions: &'a BTreeMap<(u32, &'static str), Distribution>,
    pub limits: &'a [Limit],
}

/// The element of the answer's figure.
pub(crate) const ANSWER: &str = "figures-answer";

impl<'a> Material<'a> {
    pub fn new(
        section: &'a Section<'a>,
        number: usize,
        metrics: Vec<&'static str>,
        distributions: &'a BTreeMap<(u32, &'static str), Distribution>,
        limits: &'a [Limit],
    ) -> Material<'a> {
        let cells: Numbered<'a> = section.cells.iter().copied().zip(section.results()).collect();
        let results: Vec<&CellResult> = cells.iter().map(|(_, cell)| *cell).collect();
        let factors = section.telling_factors();
        let looks = Looks::new(&results, &factors);
        Material { section, number, cells, factors, looks, metrics, distributions, limits }
    }

    pub fn results(&self) -> Vec<&'a CellResult> {
        self.cells.iter().map(|(_, cell)| *cell).collect()
    }

    /// The id of the section's figure of this kind, unique on the page: `overview-2`.
    pub fn id(&self, kind: &str) -> String {
        format!("{kind}-{}", self.number)
    }

    /// The element that contains the section's figures.
    pub fn place(&self) -> String {
        format!("figures-{}", self.number)
    }

    /// The element that contains the figure of the answer: the page's first card, where the page has one
    /// section.
    pub fn first_place(&self) -> String {
        match self.section.part.as_deref() {
            None => ANSWER.to_owned(),
            Some(_) => self.place(),
        }
    }

    /// The factors that are numbers with at least `values_min` values.
    pub fn numeric_factors(&self, values_min: usize) -> Vec<&String> {
        let results = self.results();
        let names = self.factors.iter();
        names.filter(|name| factors::is_numeric(&results, name, values_min)).collect()
    }

    /// Marks on an axis of `metric`.
    pub fn limits(&self, metric: &str, axis: Along) -> Vec<Mark> {
        let those = self.limits.iter().filter(|limit| limit.metric == metric);
        those
            .map(|limit| Mark { axis, from: limit.value, until: None, label: limit.label.clone() })
            .collect()
    }

    /// The looks of series that differ in these factors only.
    pub fn looks(&self, factors: &[String]) -> Looks {
        Looks::new(&self.results(), factors)
    }

    /// The series in `list` for all cells with the same colour as `cell`, named by the factor that
    /// determines the colour.
    pub fn look<'l>(&self, list: &'l mut Vec<Series>, cell: &CellResult) -> &'l mut Series {
        let name =
            self.looks.coloured().map_or_else(String::new, |factor| cell.factor_text(factor));
        let place = list.iter().position(|one| one.name == name).unwrap_or_else(|| {
            let (colour, _) = self.looks.of(cell);
            list.push(Series { name, colour, ..Series::default() });
            list.len() - 1
        });
        &mut list[place]
    }

    /// The cells for each combination of values of the `chosen` factors, with the index of each
    /// value.
    pub fn chosen(&self, split: &Split) -> Vec<(Vec<usize>, Numbered<'a>)> {
        let results = self.results();
        let options: Vec<Vec<String>> =
            split.chosen.iter().map(|name| factors::values(&results, name)).collect();
        let mut groups: BTreeMap<Vec<usize>, Numbered<'a>> = BTreeMap::new();
        for (index, cell) in &self.cells {
            let places = split.chosen.iter().zip(&options).map(|(name, options)| {
                let text = cell.factor_text(name);
                options.iter().position(|option| *option == text).unwrap_or(0)
            });
            groups.entry(places.collect()).or_default().push((*index, cell));
        }
        groups.into_iter().collect()
    }

    /// The axis of a numeric factor.
    pub fn factor_axis(&self, name: &str) -> Axis {
        factors::axis(&self.results(), name, &self.section.document.factor(name))
    }

    /// Choosers of the metric, if there are several, and of values of the chosen factors.
    pub fn choosers(&self, metrics: &[&str], split: &Split) -> Vec<Chooser> {
        let results = self.results();
        let others = split.chosen.iter().map(|name| Chooser {
            name: self.factor_axis(name).name,
            options: factors::values(&results, name).iter().map(|t| words::value(t)).collect(),
            help: Vec::new(),
        });
        std::iter::once(metric_chooser(metrics)).chain(others).collect()
    }

    /// The number of runs behind `metric`, what failed, and which direction is better.
    pub fn caption(cells: &[(u32, &CellResult)], metric: &str) -> String {
        let n = cells.iter().filter_map(|(_, cell)| Some(cell.metrics.get(metric)?.n));
        let (least, most) = n.fold((u32::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
        let mut text = match least == most {
            true => format!("n = {most} runs per cell"),
            false if most == 0 => "n = 0".to_owned(),
            false => format!("n = {least} to {most} runs per cell"),
        };
        let failed: u32 = cells.iter().map(|(_, cell)| cell.failed).sum();
        let invalid: u32 = cells.iter().map(|(_, cell)| cell.invalid).sum();
        match failed {
            0 => text.push_str("; none failed"),
            failed => text.push_str(&format!("; {failed} failed and are not included")),
        }
        if invalid > 0 {
            text.push_str(&format!("; {invalid} left out because the machine was too slow"));
        }
        text.push('.');
        if let Some(less) = metrics::less_is_better(metric) {
            text.push_str(if less { " Lower is better." } else { " Higher is better." });
        }
        text
    }
}

/// The choice of one of these metrics.
pub(crate) fn metric_chooser(metrics: &[&str]) -> Chooser {
    Chooser {
        name: "metric".to_owned(),
        options: metrics.iter().map(|name| words::metric(name)).collect(),
        help: metrics.iter().map(|name| words::help(name)).collect(),
    }
}

/// The axis of a metric for these values.
pub(crate) fn axis(metric: &str, values: impl IntoIterator<Item = f64>) -> Axis {
    let (name, unit) = words::name_and_unit(metric);
    Axis::linear(name, unit).for_values(values)
}

/// An empty series for `cell`.
pub(crate) fn series(name: String, cell: &CellResult, looks: &Looks) -> Series {
    let (colour, dash) = looks.of(cell);
    Series { name, colour, dash, ..Series::default() }
}

/// At most `most` metrics whose values differ: those that rank cells first, then in registry order.
pub(crate) fn telling(section: &Section<'_>, most: usize) -> Vec<&'static str> {
    let ranking = section.headline().into_iter().chain(section.declared());
    let compared = ranking.chain(metrics::COMPARED).map(|compared| compared.name);
    let all = compared.chain(metrics::registry().iter().map(|metric| metric.name));
    let differ = |name: &&str| {
        let mut found = section.results().filter_map(|cell| cell.metrics.get(*name));
        let first = found.clone().next().map(|summary| summary.mean);
        found.any(|other| other.min < other.max || Some(other.mean) != first)
    };
    let mut names = distinct(all.filter(differ));
    let headline = section.headline().map(|compared| compared.name);
    if let Some(headline) = headline.filter(|headline| !names.contains(headline)) {
        names.insert(0, headline);
    }
    names.truncate(most);
    names
}

/// A cell's name by these factors, `quic 1.3 loss 0.02`; numbers have their factor's name.
pub(crate) fn label(cell: &CellResult, factors: &[String]) -> String {
    let texts = factors.iter().filter_map(|name| {
        let text = cell.factor_text(name);
        match factors::number(cell, name) {
            _ if text.is_empty() => None,
            Some(_) => {
                let FactorKind { title, unit, .. } = FactorKind::named(name);
                Some(format!("{title} {text} {unit}").trim_end().to_owned())
            }
            None => Some(text),
        }
    });
    let text = texts.collect::<Vec<_>>().join(" ");
    if text.is_empty() { "all runs".to_owned() } else { text }
}
