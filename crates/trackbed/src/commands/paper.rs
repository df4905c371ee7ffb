//! `trackbed paper`

use anyhow::{Context as _, bail};
use trackbed_lab::paper::{self, Study};
use trackbed_measure::reference::Comparison;
use trackbed_measure::results::Check;
use trackbed_report::summary::Options;
use trackbed_report::{comparison, guidance, summary};

use super::campaign::{self, Finished};
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
    let found = Found::of(&arguments.name, &finished)?;
    let claims = found.checks();
    if arguments.options.json {
        let mut document = finished.document.clone();
        document.checks.extend(claims.iter().cloned());
        let mut value = serde_json::to_value(&document)?;
        value["paper"] = match &found {
            Found::Claims(comparison) => serde_json::to_value(comparison)?,
            Found::Guidance(study) => serde_json::to_value(study)?,
        };
        output::print_json(&value)?;
    } else {
        let replay = finished.replay_command();
        let options =
            Options { replay: &replay, verbose: arguments.options.verbose, width: output::width() };
        let text = summary::render(&finished.document, options);
        output::print(&format!("{text}\n{}", found.text()))?;
    }
    finished.tell_changed(&arguments.options);
    finished.tell_where(arguments.options.json);
    Ok(match finished.verdict() {
        Verdict::Success if claims.iter().any(|claim| !claim.pass) => Verdict::CheckFailed,
        other => other,
    })
}

/// What a paper found, held against runs.
enum Found {
    /// One that makes claims.
    Claims(Comparison),
    /// One that makes recommendations.
    Guidance(Study),
}

impl Found {
    fn of(name: &str, finished: &Finished) -> anyhow::Result<Found> {
        let claims = finished.comparison(name)?.map(Found::Claims);
        let found = match claims {
            Some(claims) => Some(claims),
            None => finished.study(name)?.map(Found::Guidance),
        };
        found.with_context(|| format!("the scenario {} has no paper", finished.plan.name))
    }

    fn checks(&self) -> Vec<Check> {
        match self {
            Found::Claims(comparison) => paper::checks(comparison),
            Found::Guidance(study) => study.checks(),
        }
    }

    fn text(&self) -> String {
        match self {
            Found::Claims(comparison) => comparison::render(comparison),
            Found::Guidance(study) => {
                let model = study.model.as_deref();
                guidance::render(study.title, model, &study.figures, &study.guidance)
            }
        }
    }
}
