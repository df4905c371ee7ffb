//! The rows of the table in `docs/agreement.md`.

use std::fmt::Write as _;

use serde_json::Value;

use super::Case;

/// A line of the table.
pub struct Row {
    columns: [String; 12],
    verdict: String,
}

const HEAD: &str = "\
| traffic | path | cell | metric | virtual | kernel | n | ratio | interval | with computing | correlation | verdict |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
";

pub fn row(case: &Case, cell: &Value) -> Row {
    let number = |key: &str| cell[key].as_f64().unwrap_or(f64::NAN);
    let value = |value: f64| match value {
        _ if value < 10.0 => format!("{value:.2}"),
        _ if value < 1e3 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    let text = |key: &str| cell[key].as_str().unwrap_or("?").to_owned();
    let optional = |key: &str, digits| {
        cell[key].as_f64().map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let end = |index: usize| cell["ci90"][index].as_f64().unwrap_or(f64::NAN);
    let margin = number("margin");
    let mut verdict = format!("{} ({:.0} %)", text("verdict").replace('_', " "), margin * 100.0);
    if let Some(pairs) = cell["pairs_to_decide"].as_u64() {
        write!(verdict, ", {pairs} pairs").expect("a String takes everything");
    }
    if cell["with_computing"]["verdict"].as_str() == Some("undecided")
        && text("verdict") == "different"
    {
        verdict.push_str(", undecided with computing");
    }
    if text("verdict") == "different" {
        let name = format!("{} {}", text("name"), text("metric"));
        let known = case.causes.iter().find(|(part, _)| name.contains(*part));
        let cause = known.map_or("unknown", |(_, cause)| cause);
        write!(verdict, ": {cause}").expect("a String takes everything");
    }
    Row {
        columns: [
            case.traffic.clone(),
            case.path(),
            text("name"),
            text("metric"),
            value(number("virtually")),
            value(number("emulated")),
            cell["pairs"].to_string(),
            format!("{:.3}", number("ratio")),
            interval([end(0), end(1)]),
            cell["with_computing"].as_object().map_or_else(String::new, |with| {
                let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
                let ends = [0, 1].map(|end| number(&with["ci90"][end]));
                format!("{:.3}, {}", number(&with["ratio"]), interval(ends))
            }),
            optional("correlation", 2),
            verdict,
        ],
        verdict: text("verdict"),
    }
}

/// An interval that could not be computed is from 0 to 1e12.
fn interval([low, high]: [f64; 2]) -> String {
    if high > 1e6 { "unknown".to_owned() } else { format!("{low:.3} to {high:.3}") }
}

/// The rows as a table in Markdown.
pub fn table(rows: &[Row]) -> String {
    let line = |columns: &[String]| format!("| {} |\n", columns.join(" | "));
    let mut text = HEAD.to_owned();
    rows.iter().for_each(|row| text.push_str(&line(&row.columns)));
    text
}

pub fn summary(rows: &[Row], without_runs: u32, environment: &Value) -> String {
    let count = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let fact = |name: &str| environment[name].as_str().unwrap_or("unknown").to_owned();
    format!(
        "{} of {} equivalent, {} more with computing, {} different, {} undecided{}. Linux {}, {} cores, {}.\n",
        count("equivalent"),
        rows.len(),
        count("equivalent_with_computing"),
        count("different"),
        count("undecided"),
        match without_runs {
            0 => String::new(),
            cells => format!("; cells without runs: {cells}"),
        },
        fact("kernel"),
        fact("cores"),
        fact("processor"),
    )
}
