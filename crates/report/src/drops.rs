//! What lost packets cost, as text, as JUnit's XML and as a picture.

use std::fmt::{self, Write as _};

use trackbed_measure::drops::{DropVerdict, DropsCell, DropsDocument, Pattern};

use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale, escaped};
use crate::table::Table;
use crate::words::written;

/// Renders the document for the terminal.
pub fn render(document: &DropsDocument) -> String {
    written(|out| {
        writeln!(out, "{}", document.answer)?;
        document.cells.iter().try_for_each(|cell| write_cell(document, cell, out))
    })
}

fn write_cell(document: &DropsDocument, cell: &DropsCell, out: &mut String) -> fmt::Result {
    let DropsCell { name, round_trip_ms, completion_ms, packets, patterns, .. } = cell;
    let trials = match document.fault.as_str() {
        "loss" => "lost",
        "duplication" => "doubled",
        _ => "held back",
    };
    writeln!(
        out,
        "\n{name}: {completion_ms:.1} ms without a fault, round trip {round_trip_ms:.1} ms; {} packets, each \
         {trials}\n",
        packets.len()
    )?;
    let mut table = Table::titled("packet|>sent at\nms|>size\nB|>later\nms|>given\nms|by|verdict");
    let (mut hidden, mut pairs_hidden) = (0, 0);
    let mut pairs: Vec<&Pattern> = Vec::new();
    for pattern in patterns {
        let [place] = pattern.packets.as_slice() else {
            pairs.push(pattern);
            continue;
        };
        if is_cheap(pattern) {
            hidden += 1;
            continue;
        }
        let packet = packets.iter().find(|packet| packet.place == *place);
        let [at, size] = packet.map_or([String::new(), String::new()], |packet| {
            [format!("{:.1}", packet.at_ms), packet.bytes.to_string()]
        });
        table.row(row(pattern, at, size));
    }
    let later = |one: &Pattern| one.later_ms.unwrap_or(f64::INFINITY);
    pairs.sort_by(|one, other| {
        (other.verdict.is_red(), later(other))
            .partial_cmp(&(one.verdict.is_red(), later(one)))
            .unwrap()
    });
    for (number, pattern) in pairs.iter().enumerate() {
        if number >= PAIRS_SHOWN || is_cheap(pattern) {
            pairs_hidden += 1;
            continue;
        }
        table.row(row(pattern, String::new(), String::new()));
    }
    write!(out, "{table}")?;
    if hidden > 0 {
        writeln!(out, "{hidden} others cost nothing")?;
    }
    if pairs_hidden > 0 {
        writeln!(out, "{pairs_hidden} of {} pairs cost less, and are in --json", pairs.len())?;
    }
    let failed = patterns.iter().filter_map(|one| Some((one, one.reason.as_deref()?)));
    for (pattern, reason) in failed.take(PAIRS_SHOWN) {
        writeln!(out, "{}: {}", pattern.words(), reason.lines().next().unwrap_or_default())?;
    }
    Ok(())
}

/// So many of the worst pairs are shown.
const PAIRS_SHOWN: usize = 10;

fn is_cheap(pattern: &Pattern) -> bool {
    let is_judged = matches!(pattern.verdict, DropVerdict::InTime | DropVerdict::Completes);
    is_judged && pattern.later_ms.is_some_and(|later| later < 1.0)
}

fn row(pattern: &Pattern, at: String, size: String) -> [String; 7] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    [
        pattern.words(),
        at,
        size,
        number(pattern.later_ms),
        number(pattern.bound_ms),
        pattern.rule.clone().unwrap_or_default(),
        pattern.verdict.words().to_owned(),
    ]
}

