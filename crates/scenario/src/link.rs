//! A link without a scenario.

use crate::load::load;
use crate::overrides::Override;
use crate::plan::LinkPlan;
use crate::problem::ScenarioError;
use crate::source::Source;

/// Reads a link from the settings of a scenario's `[link]`, with the keys of that table (`delay`,
/// `up.rate`).
///
/// # Errors
/// If a setting is wrong, or has several values.
pub fn link(settings: &[Override]) -> Result<LinkPlan, ScenarioError> {
    let source = Source::Text { name: "the link".to_owned(), text: AROUND.to_owned() };
    let within = |setting: &Override| Override {
        key: format!("link.{}", setting.key),
        value: setting.value.clone(),
    };
    let overrides: Vec<Override> = settings.iter().map(within).collect();
    let mut plan = load(&source, &overrides)?;
    match plan.cells.len() {
        1 => Ok(plan.cells.remove(0).network.paths.remove(0)),
        cells => Err(ScenarioError::about_file(
            format!("these settings describe {cells} links"),
            Some("give each setting one value".to_owned()),
        )),
    }
}

/// The shortest valid scenario.
const AROUND: &str = "protocol = \"tcp\"\n[link]\n[workload]\nkind = \"messages\"\n";
