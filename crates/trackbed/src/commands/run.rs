//! `trackbed run`

use trackbed_lab::paper;
use trackbed_report::summary::Options;
use trackbed_report::{comparison, guidance, summary};

use super::campaign;
use crate::Verdict;
use crate::arguments::RunArguments;
use crate::output;

/// Runs a scenario and prints what it says.
///
/// # Errors
/// If the scenario is not valid or results cannot be written.
pub fn execute(arguments: &RunArguments) -> anyhow::Result<Verdict> {
    let finished = campaign::execute(&arguments.scenario, &arguments.options)?;
    if arguments.options.json {
        output::print_json(&serde_json::to_value(&finished.document)?)?;
        finished.tell_where(true);
        return Ok(finished.verdict());
    }
    let replay = finished.replay_command();
    let options = Options { replay: &replay, verbose: arguments.options.verbose };
    let mut text = summary::render(&finished.document, options);
    let reference = finished.plan.paper.as_deref().and_then(|name| {
        paper::compare(name, &finished.plan, &finished.document.cells, &finished.runs)
    });
    if let Some(reference) = reference {
        text.push('\n');
        text.push_str(&comparison::render(&reference));
        finished.tell_changed(&arguments.options);
    }
    if let Some(study) = finished.study() {
        text.push_str(&format!(
            "\n{}",
            guidance::render(study.title, study.model.as_deref(), &study.figures, &study.guidance)
        ));
        finished.tell_changed(&arguments.options);
    }
    output::print(&text)?;
    finished.tell_where(false);
    Ok(finished.verdict())
}
