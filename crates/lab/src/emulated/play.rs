//! A run between two ends, each of this program or of a third party.

use std::sync::Arc;

use trackbed_core::Seed;
use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::Clock;
use trackbed_programs::Folder;
use trackbed_scenario::Cell;

use super::conversation::{Job, Start};
use super::ground::{Closed, Ground};
use super::process::Ends;
use super::programs::{Place, Server, run_client, start_server};
use super::spread;
use crate::beside::{Beside, Roles};
use crate::crowd::Member;
use crate::run::Onlooker;
use crate::scene::Scene;

/// Executes a run of `cell` between the ends of `ground`; returns the events of each member and the
/// reports of the links. `job` builds the messages to this program's own ends.
pub(super) fn play(
    ground: Ground,
    (cell, scene, members): (&Cell, &Scene, &[Member]),
    (seed, mut beside, onlooker): (&Seed, Beside, Option<&dyn Onlooker>),
    job: impl Fn(Role) -> Job,
) -> Result<(Vec<Vec<Record>>, Closed), String> {
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
    // Third-party programs share a folder.
    let folder = (!programs.is_empty()).then(Folder::new).transpose();
    let folder = folder.map_err(|why| why.to_string())?.map(Arc::new);
    let server = programs.server.as_ref().zip(folder.as_ref());
    let server =
        server.map(|(program, folder)| start_server(program, &ground.server, cell, folder));
    let mut server = server.transpose()?;
    let of_program = server.as_ref().map(|server| server.running.process());
    let server_process = ends.process(Role::Server).or(of_program);
    let client = ends.process(Role::Client);
    beside.begin(Roles { client, server: server_process, ..Roles::default() })?;
    // The processes are ready: from here on only the run takes time.
    let clock = Clock::start();
    let traffic = ground.open((&scene.network, members), (seed, onlooker), clock)?;
    ends.follow(traffic.remote());
    let run = || {
        let trusts = match &server {
            Some(server) => vec![Some(server.trust.clone())],
            None => ends.serve(clock.origin())?,
        };
        let mut records = match programs.client.as_ref().zip(folder.as_ref()) {
            Some((client, folder)) => {
                let trust = trusts.into_iter().next().flatten().unwrap_or_default();
                let namespace = traffic.phones();
                let place = Place { namespace, folder, clock, trust, onlooker };
                vec![run_client(client, cell, &place, || {
                    beside.check()?;
                    server.as_mut().map_or_else(|| ends.check(), Server::check)
                })?]
            }
            None => ends.drive(&Start { origin: clock.origin(), trusts }, || {
                beside.check()?;
                server.as_mut().map_or(Ok(()), Server::check)
            })?,
        };
        if server.is_some() {
            // With the account of only one end, the sums would be mistaken for the whole.
            let is_kept = |record: &Record| !matches!(record.event, Event::Transport { .. });
            records.iter_mut().for_each(|records| records.retain(is_kept));
        }
        let of_server = match server {
            Some(server) => vec![vec![server.stop(clock)?]],
            None => ends.finish()?,
        };
        for (all, of_server) in records.iter_mut().zip(of_server) {
            all.extend(of_server);
        }
        if let Some(first) = records.first_mut() {
            first.extend(beside.end(clock.origin())?);
        }
        Ok::<_, String>(records)
    };
    let records = run();
    ends.show(onlooker);
    Ok((records?, traffic.close()?))
}
