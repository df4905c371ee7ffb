//! What exists in virtual time only: models of devices and boards, and SCTP without UDP.

use std::collections::BTreeSet;

use trackbed_connection::Transport;
use trackbed_protocols::Encapsulation;
use trackbed_scenario::{Cell, Endpoint, Plan};
use trackbed_workloads::HERE;

/// Checks that no cell asks for this machine's speed in virtual time.
pub(crate) fn check_modelled(plan: &Plan) -> Result<(), String> {
    let mut chosen = plan.cells.iter().filter_map(|cell| cell.workload.chosen_board());
    match chosen.any(|name| name == HERE) {
        false => Ok(()),
        true => Err(format!(
            "the board {HERE} is this machine, which is measured in real time only\n  help: add --substrate \
             emulated, or choose the model of a board: --set workload.board=trackbed-xeon-ifma"
        )),
    }
}

/// Checks that no cell asks for a modelled board in real time.
pub(crate) fn check_here(plan: &Plan) -> Result<(), String> {
    let mut chosen = plan.cells.iter().filter_map(|cell| cell.workload.chosen_board());
    match chosen.find(|name| *name != HERE) {
        None => Ok(()),
        Some(name) => Err(format!(
            "the board {name} exists in virtual time only\n  help: add --set workload.board={HERE}, or \
             --substrate virtual"
        )),
    }
}

/// Refuses SCTP in IP packets, which needs virtual time.
pub(crate) fn refuse_bare_sctp(cell: &Cell) -> Result<(), String> {
    let Endpoint { protocol, transport, .. } = &cell.endpoint;
    match protocol.capabilities().transport == Transport::Sctp
        && transport.encapsulation == Encapsulation::None
    {
        true => Err("SCTP without UDP works in virtual time only\n  help: add --set \
                     encapsulation=udp"
            .to_owned()),
        false => Ok(()),
    }
}

/// Refuses groups on the kernel that need Multipath TCP, whose settings hold for a whole machine.
pub(crate) fn refuse_multipath_groups(cell: &Cell) -> Result<(), String> {
    match cell.place.is_some() && cell.endpoint.protocol.capabilities().multipath {
        true => Err("groups with several paths work in virtual time only\n  help: leave out \
                     --substrate"
            .to_owned()),
        false => Ok(()),
    }
}

/// What of a plan's virtual-time results comes from a model, in words; `None` if nothing does.
pub(crate) fn label(plan: &Plan) -> Option<String> {
    let boards = boards(plan).into_iter().collect::<Vec<_>>().join(", ");
    let extrapolated = match plan.cells.iter().any(|cell| cell.workload.is_extrapolated()) {
        true => "; more cores than were measured are extrapolated",
        false => "",
    };
    let of_boards = (!boards.is_empty())
        .then(|| format!("signatures take as long as on models of boards: {boards}{extrapolated}"));
    of_devices(plan).into_iter().chain(of_boards).reduce(|one, other| format!("{one}; {other}"))
}

fn boards(plan: &Plan) -> BTreeSet<&str> {
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
         {} core{} that threads share evenly; {}",
        cores.join(" or "),
        if cores == ["1"] { "" } else { "s" },
        sources.join("; ")
    ))
}
