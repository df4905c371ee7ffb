//! Boards: processors whose signature verification speed is modelled in virtual time.

use std::collections::BTreeSet;

use trackbed_scenario::Plan;

/// The board that stands for this machine in real time.
const HERE: &str = "here";

/// Checks that no cell asks for a modelled board in real time.
///
/// # Errors
/// Which cell does, and what to do about it.
pub(crate) fn check_here(plan: &Plan) -> Result<(), String> {
    match names(plan).into_iter().find(|name| *name != HERE) {
        None => Ok(()),
        Some(name) => Err(format!(
            "the board {name} exists in virtual time only\n  help: add --set workload.board={HERE}, or \
             --substrate virtual"
        )),
    }
}

/// What of a plan's virtual-time results comes from a model of a board, in words; `None` if nothing
/// does.
pub(crate) fn label(plan: &Plan) -> Option<String> {
    let names: Vec<&str> = names(plan).into_iter().collect();
    match names[..] {
        [] => None,
        _ => Some(format!("signatures take as long as on models of boards: {}", names.join(", "))),
    }
}

fn names(plan: &Plan) -> BTreeSet<&'static str> {
    plan.cells.iter().filter_map(|cell| cell.workload.board()).collect()
}
