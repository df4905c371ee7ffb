//! What exists in virtual time only: models of devices and boards, and SCTP without UDP.

use std::collections::BTreeSet;

use trackbed_connection::Transport;
use trackbed_protocols::Encapsulation;
use trackbed_scenario::{Cell, Endpoint, Plan};

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
