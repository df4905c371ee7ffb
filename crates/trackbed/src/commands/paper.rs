//! `trackbed paper`

use anyhow::bail;
use trackbed_lab::paper;
use trackbed_report::summary::Options;
use trackbed_report::{comparison, summary};

use super::campaign;
use crate::Verdict;
use crate::arguments::PaperArguments;
use crate::output;

/// Runs a paper's scenario and holds its figures and claims against ours.
///
/// # Errors
/// If there is no such paper, a setting is not valid, or results cannot be written.
pub fn execute(arguments: &PaperArguments) -> anyhow::Result<Verdict> {
    if !paper::names().any(|name| name == arguments.name) {
        let known: Vec<&str> = paper::names().collect();
        let known = known.join(", trackbed paper ");
        bail!("there is no paper {:?}; write trackbed paper {known}", arguments.name);
    }
    let finished = campaign::execute(&arguments.name, &arguments.options)?;
    let plan = &finished.plan;
    let found = paper::compare(&arguments.name, plan, &finished.document.cells, &finished.runs);
    let Some(found) = found else { bail!("the scenario {} has no paper", plan.name) };
    let claims = paper::checks(&found);
    if arguments.options.json {
        let mut document = finished.document.clone();
        document.checks.extend(claims.iter().cloned());
        let mut value = serde_json::to_value(&document)?;
        value["paper"] = serde_json::to_value(&found)?;
        output::print_json(&value)?;
    } else {
        let replay = finished.replay_command();
        let options = Options { replay: &replay, verbose: arguments.options.verbose };
        let text = summary::render(&finished.document, options);
        output::print(&format!("{text}\n{}", comparison::render(&found)))?;
    }
    finished.tell_changed(&arguments.options);
    finished.tell_where(arguments.options.json);
    Ok(match finished.verdict() {
        Verdict::Success if claims.iter().any(|claim| !claim.pass) => Verdict::CheckFailed,
        other => other,
    })
}
