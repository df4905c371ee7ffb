//! What results say of the model that they come from.

use std::collections::BTreeSet;

use trackbed_scenario::Plan;

/// What of a plan's results in virtual time is a model's, in words; `None` where nothing is.
pub(crate) fn label(plan: &Plan) -> Option<String> {
    let devices = plan.cells.iter().filter_map(|cell| Some(&cell.inference.as_ref()?.device));
    let (mut cores, mut sources) = (BTreeSet::new(), BTreeSet::new());
    for device in devices {
        cores.insert(device.cores);
        sources.extend(device.sources.iter().cloned());
    }
    let cores: Vec<String> = cores.iter().map(u32::to_string).collect();
    if cores.is_empty() {
        return None;
    }
    let sources: Vec<String> = sources.into_iter().collect();
    Some(format!(
        "processor time, frames and what waits for them are a model's, of a device with {} cores that \
         threads share evenly; {}",
        cores.join(" or "),
        sources.join("; ")
    ))
}
