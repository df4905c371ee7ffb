//! `trackbed run`

use anyhow::bail;
use trackbed_lab::paper::Study;
use trackbed_report::summary::Options;
use trackbed_report::{comparison, guidance, summary};

use super::campaign::remote;
use super::{campaign, report};
use crate::Verdict;
use crate::arguments::RunArguments;
use crate::output;

/// Runs a scenario and prints what it says.
///
/// # Errors
/// If the scenario is not valid or results cannot be written.
pub fn execute(arguments: &RunArguments) -> anyhow::Result<Verdict> {
    let is_elsewhere = arguments.options.out.as_deref().and_then(remote::address).is_some();
    if arguments.open && is_elsewhere {
        bail!("a page in a store cannot be opened here: write --report, and fetch it");
    }
    let mut finished = campaign::execute(&arguments.scenario, &arguments.options)?;
    if arguments.report || arguments.open {
        let path = report::write(finished.directory.path(), None)?;
        if arguments.open {
            report::open(&path);
        }
    }
    if arguments.options.json {
        output::print_json(&serde_json::to_value(&finished.document)?)?;
        finished.keep()?;
        finished.tell_where(true);
        return Ok(finished.verdict());
    }
    let replay = finished.replay_command();
    let options =
        Options { replay: &replay, verbose: arguments.options.verbose, width: output::width() };
    let mut text = summary::render(&finished.document, options);
    if let Some(name) = finished.plan.paper.as_deref() {
        if let Some(comparison) = finished.comparison(name)? {
            text.push_str(&format!("\n{}", comparison::render(&comparison)));
            finished.tell_changed(&arguments.options);
        }
        if let Some(study) = finished.study(name)? {
            let Study { title, model, figures, guidance } = &study;
            let rendered = guidance::render(title, model.as_deref(), figures, guidance);
            text.push_str(&format!("\n{rendered}"));
            finished.tell_changed(&arguments.options);
        }
    }
    output::print(&text)?;
    finished.keep()?;
    finished.tell_where(false);
    Ok(finished.verdict())
}
