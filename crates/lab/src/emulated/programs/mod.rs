//! Third-party programs as the ends of a run.

mod client;
mod keys;
mod requirements;
mod server;
mod verdict;
mod visited;

use std::time::Duration;

use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::namespace::{Interface, NetNamespace};
use trackbed_programs::Used;
use trackbed_protocols::CongestionOf;
use trackbed_scenario::{Cell, ForeignClient};

use super::ground::INTERFACE;

pub(super) use client::Place;
pub(super) use requirements::check;
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
    set_congestion(place.namespace, cell)?;
    if cell.endpoint.programs.server.is_none() && !place.trust.is_empty() {
        place.folder.keep_trust(&place.trust).map_err(|why| why.to_string())?;
    }
    let ran = client::run(client, cell, place, watch);
    // A client that has failed leaves them, too; its own error says more.
    let shown = place.onlooker.map_or(Ok(()), |onlooker| keys::show(place.folder, onlooker));
    let records = ran?;
    shown?;
    Ok(records)
}

/// Sets the default for sockets of programs that do not choose. UDP has none.
fn set_congestion(namespace: &NetNamespace, cell: &Cell) -> Result<(), String> {
    let congestion = &cell.endpoint.transport.congestion;
    let mut all = trackbed_protocols::congestion().iter();
    let is_tcp = all.any(|known| known.of != CongestionOf::Quic && known.name == congestion);
    if !is_tcp {
        return Ok(());
    }
    let everywhere = std::net::Ipv4Addr::UNSPECIFIED.into();
    let set =
        namespace.run(|| Interface::named(INTERFACE)?.add_route((everywhere, 0), Some(congestion)));
    set.and_then(|set| set).map_err(|why| {
        format!("this kernel does not allow the congestion control {congestion}: {why}")
    })
}

fn used(role: Role, used: Used) -> Event {
    let Used { processor, memory_bytes } = used;
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
