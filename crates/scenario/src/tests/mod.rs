//! From text to plans, as a user sees it.

mod cells;
mod environment;
mod groups;
mod inference;
mod mistakes;
mod overriding;
mod parts;
mod presets;
mod programs;

use super::{Factor, Override, Plan, ScenarioError, Source, load};

fn plan_with(text: &str, settings: &[&str]) -> Result<Plan, ScenarioError> {
    let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
    load(&Source::recorded("a.toml", text), &overrides)
}

fn planned_with(text: &str, settings: &[&str]) -> Plan {
    plan_with(text, settings).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(text: &str) -> Plan {
    planned_with(text, &[])
}

#[track_caller]
fn mistake(text: &str, settings: &[&str]) -> String {
    match plan_with(text, settings) {
        Ok(_) => panic!("nothing wrong with {settings:?} and\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Expects an error that contains all of these words.
#[track_caller]
fn expect_words(text: &str, settings: &[&str], words: &[impl AsRef<str>]) {
    let error = mistake(text, settings);
    for word in words.iter().map(AsRef::as_ref) {
        assert!(error.contains(word), "no {word:?} in:\n{error}");
    }
}

/// The rows of a table; \n stands for the end of a line.
fn rows(table: &str) -> impl Iterator<Item = Vec<String>> {
    table.lines().map(|row| {
        assert!(row.contains(" | "), "{row}");
        row.split(" | ").map(|field| field.replace("\\n", "\n")).collect()
    })
}

/// The factors of every cell, a line each.
fn factors(plan: &Plan) -> Vec<String> {
    let line = |factors: &[(String, Factor)]| {
        factors.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    plan.cells.iter().map(|cell| line(&cell.factors)).collect()
}

/// A valid scenario; `more` is put before its tables.
fn scenario(more: &str) -> String {
    format!(
        "protocol = \"quic\"\n{more}\n[link]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n\
         [workload]\nkind = \"messages\"\n"
    )
}

fn scenario_with_link(link: &str) -> String {
    format!("protocol = \"quic\"\n[link]\n{link}\n[workload]\nkind = \"messages\"\n")
}
