//! Every mistake that people make has one clear message.

use super::super::{Source, load};
use super::{plan_with, scenario, scenario_with_link};

fn error(text: &str) -> String {
    plan_with(text, &[]).expect_err(text).to_string()
}

/// The single report that `text` causes.
#[track_caller]
fn expect(text: &str, report: &str) {
    assert_eq!(error(text), report, "\n{}\n", error(text));
}

fn file_error(path: &std::path::Path) -> String {
    load(&Source::File(path.to_owned()), &[]).expect_err("no scenario").to_string()
}
