//! A paper's figures and claims beside ours, as a picture: SVG 1.1.

use std::fmt::{self, Write as _};

use trackbed_analysis::advise::guidance;
use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison, Figure};

use super::Findings;
use crate::number::significant;

/// Rows of one quantity, which share an axis.
struct Panel {
    title: String,
    rows: Vec<Row>,
    /// Whether zero means that there is no difference, and is marked.
    is_difference: bool,
}

struct Row {
    label: String,
    /// What papers print: values, or ranges.
    paper: Vec<[f64; 2]>,
    ours: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Whether it is drawn as an open circle: undecided.
    is_open: bool,
}

/// The picture; `None` where there is nothing to draw.
pub(super) fn svg(name: &str, findings: &Findings) -> Option<String> {
    let mut panels = match findings {
        Findings::Claims(comparison) => of_comparison(comparison),
        Findings::Guidance { figures, .. } => of_guidance(figures),
    };
    panels.retain(|panel| panel.rows.iter().any(|row| row.ours.is_some()));
    if panels.is_empty() {
        return None;
    }
    let mut text = String::new();
    write_picture(name, &panels, &mut text).expect("a String takes everything");
    Some(text)
}

fn of_comparison(comparison: &Comparison) -> Vec<Panel> {
    let mut panels = grouped(comparison.figures.iter().map(|figure| {
        let Figure { metric, cell, paper, ours, ci95 } = figure;
        let paper = vec![[*paper, *paper]];
        let row = Row { label: cell.clone(), paper, ours: *ours, interval: *ci95, is_open: false };
        (metric.clone(), row)
    }));
    let claims = comparison.claims.iter().map(|claim| {
        let Claim { text, claimed, ours_percent, ci95_percent, verdict, .. } = claim;
        Row {
            label: text.clone(),
            paper: percent(claimed).map(|value| [value, value]).into_iter().collect(),
            ours: *ours_percent,
            interval: *ci95_percent,
            is_open: *verdict == ClaimVerdict::Undecided,
        }
    });
    let title = "claims: difference in %".to_owned();
    panels.push(Panel { title, rows: claims.collect(), is_difference: true });
    panels
}

fn of_guidance(figures: &[guidance::Figure]) -> Vec<Panel> {
    grouped(figures.iter().map(|figure| {
        let guidance::Figure { setting, metric, statistic, printed, here, ci95 } = figure;
        let load = match setting.load {
            guidance::Load::Low => "low",
            guidance::Load::High => "high",
        };
        let row = Row {
            label: format!("{} {}, {load} load", setting.protocol, setting.cipher),
            paper: printed.iter().map(|printed| [printed.low, printed.high]).collect(),
            ours: Some(*here),
            interval: match ci95 {
                [Some(low), Some(high)] => Some([*low, *high]),
                _ => None,
            },
            is_open: false,
        };
        (format!("{statistic} {metric}"), row)
    }))
}

/// A panel for each name, in the order in which they come.
fn grouped(rows: impl Iterator<Item = (String, Row)>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for (title, row) in rows {
        match panels.iter_mut().find(|panel| panel.title == title) {
            Some(panel) => panel.rows.push(row),
            None => panels.push(Panel { title, rows: vec![row], is_difference: false }),
        }
    }
    panels
}

/// The number of `-15 %`; claims of a direction alone have none.
fn percent(claimed: &str) -> Option<f64> {
    claimed.split_once(" %")?.0.parse().ok()
}

const WIDTH: f64 = 1_000.0;
/// Where labels end and axes begin.
const LEFT: f64 = 420.0;
const RIGHT: f64 = 970.0;
const ROW: f64 = 17.0;
/// Above the rows of a panel, and below them.
const HEAD: f64 = 30.0;
const FOOT: f64 = 34.0;
/// Longer labels are cut.
const LABEL_CHARS: usize = 66;
/// Two colours that those who see few can tell apart (Okabe and Ito).
const OURS: &str = "#0072b2";
const PAPER: &str = "#d55e00";

