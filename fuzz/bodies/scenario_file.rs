//! Any text as a scenario: a plan or an error, never a panic, never a plan without bounds.

use trackbed_scenario::{self as scenario, Source};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source::recorded("fuzz.toml", text);
    match scenario::load(&source, &[]) {
        Ok(plan) => assert!(!plan.cells.is_empty() && plan.runs > 0, "a plan has something to run"),
        Err(error) => assert!(!error.to_string().is_empty(), "an error has a message"),
    }
}
