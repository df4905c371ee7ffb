//! The figures of a section: which data they need and how they lay it out.

pub(super) mod run;

use std::collections::BTreeMap;

use trackbed_analysis::groups::{Group as Compared, Section};
use trackbed_measure::metrics::less_is_better;
use trackbed_measure::results::{CellResult, Difference, MetricSummary, Verdict};

use super::Limit;
use super::distribution::Distribution;
use super::factors::{is_numeric, number};
use super::figure::{Chooser, Figure, WIDTHS};
use super::material::{caption, range};
use super::words;
use crate::figure::kinds::{self, Along, Statistic};
use crate::figure::{Group, Subject};
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};
use crate::words::capital;

/// A section with the data gathered from its runs.
pub(crate) struct Material<'a> {
    pub section: &'a Section<'a>,
    /// The section's index in the document.
    pub number: usize,
    /// Metrics of figures, the most relevant first.
    pub metrics: &'a [&'static str],
    /// Distributions by cell and metric.
    pub distributions: &'a BTreeMap<(u32, &'static str), Distribution>,
    pub limits: &'a [Limit],
}

/// The element of the answer's figure: the page's first card, where the page has one section.
pub(crate) const ANSWER: &str = "figures-answer";

/// With more cells, figures are drawn for one width only.
const CELLS_MAX: usize = 200;

/// The longest legend of points.
const KEYS_MAX: usize = 24;

/// Two values make no curve.
const VALUES_MIN: usize = 3;