fn write_picture(name: &str, panels: &[Panel], out: &mut String) -> fmt::Result {
    let height_of = |panel: &Panel| HEAD + ROW * panel.rows.len() as f64 + FOOT;
    let height = 30.0 + panels.iter().map(height_of).sum::<f64>();
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{name}: what the paper has, and what comes out here</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <g transform=\"translate({LEFT} 16)\"><path d=\"{}\" fill=\"{PAPER}\"/>\
         <text x=\"10\" y=\"4\">the paper</text><circle cx=\"90\" r=\"3.5\" fill=\"{OURS}\"/>\
         <text x=\"100\" y=\"4\">here, with the 95 % interval (open: undecided)</text></g>",
        diamond(0.0, 0.0)
    )?;
    let mut top = 30.0;
    for panel in panels {
        write_panel(panel, top, out)?;
        top += height_of(panel);
    }
    writeln!(out, "</svg>")
}

fn write_panel(panel: &Panel, top: f64, out: &mut String) -> fmt::Result {
    let axis = Axis::of(panel);
    let (first, last) = (top + HEAD, top + HEAD + ROW * panel.rows.len() as f64);
    let title = escaped(&panel.title);
    writeln!(out, "<text x=\"10\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>", top + 20.0)?;
    for tick in axis.ticks() {
        let x = axis.place(tick);
        writeln!(
            out,
            "<path d=\"M{x:.1} {first}V{last}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            last + 14.0,
            tick_text(tick)
        )?;
    }
    if panel.is_difference {
        let x = axis.place(0.0);
        writeln!(out, "<path d=\"M{x:.1} {first}V{last}\" stroke=\"#333\"/>")?;
    }
    for (number, row) in panel.rows.iter().enumerate() {
        write_row(row, &axis, first + ROW * (number as f64 + 0.5), out)?;
    }
    Ok(())
}

fn write_row(row: &Row, axis: &Axis, y: f64, out: &mut String) -> fmt::Result {
    let cut = row.label.chars().count() > LABEL_CHARS;
    let mut label: String = row.label.chars().take(LABEL_CHARS).collect();
    label.push_str(if cut { "..." } else { "" });
    writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LEFT - 10.0,
        y + 4.0,
        escaped(&label)
    )?;
    for [low, high] in &row.paper {
        let (from, until) = (axis.place(*low), axis.place(*high));
        if until > from {
            let width = until - from;
            writeln!(
                out,
                "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"7\" \
                 fill=\"{PAPER}\" opacity=\"0.35\"/>",
                y - 3.5
            )?;
        } else {
            writeln!(out, "<path d=\"{}\" fill=\"{PAPER}\"/>", diamond(from, y))?;
        }
    }
    if let Some([low, high]) = row.interval {
        let (from, until) = (axis.place(low), axis.place(high));
        writeln!(
            out,
            "<path d=\"M{from:.1} {y:.1}H{until:.1}\" stroke=\"{OURS}\" stroke-width=\"2\"/>"
        )?;
        // What goes on beyond the axis has a head.
        for (goes_on, end, back) in [(low < axis.low, from, 6.0), (high > axis.high, until, -6.0)] {
            if goes_on {
                let tip = end - back;
                let (above, below) = (y - 4.0, y + 4.0);
                writeln!(
                    out,
                    "<path d=\"M{tip:.1} {y:.1}L{end:.1} {above:.1}V{below:.1}Z\" fill=\"{OURS}\"/>"
                )?;
            }
        }
    }
    if let Some(ours) = row.ours {
        let fill = if row.is_open { "white" } else { OURS };
        writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{fill}\" stroke=\"{OURS}\"/>",
            axis.place(ours)
        )?;
    }
    Ok(())
}

fn diamond(x: f64, y: f64) -> String {
    format!(
        "M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z",
        x - 4.5,
        y - 4.5,
        x + 4.5,
        y + 4.5
    )
}

