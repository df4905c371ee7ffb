//! How results name the model behind them.

use std::collections::BTreeSet;

use trackbed_scenario::Plan;

/// What of a plan's virtual-time results comes from a model, in words; `None` if nothing does.
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
        "processor time, frames and everything that waits for them come from a model of a device with \
         {} cores that threads share evenly; {}",
        cores.join(" or "),
        sources.join("; ")
    ))
}
