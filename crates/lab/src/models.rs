//! Models of machines: devices and boards whose speed is modelled in virtual time.

use std::collections::BTreeSet;

use trackbed_scenario::Plan;

/// The board that stands for this machine in real time.
const HERE: &str = "here";

/// Checks that no cell asks for a modelled board in real time.
pub(crate) fn check_here(plan: &Plan) -> Result<(), String> {
    match boards(plan).into_iter().find(|name| *name != HERE) {
        None => Ok(()),
        Some(name) => Err(format!(
            "the board {name} exists in virtual time only\n  help: add --set workload.board={HERE}, or \
             --substrate virtual"
        )),
    }
}

/// What of a plan's virtual-time results comes from a model, in words; `None` if nothing does.
pub(crate) fn label(plan: &Plan) -> Option<String> {
    let boards = boards(plan).into_iter().collect::<Vec<_>>().join(", ");
    let of_boards = (!boards.is_empty())
        .then(|| format!("signatures take as long as on models of boards: {boards}"));
    of_devices(plan).into_iter().chain(of_boards).reduce(|one, other| format!("{one}; {other}"))
}

fn boards(plan: &Plan) -> BTreeSet<&'static str> {
    plan.cells.iter().filter_map(|cell| cell.workload.board()).collect()
}

fn of_devices(plan: &Plan) -> Option<String> {
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
