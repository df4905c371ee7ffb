//! What must be there before anything is run.

use std::collections::BTreeSet;

use trackbed_programs::find_executable;

use crate::scenario::{Cell, Plan};

/// Whether the programs of `plan` are installed and can do its workloads.
///
/// # Errors
/// What is missing, and what helps: each once.
pub(in super::super) fn check(plan: &Plan) -> Result<(), String> {
    let problems: BTreeSet<String> = plan.cells.iter().flat_map(of_cell).collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems.into_iter().collect::<Vec<_>>().join("\n")),
    }
}

fn of_cell(cell: &Cell) -> Vec<String> {
    let programs = &cell.endpoint.programs;
    let mut problems = Vec::new();
    if let Some(server) = &programs.server {
        let found = find_executable(&server.executables(), server.package());
        problems.extend(found.err().map(|missing| missing.to_string()));
        let site = cell.workload.site().err().filter(|_| programs.client.is_none());
        problems.extend(site.map(|why| format!("{} as the server: {why}", server.name())));
    }
    if let Some(client) = &programs.client {
        let found = find_executable(&[client.words.program()], None);
        problems.extend(found.err().map(|missing| missing.to_string()));
        if cell.workload.phones() > 1 {
            problems.push("a client-command is one client: write phones = 1".to_owned());
        }
    }
    problems
}