/// The patterns as JUnit's XML: red ones that `known` lacks are failures.
pub fn junit(document: &DropsDocument, known: &dyn Fn(&DropsCell, &Pattern) -> bool) -> String {
    let (mut cases, mut counts) = (String::new(), [0, 0, 0]);
    for cell in &document.cells {
        for pattern in &cell.patterns {
            let kind = match pattern.verdict {
                verdict if verdict.is_red() && !known(cell, pattern) => Some((0, "failure")),
                DropVerdict::InTime | DropVerdict::Completes => None,
                _ => Some((1, "skipped")),
            };
            let why = match (&pattern.reason, pattern.later_ms) {
                (Some(reason), _) => format!("{}: {reason}", pattern.verdict.words()),
                (None, later) => {
                    format!("{}: {:.1} ms later", pattern.verdict.words(), later.unwrap_or(0.0))
                }
            };
            let inner = kind.map_or_else(String::new, |(count, kind)| {
                counts[count] += 1;
                format!("<{kind} message=\"{}\"/>", escaped(&why))
            });
            counts[2] += 1;
            let [class, name] = [&cell.name, &pattern.words()].map(|text| escaped(text));
            cases.push_str(&format!(
                "  <testcase classname=\"{class}\" name=\"{name}\">{inner}</testcase>\n"
            ));
        }
    }
    let [failures, skipped, tests] = counts;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"trackbed drops\" tests=\"{tests}\" \
         failures=\"{failures}\" skipped=\"{skipped}\">\n{cases}</testsuite>\n"
    )
}

/// A picture: what each packet costs beside what the standard gives and, with pairs, a matrix of them; as SVG 1.1.
pub fn svg(document: &DropsDocument) -> String {
    let mut panels: Vec<Panel> = document.cells.iter().map(singles).collect();
    panels.extend(document.cells.iter().filter_map(matrix));
    let keys = vec![
        Key::area(IN_TIME, Fill::Full, "later, in time"),
        Key::area(RED, Fill::Full, "late, stalled or failed"),
        Key::dot(Look::INK, Fill::White, "time that the standard gives"),
    ];
    Plot { keys, panels, aspect: 0.8, panel_width_min: 60.0, ..Plot::default() }.svg(180.0)
}

const IN_TIME: Look = Look { colour: 0, dash: 0 };
const RED: Look = Look { colour: 1, dash: 0 };

fn singles(cell: &DropsCell) -> Panel {
    let singles: Vec<&Pattern> =
        cell.patterns.iter().filter(|one| one.packets.len() == 1).collect();
    let largest = singles.iter().filter_map(|one| one.bound_ms).fold(1.0, f64::max);
    let mut marks = Vec::new();
    for (row, pattern) in singles.iter().enumerate() {
        let y = row as f64;
        let look = if pattern.verdict.is_red() { RED } else { IN_TIME };
        // What never ends reaches beyond every bound.
        let later = pattern.later_ms.unwrap_or(1.2 * largest).max(0.0);
        marks.push(Mark::Area(look, [0.0, y - 0.35], [later, y + 0.35], Fill::Full));
        if let Some(bound) = pattern.bound_ms {
            marks.push(Mark::Dot(Look::INK, [bound, y], Fill::White));
        }
    }
    Panel {
        title: cell.name.clone(),
        x: Axis::new("later (ms)", Scale::Linear),
        y: Axis::new("", Scale::Names(singles.iter().map(|one| one.words()).collect())),
        marks,
    }
}

/// The pairs of a cell: by row the first packet, by column the number of the second in the order of sending.
fn matrix(cell: &DropsCell) -> Option<Panel> {
    let mut marks = Vec::new();
    let row =
        |pattern: &Pattern| cell.packets.iter().position(|one| one.place == pattern.packets[0]);
    let mut columns = vec![0.0; cell.packets.len()];
    for pattern in cell.patterns.iter().filter(|one| one.packets.len() == 2) {
        let Some(row) = row(pattern) else { continue };
        columns[row] += 1.0;
        let x = row as f64 + columns[row];
        let is_cheap = pattern.later_ms.is_some_and(|later| later < 1.0);
        let (look, fill) = match pattern.verdict {
            verdict if verdict.is_red() => (RED, Fill::Full),
            _ if is_cheap => (IN_TIME, Fill::White),
            _ => (IN_TIME, Fill::Light),
        };
        let y = row as f64;
        marks.push(Mark::Area(look, [x - 0.45, y - 0.45], [x + 0.45, y + 0.45], fill));
    }
    if marks.is_empty() {
        return None;
    }
    let most =
        columns.iter().enumerate().map(|(row, count)| row as f64 + count).fold(1.0, f64::max);
    Some(Panel {
        title: format!("{}, pairs", cell.name),
        x: Axis::new("second packet, in the order of sending", Scale::Ends(0.0, most + 1.0)),
        y: Axis::new(
            "first packet",
            Scale::Names(cell.packets.iter().map(|one| one.place.to_string()).collect()),
        ),
        marks,
    })
}
