//! Runs with a third-party program as an end.

mod client;
mod keys;
mod requirements;
mod server;
mod verdict;
mod visited;

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::Clock;
use trackbed_emulator::namespace::{Interface, NetNamespace};
use trackbed_programs::{Folder, Used};

use super::conversation::{Job, Start};
use super::ground::{Closed, Ground, INTERFACE};
use super::process::Ends;
use super::spread;
use crate::beside::{Beside, Roles};
use crate::run::Onlooker;
use crate::scene::Scene;
use server::Server;
use trackbed_scenario::Cell;

pub(super) use requirements::check;
pub(super) use verdict::judge;

/// Executes a run of `cell` between the ends of `ground`; returns its events and the reports of the
/// links. `job` builds the messages to this program's own ends.
pub(super) fn play(
    ground: Ground,
    (cell, scene): (&Cell, &Scene),
    (seed, mut beside, onlooker): (&Seed, Beside, Option<&dyn Onlooker>),
    job: impl Fn(Role) -> Job,
) -> Result<(Vec<Record>, Closed), String> {
    let folder = Arc::new(Folder::new().map_err(|why| why.to_string())?);
    let programs = &cell.endpoint.programs;
    let server_job = job(Role::Server);
    let own_clients = match programs.client {
        Some(_) => Vec::new(),
        None => spread::jobs(cell, &job),
    };
    let mut ends = Ends::prepare(
        programs.server.is_none().then_some((&ground.server, &server_job)),
        (&ground.phones, &own_clients),
    )?;
    let server = programs.server.as_ref().map(|program| {
        set_congestion(&ground.server, cell)?;
        server::start(program, &ground.server, cell, &folder)
    });
    let mut server = server.transpose()?;
    let of_program = server.as_ref().map(|server| server.running.process());
    let server_process = ends.process(Role::Server).or(of_program);
    let client = ends.process(Role::Client);
    beside.begin(Roles { client, server: server_process, ..Roles::default() })?;
    // The processes are ready: from here on only the run takes time.
    let clock = Clock::start();
    let traffic = ground.open(&scene.network, (seed, onlooker), clock)?;
    ends.follow(traffic.remote());
    let trust = match &server {
        Some(server) => Some(server.trust.clone()),
        None => ends.serve(clock.origin())?,
    };
    let mut records = match &programs.client {
        Some(client) => {
            set_congestion(traffic.phones(), cell)?;
            if let Some(certificate) = trust.as_ref().filter(|_| programs.server.is_none()) {
                folder.keep_trust(certificate).map_err(|why| why.to_string())?;
            }
            let trust = trust.unwrap_or_default();
            let namespace = traffic.phones();
            let is_watched = onlooker.is_some();
            let place = client::Place { namespace, folder: &folder, clock, trust, is_watched };
            let watch = || {
                beside.check()?;
                match &mut server {
                    Some(server) => server.check(),
                    None => ends.check(),
                }
            };
            let ran = client::run(client, cell, &place, watch);
            // A client that has failed leaves them, too; its own error says more.
            let shown = onlooker.map_or(Ok(()), |onlooker| keys::show(&folder, onlooker));
            let records = ran?;
            shown?;
            records
        }
        None => {
            let watch = || {
                beside.check()?;
                server.as_mut().map_or(Ok(()), Server::check)
            };
            let mut records = ends.drive(&Start { origin: clock.origin(), trust }, watch)?;
            // With the account of only one end, the sums would be mistaken for the whole.
            records.retain(|record| !matches!(record.event, Event::Transport { .. }));
            records
        }
    };
    records.extend(beside.end(clock.origin())?);
    records.extend(match server {
        Some(server) => {
            let stopped = server.running.stop().map_err(|why| why.to_string())?;
            vec![Record { at: clock.now(), event: used(Role::Server, stopped) }]
        }
        None => ends.finish()?,
    });
    ends.show(onlooker);
    Ok((records, traffic.close()?))
}

/// Sets the default for sockets of programs that do not choose. UDP has none.
fn set_congestion(namespace: &NetNamespace, cell: &Cell) -> Result<(), String> {
    let congestion = &cell.endpoint.transport.congestion;
    let is_tcp = trackbed_tcp::algorithms().iter().any(|known| known.name == congestion);
    if !is_tcp {
        return Ok(());
    }
    let everywhere = std::net::Ipv4Addr::UNSPECIFIED.into();
    let set = namespace.run(|| {
        Interface::named(INTERFACE)?.add_route_with_congestion((everywhere, 0), congestion)
    });
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
