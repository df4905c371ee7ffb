//! `trackbed doctor`

mod checks;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trackbed_archive::VERSION;
use trackbed_measure::results::SCHEMA;
use trackbed_report::{Align, Table};

use crate::ending::Ending;
use crate::output;

/// How to print.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/doctor.txt"))]
pub struct Arguments {
    /// Print one JSON document in place of a table
    #[arg(long)]
    pub json: bool,
}

/// The output of `doctor --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument {
    /// The version of this form.
    schema: u32,
    /// The version of the tool.
    trackbed: String,
    /// The checks, in the order of the table.
    findings: Vec<Finding>,
}

/// Something that this machine can or cannot do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// What it is.
    name: String,
    /// Whether it works here.
    works: bool,
    /// What was found.
    detail: String,
    /// How to get it, or more of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// Prints what this machine can do, and how to enable the rest.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let findings = checks::all();
    let document = DoctorDocument { schema: SCHEMA, trackbed: VERSION.to_owned(), findings };
    output::answer(arguments.json, &document, || text(&document.findings))?;
    Ok(Ending::Success)
}

fn text(findings: &[Finding]) -> String {
    let missing: Vec<&str> =
        findings.iter().filter(|one| !one.works).map(|one| one.name.as_str()).collect();
    let answer = match missing.as_slice() {
        [] => "This machine can do everything that Trackbed offers.".to_owned(),
        missing => format!("This machine can do everything but: {}.", missing.join(", ")),
    };
    let titles = ["", "works", "found"].map(|title| (title, Align::Left));
    let mut table = Table::new(titles);
    for one in findings {
        table.row([one.name.as_str(), if one.works { "yes" } else { "no" }, &one.detail]);
    }
    let mut text = format!("{answer}\n\n{table}");
    let remedies: Vec<String> = findings
        .iter()
        .filter_map(|one| Some(format!("  {}: {}\n", one.name, one.remedy.as_ref()?)))
        .collect();
    if !remedies.is_empty() {
        text.push_str(&format!("\nTo get the rest:\n{}", remedies.concat()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_first_and_with_its_remedy() {
        let good = checks::finding("TUN", true, "detail", None);
        let found =
            text(&[good.clone(), checks::finding("SCTP", false, "detail", Some("modprobe sctp"))]);
        assert!(found.starts_with("This machine can do everything but: SCTP.\n\n"), "{found}");
        assert!(found.ends_with("\nTo get the rest:\n  SCTP: modprobe sctp\n"), "{found}");
        assert!(text(&[good]).starts_with("This machine can do everything that"));
    }
}
