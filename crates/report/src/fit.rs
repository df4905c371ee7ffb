//! The settings that give wanted figures, as text and as a picture.

use std::fmt;
use std::fmt::Write as _;

use trackbed_measure::fit::{FitDocument, FitKey, FitSetting};

use crate::number::short;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};
use crate::table::{Align, Table};
use crate::words::written;

/// Renders the document for the terminal.
pub fn render(document: &FitDocument) -> String {
    written(|out| write_all(document, out))
}

fn write_all(document: &FitDocument, out: &mut String) -> fmt::Result {
    writeln!(out, "{}\n", document.answer)?;
    let mut figures = Table::titled("figure|>nearest|>in the settings below|>standard error");
    for (index, figure) in document.figures.iter().enumerate() {
        let values = document.settings.iter().filter_map(|setting| setting.figures[index]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let range =
            if low <= high { format!("{} to {}", short(low), short(high)) } else { String::new() };
        figures.row([
            figure.text.clone(),
            figure.nearest.map_or_else(String::new, short),
            range,
            short(figure.standard_error),
        ]);
    }
    writeln!(out, "{figures}")?;
    let mut keys = Table::titled("key|searched|found|>share of the range");
    for key in &document.keys {
        let share = format!("{:.0} %", key.share * 100.0);
        keys.row([key.key.clone(), key.over.clone(), found(key), share]);
    }
    writeln!(out, "{keys}")?;
    let names = document.keys.iter().map(|key| (key.key.as_str(), Align::Right));
    let figures = (1..=document.figures.len()).map(|number| format!("figure {number}"));
    let columns = names.map(|(name, align)| (name.to_owned(), align));
    let mut settings = Table::new(columns.chain(figures.map(|figure| (figure, Align::Right))));
    for setting in document.settings.iter().take(SETTINGS_SHOWN) {
        let values = document.keys.iter().map(|key| setting.values[&key.key].clone());
        let figures = setting.figures.iter().map(|value| value.map_or_else(String::new, short));
        settings.row(values.chain(figures));
    }
    write!(out, "{settings}")?;
    let more = document.settings.len().saturating_sub(SETTINGS_SHOWN);
    if more > 0 {
        writeln!(out, "{more} more are in fit.json")?;
    }
    Ok(())
}

const SETTINGS_SHOWN: usize = 10;

/// `38 kB to 43 kB`, or names with their weights.
fn found(key: &FitKey) -> String {
    if !key.weights.is_empty() {
        let weights = key.weights.iter();
        let weights = weights.map(|(name, weight)| format!("{name} {:.0} %", weight * 100.0));
        return weights.collect::<Vec<_>>().join(", ");
    }
    match key.found.as_slice() {
        [low, high] if low != high => format!("{low} to {high}"),
        found => found.first().cloned().unwrap_or_default(),
    }
}

/// A picture of all pairs of searched numbers, as SVG 1.1: where in their ranges the settings lie. None with fewer
/// than two numbers.
pub fn svg(document: &FitDocument) -> Option<String> {
    let numbers = document.keys.iter().filter_map(|key| Some((key, key.range?)));
    let numbers: Vec<(&FitKey, [f64; 2])> = numbers.take(KEYS_DRAWN).collect();
    let pairs = (0..numbers.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let panels: Vec<Panel> =
        pairs.map(|(one, other)| panel(document, numbers[other], numbers[one])).collect();
    let meaning = match document.met[1] {
        0 => "setting that comes nearest",
        _ => "setting that meets all figures",
    };
    let keys = vec![Key::dot(Look::series(0), Fill::Full, meaning)];
    let plot = Plot { keys, panels, aspect: 1.0, panel_width_min: 16.0, ..Plot::default() };
    (numbers.len() > 1).then(|| plot.svg(180.0))
}

/// The picture has the keys that are determined best.
const KEYS_DRAWN: usize = 4;

fn panel(document: &FitDocument, x: (&FitKey, [f64; 2]), y: (&FitKey, [f64; 2])) -> Panel {
    let axis = |(key, [low, high]): (&FitKey, [f64; 2])| {
        let unit = if key.unit.is_empty() { String::new() } else { format!(" ({})", key.unit) };
        Axis::new(format!("{}{unit}", key.key), Scale::Range(low, high))
    };
    let dot = |setting: &FitSetting| {
        let at = [x, y].map(|(key, _)| setting.numbers[&key.key]);
        Mark::Dot(Look::series(0), at, Fill::Full)
    };
    let marks = document.settings.iter().map(dot).collect();
    Panel { title: String::new(), x: axis(x), y: axis(y), marks }
}
