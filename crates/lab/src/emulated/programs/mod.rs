//! Third-party programs as the ends of a run.

mod client;
mod server;
mod verdict;
mod visited;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::enclosure::Usage;
use trackbed_emulator::namespace::{Interface, NetNamespace, Route};
use trackbed_programs::{Client, Does, Folder, find_executable};
use trackbed_protocols::CongestionOf;
use trackbed_scenario::{Cell, ForeignClient, Plan};

use super::ground::{self, INTERFACE};
use crate::run::Onlooker;

pub(super) use client::Place;
pub(super) use server::{Server, start_server};
pub(super) use verdict::judge;

/// Runs the client of `cell` until it ends, and returns its events. `watch` regularly checks the
/// server; its error ends the wait.
pub(super) fn run_client(
    client: &ForeignClient,
    cell: &Cell,
    place: &Place<'_>,
    watch: impl FnMut() -> Result<(), String>,
) -> Result<Vec<Record>, String> {
    set_congestion(place.namespace, cell, Role::Client)?;
    if cell.endpoint.programs.server.is_none() && !place.trust.is_empty() {
        place.folder.keep_trust(&place.trust).map_err(|why| why.to_string())?;
    }
    let ran = client::run(client, cell, place, watch);
    // A client that has failed leaves them, too; its own error says more.
    let shown = place.onlooker.map_or(Ok(()), |onlooker| show_keys(place.folder, onlooker));
    let records = ran?;
    shown?;
    Ok(records)
}

/// Sets the default for sockets of programs that do not choose. UDP has none.
fn set_congestion(namespace: &NetNamespace, cell: &Cell, role: Role) -> Result<(), String> {
    let congestion = &cell.endpoint.transport.congestion;
    let mut all = trackbed_protocols::congestion().iter();
    let is_tcp = all.any(|known| known.of != CongestionOf::Quic && known.name == congestion);
    if !is_tcp {
        return Ok(());
    }
    let everywhere = std::net::Ipv4Addr::UNSPECIFIED.into();
    let [(_, up), (_, down)] = ground::mtus(&cell.network);
    let mtu = Some(if role == Role::Server { down } else { up });
    let route = Route { congestion: Some(congestion), mtu, ..Route::default() };
    let set = namespace.run(|| Interface::named(INTERFACE)?.add_route((everywhere, 0), route));
    set.and_then(|set| set).map_err(|why| {
        format!("this kernel does not allow the congestion control {congestion}: {why}")
    })
}

fn used(role: Role, used: Usage) -> Event {
    let Usage { processor, memory_bytes } = used;
    Event::Used {
        role,
        processor,
        memory_bytes,
        dropped_datagrams: 0,
        served: 0,
        tasks_waited: Duration::ZERO,
        without_processor: Duration::ZERO,
    }
}

/// Passes on what the client has written to its key log, or its beginning if that is long.
fn show_keys(folder: &Folder, onlooker: &dyn Onlooker) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = File::open(folder.keys())
        .and_then(|file| file.take(KEYS_MAX).read_to_end(&mut bytes).map(drop));
    read.map_err(|why| {
        format!("the client's TLS keys cannot be read: {why}\n  help: leave out --capture")
    })?;
    let text = String::from_utf8_lossy(&bytes);
    // The limit, or the end of a client that was killed, may have cut a line.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let observer = onlooker.observer();
    // Whatever else it wrote there does not belong in a capture.
    let is_text = |line: &&str| line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    complete.lines().filter(is_text).for_each(|line| observer.tls_key(line));
    Ok(())
}

/// In bytes; a connection takes about a kilobyte.
const KEYS_MAX: u64 = 10_000_000;

/// Checks that the programs of `plan` are installed and support its workloads.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
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
