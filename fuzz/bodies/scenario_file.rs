//! Any text as a scenario, and any as its settings: a plan or an error, never a panic, never a plan without
//! bounds.

use trackbed_scenario::{self as scenario, Source};

/// One input: a scenario, and after each zero byte a setting.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, settings) = text.split_once('\0').unwrap_or((text, ""));
    let settings: Vec<_> = settings.split('\0').filter_map(|it| it.parse().ok()).collect();
    let source = Source::recorded("fuzz.toml", text);
    match scenario::load(&source, &settings) {
        Ok(plan) => assert!(!plan.cells.is_empty() && plan.runs > 0, "a plan has something to run"),
        Err(error) => assert!(error.to_string().starts_with("error: "), "an error has a message"),
    }
}