impl<'a> Material<'a> {
    /// All figures for which there are data, in page order.
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![self.overview(), self.difference()];
        figures.extend(self.load());
        figures.extend(self.sweeps());
        figures.push(self.distribution());
        figures.extend(self.front("rtt_ms", "fps"));
        figures.retain(|figure| !figure.views.is_empty());
        let cells = self.section.document.cells.len();
        let drawn = figures.into_iter().map(|figure| match figure.place == ANSWER {
            _ if cells > CELLS_MAX => figure.drawn(&WIDTHS[1..2]),
            true => figure.drawn(&WIDTHS),
            false => figure.drawn(&WIDTHS[..2]),
        });
        drawn.collect()
    }

    fn figure(&self, kind: &str, title: impl Into<String>, note: &str) -> Figure {
        let (id, place) = (format!("{kind}-{}", self.number), format!("figures-{}", self.number));
        let choosers = vec![metric_chooser(self.metrics)];
        Figure { choosers, ..Figure::new(id, place, title.into(), note) }
    }

    /// Adds what `draw` makes of each of `metrics`, for each of as many further choices.
    fn drawn(
        &self,
        mut figure: Figure,
        metrics: &[&'static str],
        draw: impl Fn(&Subject<'a>, &'static str) -> Vec<(Plot, String)>,
    ) -> Figure {
        for (place, metric) in metrics.iter().copied().enumerate() {
            let subject = Subject::among(self.section.document, metric, &self.section.cells);
            let drawn = draw(&subject, metric);
            let has_choices = drawn.len() > 1;
            for (number, (plot, caption)) in drawn.into_iter().enumerate() {
                let choice = [place, number].into_iter().take(if has_choices { 2 } else { 1 });
                figure.add(choice.collect(), plot, caption);
            }
        }
        figure
    }

    /// `plot` with the limits of `metric`, whose values are on the x axis or not.
    fn limited(&self, metric: &str, is_along: bool, mut plot: Plot) -> Plot {
        for limit in self.limits.iter().filter(|limit| limit.metric == metric) {
            let at = if is_along { [limit.value, f64::NAN] } else { [f64::NAN, limit.value] };
            plot.panels.iter_mut().for_each(|panel| panel.marks.push(Mark::Rule(at)));
            plot.keys.push(Key::rule(&limit.label));
        }
        plot
    }

    fn overview(&self) -> Figure {
        let mut figure = self.figure(
            "overview",
            "Cells compared",
            "The dot is the median for times by which cells are compared, else the mean over runs; the bar is \
             its 95 % confidence interval. p50, p95 and p99 are quantiles over all samples: 50 %, 95 % and 99 % \
             of the samples are at or below them. p95 needs 20 samples, p99 368.",
        );
        if self.section.part.is_none() {
            figure.place = ANSWER.to_owned();
        }
        self.drawn(figure, self.metrics, |subject, metric| {
            let plot = self.limited(metric, true, kinds::dots(subject));
            vec![(plot, caption(&subject.cells, &subject.lost, metric))]
        })
    }

    fn difference(&self) -> Figure {
        let figure = self.figure(
            "difference",
            "Differences from the best cell, paired by run",
            "Each cell minus the best one under the same conditions, over pairs of runs of the same number, with \
             the 95 % interval: of the median for times, else of the mean. The table says which differences are \
             significant, together with all others under the same conditions.",
        );
        self.drawn(figure, self.metrics, |_, metric| {
            let groups = self.section.groups(metric);
            let panels = groups.iter().filter_map(|group| self.compared(metric, group)).collect();
            let keys = vec![
                Key::dot(Look::default(), Fill::Full, "difference"),
                Key::interval(Look::default(), false, "95 % confidence interval"),
            ];
            let columns = vec!["low", "high", "n", "cell", "against"];
            let all: Vec<_> = groups.iter().flat_map(|group| &group.differences).collect();
            let is_open = |one: &&&&Difference| one.headline().verdict == Verdict::Undecided;
            let caption = format!(
                "n = {} of runs each; {} of {} differences are not significant.",
                range(all.iter().map(|one| one.n), "pair"),
                all.iter().filter(is_open).count(),
                all.len()
            );
            vec![(Plot { keys, panels, columns, ..Plot::default() }, caption)]
        })
    }

    /// A panel of the differences of cells from the best one.
    fn compared(&self, metric: &str, compared: &Compared<'_>) -> Option<Panel> {
        let cells = &self.section.document.cells;
        let cell = |number: u32| Some((number, cells.get(number as usize)?));
        let differences = compared.differences.iter().map(|one| one.cell);
        let members = differences.chain([compared.best]).map(cell).collect::<Option<Vec<_>>>()?;
        let all: Vec<&CellResult> = self.section.results().collect();
        let group = Group::new(self.section.document, members, &all, &[]);
        let (mut names, mut marks) = (Vec::new(), Vec::new());
        for (row, one) in (0..).map(f64::from).zip(&compared.differences) {
            let (shown, name) = (one.headline(), group.name(&cells[one.cell as usize]));
            let [low, high] = shown.ci95.filter(|_| one.n > 1).unwrap_or([f64::NAN; 2]);
            let look = Look::default();
            let whisker = Mark::Whisker(look, [low, row], [high, row]);
            marks.extend((low < high).then_some(whisker));
            marks.push(Mark::Dot(look, [shown.value, row], Fill::Full));
            let counts = [one.n, one.cell, one.against].map(f64::from);
            let more = [&[low, high][..], &counts].concat();
            marks.push(Mark::Value(name.clone(), [shown.value, row], more));
            names.push(name);
        }
        let best = group.name(&cells[compared.best as usize]);
        let parts = [group.title.clone(), format!("from {best}")].into_iter();
        let title = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let x = Axis::new(format!("Difference of {}", words::metric(metric)), Scale::Difference);
        Some(Panel { title, x, y: Axis::new("", Scale::Names(names)), marks })
    }

    /// A figure of each factor that is a number.
    fn sweeps(&self) -> Vec<Figure> {
        let results: Vec<&CellResult> = self.section.results().collect();
        let factors = self.section.telling_factors().into_iter();
        let factors = factors.filter(|name| is_numeric(&results, name, VALUES_MIN));
        let figure = |(index, factor): (usize, String)| {
            let place = |cell: &CellResult| number(cell, &factor).map(|(x, _)| x);
            let title = self.section.document.factor(&factor).title;
            let note = format!(
                "How results change with {title}. Intervals are 95 % confidence intervals of means; quantiles \
                 are over all samples. Only the dots were measured; the lines between them are interpolated."
            );
            let figure = self.figure("sweep", format!("Results by {title}"), &note);
            let figure = Figure { id: format!("{}-{index}", figure.id), ..figure };
            self.lines(figure, self.metrics, |subject| Along::factor(subject, &factor, &place))
        };
        factors.enumerate().map(figure).collect()
    }

    /// Verdict latency against the number of signatures per second, whichever factors change it.
    fn load(&self) -> Option<Figure> {
        let place = |cell: &CellResult| cell.mean(LOAD);
        let is_known =
            self.metrics.contains(&LATENCY) && self.section.results().any(|it| place(it).is_some());
        let mut figure = self.figure(
            "load",
            "Verdict latency against load",
            "Quantiles over all signatures, against the number verified per second. Only the dots were measured; \
             the lines between them are interpolated.",
        );
        figure.choosers.clear();
        figure.choosers.push(metric_chooser(&[LATENCY]));
        let along = || Along {
            name: words::axis(LOAD),
            factors: LOADS.map(str::to_owned).to_vec(),
            place: &place,
        };
        is_known.then(|| self.lines(figure, &[LATENCY], |_| along()))
    }

    /// Adds a view for each metric and statistic.
    fn lines<'s>(
        &self,
        mut figure: Figure,
        metrics: &[&'static str],
        along: impl Fn(&Subject<'_>) -> Along<'s>,
    ) -> Figure {
        let mean = |one: &MetricSummary| (one.mean, Some(one.ci95).filter(|_| one.n > 1));
        let p50 = |one: &MetricSummary| (one.p50, None);
        let p95 = |one: &MetricSummary| (one.p95, None);
        let p99 = |one: &MetricSummary| (one.p99, None);
        let quantiles: [(&str, Statistic<'_>); 3] = [("p50", &p50), ("p95", &p95), ("p99", &p99)];
        let statistics: [(&str, &[(&str, Statistic<'_>)]); 5] = [
            ("mean", &[("", &mean)]),
            ("p50", &[("", &p50)]),
            ("p95", &[("", &p95)]),
            ("p99", &[("", &p99)]),
            ("p50, p95 and p99", &quantiles),
        ];
        let options = statistics.iter().map(|(name, _)| (*name).to_owned()).collect();
        figure.choosers.push(Chooser { name: "statistic", options, help: Vec::new() });
        self.drawn(figure, metrics, |subject, metric| {
            let view = |(_, statistics): &(&str, &[(&str, Statistic<'_>)])| {
                let mut plot = kinds::lines(subject, &along(subject), statistics);
                let is_line = |mark: &Mark| matches!(mark, Mark::Line(_, points) if points.len() >= VALUES_MIN);
                plot.panels.retain(|panel| panel.marks.iter().any(is_line));
                (self.limited(metric, false, plot), caption(&subject.cells, &subject.lost, metric))
            };
            statistics.iter().map(view).collect()
        })
    }

    fn distribution(&self) -> Figure {
        let figure = self.figure(
            "distribution",
            "Distributions",
            "Empirical distribution functions over all samples: the percentage of samples up to each value. A \
             curve further to the left has smaller values. If two curves cross, neither is smaller everywhere. \
             Markers only tell the curves apart.",
        );
        self.drawn(figure, self.metrics, |subject, metric| {
            let found = |cell: u32| self.distributions.get(&(cell, metric));
            let (plot, _) = kinds::ecdf(subject, |cell| found(cell).cloned());
            let samples = subject.cells().filter_map(found).map(|one| one.samples).sum::<usize>();
            let caption =
                format!("{} {samples} samples.", caption(&subject.cells, &subject.lost, metric));
            vec![(self.limited(metric, true, plot), caption)]
        })
    }

    /// Two conflicting goals, and the cells that no other cell beats in both.
    fn front(&self, across: &'static str, upwards: &'static str) -> Option<Figure> {
        let subject = Subject::among(self.section.document, upwards, &self.section.cells);
        let points = subject.cells.iter().filter_map(|(number, cell)| {
            Some((*number, *cell, cell.metrics.get(across)?, &cell.metrics[upwards]))
        });
        let points: Vec<_> = points.collect();
        let costs = points.iter().map(|(.., x, y)| [cost(across, x.mean), cost(upwards, y.mean)]);
        let costs: Vec<[f64; 2]> = costs.collect();
        let all: Vec<&CellResult> = points.iter().map(|(_, cell, ..)| *cell).collect();
        let members = points.iter().map(|(number, cell, ..)| (*number, *cell)).collect();
        let group =
            (points.len() > 1).then(|| Group::new(self.section.document, members, &all, &[]))?;
        let (mut front, mut marks, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (number, cell, x, y)) in points.iter().enumerate() {
            let (look, name, at) = (Look::series(place), group.name(cell), [x.mean, y.mean]);
            let [[x_low, x_high], [low, high]] =
                [x, y].map(|one| if one.n > 1 { one.ci95 } else { [f64::NAN; 2] });
            let is_known = [x_low, low].iter().all(|end| end.is_finite());
            let whiskers = [([x_low, y.mean], [x_high, y.mean]), ([x.mean, low], [x.mean, high])];
            let whiskers = whiskers.into_iter().filter(|_| is_known);
            marks.extend(whiskers.map(|(one, other)| Mark::Whisker(look, one, other)));
            let is_front = is_unbeaten(&costs, place);
            front.extend(is_front.then_some(at));
            marks.push(Mark::Dot(look, at, if is_front { Fill::Full } else { Fill::White }));
            let counts = [f64::from(u8::from(is_front)), x.n.min(y.n).into(), (*number).into()];
            let more = [&[low, high, x_low, x_high][..], &counts].concat();
            marks.push(Mark::Value(name.clone(), at, more));
            keys.push(Key::dot(look, Fill::Full, &name));
        }
        // A longer legend is longer than the figure; the values have the names, too.
        keys.truncate(if keys.len() > KEYS_MAX { 0 } else { KEYS_MAX });
        front.sort_by(|a, b| a[0].total_cmp(&b[0]));
        marks.insert(0, Mark::Line(Look::INK, front));
        let [x, y] = [across, upwards].map(|metric| Axis::new(words::axis(metric), Scale::Data));
        let panels = vec![Panel { title: String::new(), x, y, marks }];
        let columns = vec!["low", "high", "x low", "x high", "on the front", "n", "cell"];
        let plot =
            Plot { keys, panels, columns, aspect: 0.62, panel_width_min: 15.0, ..Plot::default() };
        let [x_name, y_name] = [across, upwards].map(|metric| words::name_and_unit(metric).0);
        let mut figure = self.figure(
            "front",
            capital(&format!("{y_name} against {x_name}")),
            "Each cell's means with their 95 % confidence intervals. The line joins the cells that no other cell \
             beats in both means (the Pareto front); their dots are filled. Where intervals overlap, this order \
             is not significant.",
        );
        figure.choosers.clear();
        figure.add(Vec::new(), plot, caption(&subject.cells, &subject.lost, upwards));
        Some(figure)
    }
}

fn metric_chooser(metrics: &[&str]) -> Chooser {
    Chooser {
        name: "metric",
        options: metrics.iter().map(|name| words::metric(name)).collect(),
        help: metrics.iter().map(|name| words::help(name)).collect(),
    }
}

/// What was verified each second, whichever factor was varied: vehicles, crossings, forgeries.
const LOAD: &str = "signature_rate_hz";
const LATENCY: &str = "verdict_ms";

/// Factors that determine how many signatures there are to verify.
const LOADS: [&str; 5] = ["crossings", "vehicles", "rate_hz", "forged", "flood"];

/// The value to minimise: negated if more is better.
fn cost(metric: &str, mean: f64) -> f64 {
    if less_is_better(metric) == Some(false) { -mean } else { mean }
}

/// Whether no other cell is as good in both and better in one.
fn is_unbeaten(costs: &[[f64; 2]], place: usize) -> bool {
    let [x, y] = costs[place];
    !costs.iter().any(|[a, b]| *a <= x && *b <= y && (*a < x || *b < y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let costs = [[1.0, 5.0], [2.0, 4.0], [2.0, 5.0], [3.0, 4.0], [4.0, 1.0], [1.0, 5.0]];
        let front: Vec<usize> = (0..costs.len()).filter(|at| is_unbeaten(&costs, *at)).collect();
        assert_eq!(front, [0, 1, 4, 5], "equal cells do not beat each other");
        assert!(cost("fps", 20.0) < cost("fps", 10.0) && cost("rtt_ms", 1.0) < cost("rtt_ms", 2.0));
    }
}
