//! Factors as axes: which ones are numbers and in which unit, and which become panels.

use trackbed_measure::lists::distinct;
use trackbed_measure::results::{CellResult, FactorKind};

use crate::words::capital;

/// A factor's value as a number, with its unit if the text has one: `100 m` is 100 in `m`.
pub(crate) fn number(cell: &CellResult, factor: &str) -> Option<(f64, String)> {
    let value = cell.factors.get(factor)?;
    let (number, unit) = match value {
        serde_json::Value::Number(number) => (number.as_f64()?, ""),
        serde_json::Value::String(text) => {
            let (number, unit) = text.split_once(' ')?;
            (number.parse().ok()?, unit)
        }
        _ => return None,
    };
    number.is_finite().then(|| (number, unit.to_owned()))
}

/// Whether `factor` is a number in all of `cells` that have it, in one unit, with at least
/// `values_min` values.
pub(crate) fn is_numeric(cells: &[&CellResult], factor: &str, values_min: usize) -> bool {
    let having = cells.iter().filter(|cell| cell.factors.contains_key(factor));
    let numbers: Option<Vec<(f64, String)>> = having.map(|cell| number(cell, factor)).collect();
    let Some(mut numbers) = numbers else { return false };
    let Some((_, unit)) = numbers.first().cloned() else { return false };
    if numbers.iter().any(|(_, other)| *other != unit) {
        return false;
    }
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    numbers.dedup_by(|a, b| a.0 == b.0);
    numbers.len() >= values_min
}

/// What an axis of a numeric factor is called: `Loss (share)`
pub(crate) fn axis_name(cells: &[&CellResult], name: &str, factor: &FactorKind) -> String {
    let units = cells.iter().filter_map(|cell| number(cell, name)).map(|(_, unit)| unit);
    let written = units.into_iter().find(|unit| !unit.is_empty());
    let unit = written.unwrap_or_else(|| factor.unit.clone());
    let share = if factor.kind == "share" { "share" } else { "" };
    match [unit.as_str(), share].into_iter().find(|unit| !unit.is_empty()) {
        Some(unit) => capital(&format!("{} ({unit})", factor.title)),
        None => capital(&factor.title),
    }
}

/// The values of a factor in `cells`, in order of appearance.
pub(crate) fn values(cells: &[&CellResult], factor: &str) -> Vec<String> {
    distinct(cells.iter().map(|cell| cell.factor_text(factor)))
}

/// How a figure distinguishes cells: by panels, and by series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Split {
    /// Factors whose values are panels.
    pub chosen: Vec<String>,
    /// Factors whose values are series.
    pub series: Vec<String>,
}

impl Split {
    /// As many of the varying `factors` become series as give at most `most` series; numeric
    /// factors become panels first, the last one first.
    pub fn new(cells: &[&CellResult], factors: &[String], most: usize) -> Split {
        let mut split = Split { chosen: Vec::new(), series: factors.to_vec() };
        while split.series.len() > 1 && names(cells, &split.series).len() > most {
            let numeric = split.series.iter().rposition(|name| is_numeric(cells, name, 2));
            let place = numeric.unwrap_or(split.series.len() - 1);
            split.chosen.insert(0, split.series.remove(place));
        }
        split
    }
}

/// The distinct names of cells by these factors, in order of appearance.
pub(crate) fn names(cells: &[&CellResult], factors: &[String]) -> Vec<String> {
    distinct(cells.iter().map(|cell| cell.name(factors)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cell(factors: Value) -> CellResult {
        serde_json::from_value(
            json!({ "factors": factors, "metrics": {}, "failed": 0, "failures": [] }),
        )
        .unwrap()
    }

    #[test]
    fn numbers_may_have_their_unit_in_name_or_text() {
        let cells = [
            cell(json!({ "loss": 0, "delay_ms": 10, "error": "0 m", "tls": "1.2" })),
            cell(json!({ "loss": 0.02, "delay_ms": 200, "error": "100 m", "tls": "1.3" })),
        ];
        let cells: Vec<&CellResult> = cells.iter().collect();
        let named = |name| axis_name(&cells, name, &FactorKind::named(name));
        let names = ["loss", "delay_ms", "error"].map(named);
        assert_eq!(names, ["Loss (share)", "Delay (ms)", "Error (m)"]);
        assert!(["loss", "delay_ms", "error"].iter().all(|name| is_numeric(&cells, name, 2)));
        assert!(!is_numeric(&cells, "error", 3));
        assert!(!is_numeric(&cells, "tls", 2), "a version is a name");
    }

    #[test]
    fn numeric_factors_become_choices_before_names_do() {
        let mut cells = Vec::new();
        for protocol in ["quic", "http2", "http3"] {
            for loss in [0.0, 0.01, 0.02, 0.05] {
                cells.push(cell(json!({ "protocol": protocol, "loss": loss })));
            }
        }
        let cells: Vec<&CellResult> = cells.iter().collect();
        let factors = ["protocol".to_owned(), "loss".to_owned()];
        let split = Split::new(&cells, &factors, 8);
        assert_eq!(
            (split.chosen, split.series),
            (vec!["loss".to_owned()], vec!["protocol".to_owned()])
        );
        assert!(Split::new(&cells, &factors, 12).chosen.is_empty());
    }
}
