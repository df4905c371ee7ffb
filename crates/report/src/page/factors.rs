//! Factors as axes: which ones are numbers and in which unit, and how cells map to colours, dashes
//! and choices.

use trackbed_measure::lists::distinct;
use trackbed_measure::results::{CellResult, FactorKind};

use super::figure::Axis;
use super::palette::SERIES;

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

/// The axis of a numeric factor.
pub(crate) fn axis(cells: &[&CellResult], name: &str, factor: &FactorKind) -> Axis {
    let values: Vec<(f64, String)> = cells.iter().filter_map(|cell| number(cell, name)).collect();
    let written = values.iter().map(|(_, unit)| unit.as_str()).find(|unit| !unit.is_empty());
    let unit = match (written, factor.unit.as_str()) {
        (Some(written), _) => written,
        (None, "") if factor.kind == "share" => "share",
        (None, "") => "number",
        (None, unit) => unit,
    };
    Axis::linear(factor.title.clone(), unit).for_values(values.iter().map(|(value, _)| *value))
}

/// The values of a factor in `cells`, in order of appearance.
pub(crate) fn values(cells: &[&CellResult], factor: &str) -> Vec<String> {
    distinct(cells.iter().map(|cell| cell.factor_text(factor)))
}

/// How a figure distinguishes cells: by the reader's choices, and by series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Split {
    /// Factors whose value the reader chooses.
    pub chosen: Vec<String>,
    /// Factors whose values are series.
    pub series: Vec<String>,
}

impl Split {
    /// As many of the varying `factors` become series as give at most `most` series; numeric
    /// factors become choices first, the last one first.
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

/// Colour and dash of each cell. Each value of the first non-numeric factor has the same colour in
/// all figures of a section; combinations of the other factors have dashes.
#[derive(Clone, Debug)]
pub(crate) struct Looks {
    coloured: Option<String>,
    colours: Vec<String>,
    dashed: Vec<String>,
    dashes: Vec<String>,
}

impl Looks {
    /// For cells whose series differ in `factors`.
    pub fn new(cells: &[&CellResult], factors: &[String]) -> Looks {
        let word = factors.iter().find(|name| !is_numeric(cells, name, 1));
        let coloured = word.or(factors.first()).cloned();
        let colours = coloured.as_ref().map_or_else(Vec::new, |name| values(cells, name));
        let others = factors.iter().filter(|name| Some(*name) != coloured.as_ref());
        let dashed: Vec<String> = others.cloned().collect();
        let dashes = names(cells, &dashed);
        Looks { coloured, colours, dashed, dashes }
    }

    /// The factor that determines the colour.
    pub fn coloured(&self) -> Option<&str> {
        self.coloured.as_deref()
    }

    /// The colour of a cell, from 0 to [`SERIES`], and its dash.
    pub fn of(&self, cell: &CellResult) -> (usize, usize) {
        let Some(coloured) = &self.coloured else { return (0, 0) };
        let place = |list: &[String], text: &str| list.iter().position(|one| one == text);
        let colour = place(&self.colours, &cell.factor_text(coloured)).unwrap_or(0);
        let dash = place(&self.dashes, &cell.name(&self.dashed)).unwrap_or(0);
        (colour % SERIES, dash + colour / SERIES)
    }
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
        let unit = |name| axis(&cells, name, &FactorKind::named(name)).unit;
        assert_eq!(["loss", "delay_ms", "error"].map(unit), ["share", "ms", "m"]);
        assert_eq!(FactorKind::named("delay_ms").title, "delay");
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
        let looks = Looks::new(&cells, &factors);
        assert_eq!(looks.of(cells[0]), (0, 0));
        assert_eq!(looks.of(cells[4]), (1, 0));
        assert_eq!(looks.of(cells[6]), (1, 2), "the same protocol, the same colour");
        assert_eq!(Looks::new(&cells, &factors[..1]).of(cells[6]), (1, 0), "only one factor");
        assert_eq!(
            Looks::new(&cells, &factors[1..]).of(cells[6]),
            (2, 0),
            "numeric, as there is no other"
        );
    }
}
