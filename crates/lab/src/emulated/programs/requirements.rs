//! Checks before anything is run.

use std::collections::BTreeSet;

use trackbed_programs::{Client, Does, find_executable};

use trackbed_scenario::{Cell, Plan};

/// Checks that the programs of `plan` are installed and support its workloads.
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
        let found = find_executable(&server.executables(), server.about().package);
        problems.extend(found.err().map(|missing| missing.to_string()));
        let site = cell.workload.site().err().filter(|_| programs.client.is_none());
        problems.extend(site.map(|why| format!("{} as the server: {why}", server.name())));
    }
    if let Some(client) = &programs.client {
        problems.extend(of_client(&client.program, cell));
    }
    problems
}

fn of_client(client: &Client, cell: &Cell) -> Vec<String> {
    let mut problems = Vec::new();
    let name = client.name();
    let protocol = cell.endpoint.protocol.name();
    match find_executable(&client.executables(), client.about().package) {
        Ok(executable) => problems.extend(client.check(&executable, protocol).err()),
        Err(missing) => problems.push(missing.to_string()),
    }
    if cell.workload.phones() > 1 {
        problems.push(format!("{name} is a single client: write phones = 1"));
    }
    let site = cell.workload.site().unwrap_or_default();
    match client.does() {
        Does::AsTold => {}
        Does::FetchesFiles if site.objects().next().is_some() => {}
        Does::FetchesFiles => problems.push(format!(
            "{name} fetches files, but this workload has none: write kind = \"page\", or kind = \
             \"bulk\" with direction = \"download\""
        )),
        Does::LoadsPage if cell.workload.page().is_some() => {}
        Does::LoadsPage => {
            problems.push(format!("{name} loads web pages: write kind = \"page\""));
        }
    }
    problems
}