/// Where values lie: equal ratios at equal lengths, if they are positive and lie far apart.
struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Axis {
    fn of(panel: &Panel) -> Axis {
        let of_row = |row: &Row| {
            let known = row.ours.into_iter().chain(row.paper.iter().flatten().copied());
            known.collect::<Vec<f64>>()
        };
        let values: Vec<f64> =
            panel.rows.iter().flat_map(of_row).filter(|v| v.is_finite()).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_log = !panel.is_difference && least > 0.0 && most / least > LOG_FROM;
        if is_log {
            return Axis { low: least / 1.5, high: most * 1.5, is_log };
        }
        let (least, most) = (least.min(0.0), most.max(0.0));
        let room = ((most - least) * 0.08).max(1e-9);
        Axis { low: if least < 0.0 { least - room } else { 0.0 }, high: most + room, is_log }
    }

    /// What lies beyond the ends is drawn at the end.
    fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        LEFT + (RIGHT - LEFT) * share
    }

    /// Powers of ten, or four to ten values that are 1, 2 or 5 times one.
    fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let decades = self.low.log10().ceil() as i32..=self.high.log10().floor() as i32;
            let steps: &[f64] = if decades.clone().count() < 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let below = self.low.log10().floor() as i32;
            let all = (below..=*decades.end())
                .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
            return all.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        let span = self.high - self.low;
        let power = 10_f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= 8.0).unwrap_or(span);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|k| k as f64 * step).take_while(|tick| *tick <= self.high).collect()
    }
}

/// A round number without the noughts that say how exact it is.
fn tick_text(tick: f64) -> String {
    let text = significant(tick);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// From this ratio of the largest to the smallest value on, an axis is logarithmic.
const LOG_FROM: f64 = 30.0;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn comparison() -> Findings {
        let figure = |cell: &str, paper: f64, ours: f64| Figure {
            metric: "completion_ms".to_owned(),
            cell: cell.to_owned(),
            paper,
            ours: Some(ours),
            ci95: Some([ours - 10.0, ours + 10.0]),
        };
        let claim = Claim {
            text: "less < more & so on".to_owned(),
            claimed: "-15 %".to_owned(),
            margin_percent: None,
            ours_percent: Some(-5.0),
            ci95_percent: Some([-12.0, 1.0]),
            verdict: ClaimVerdict::Undecided,
        };
        Findings::Claims(Comparison {
            title: "A study".to_owned(),
            figures: vec![figure("quic", 100.0, 150.0), figure("http2", 200.0, 200.0)],
            claims: vec![claim],
            definitions: BTreeMap::new(),
        })
    }

    /// From 0 to 200 and 8 % more, between x = 420 and x = 970: 150 ms lie at 801.9, 100 at 674.6.
    #[test]
    fn values_are_drawn_where_they_are() {
        let picture = svg("vru", &comparison()).unwrap();
        assert!(picture.contains("<circle cx=\"801.9\" cy=\"68.5\" r=\"3.5\" fill=\"#0072b2\""));
        assert!(picture.contains("M670.1 68.5L674.6 64.0"), "the paper's value: {picture}");
        assert!(picture.contains("fill=\"white\" stroke=\"#0072b2\""), "undecided: {picture}");
        assert!(picture.contains("less &lt; more &amp; so on"));
        let heads = |picture: &str| picture.matches(&format!("Z\" fill=\"{OURS}\"")).count();
        assert_eq!(heads(&picture), 0, "every interval is whole: {picture}");
        let mut wide = comparison();
        if let Findings::Claims(comparison) = &mut wide {
            comparison.figures[0].ci95 = Some([140.0, 2_000.0]);
        }
        let wide = svg("vru", &wide).unwrap();
        assert!(wide.contains("<path d=\"M976.0 68.5L970.0 64.5V72.5Z\""), "{wide}");
        assert_eq!(heads(&wide), 1);
    }

    #[test]
    fn axes_have_round_ticks() {
        let axis = |low, high, is_log| Axis { low, high, is_log };
        assert_eq!(axis(-16.2, 1.2, false).ticks(), [-15.0, -10.0, -5.0, 0.0]);
        assert_eq!(axis(0.0, 216.0, false).ticks(), [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(axis(0.7, 1_500.0, true).ticks(), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(
            [0.05, 10.0, -5.0, 0.0, 1_000.0].map(tick_text),
            ["0.05", "10", "-5", "0", "1000"]
        );
        assert_eq!(axis(1.5, 60.0, true).ticks(), [2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn claims_of_a_direction_have_no_number() {
        assert_eq!(percent("-15 %"), Some(-15.0));
        assert_eq!(percent("0 % (give or take 5)"), Some(0.0));
        assert_eq!(percent("less"), None);
    }

    #[test]
    fn without_values_there_is_no_picture() {
        let findings = Findings::Guidance {
            title: String::new(),
            model: None,
            figures: Vec::new(),
            guidance: Vec::new(),
        };
        assert_eq!(svg("edge", &findings), None);
    }
}
