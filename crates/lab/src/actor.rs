//! What a member of a run does: its server, its clients, and its log from beginning to end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::Error;
use trackbed_core::event::{Record, Role};
use trackbed_core::{Event, EventLog, Time};
use trackbed_net::NodeId;
use trackbed_protocols::{Ledger, Observer, PathControl, ServerHandle, TransportParameters};
use trackbed_substrate::simulated::Hosts;
use trackbed_substrate::{before, now, sleep, sleep_until};
use trackbed_workloads::{Patience, Stage};

use crate::crowd::Member;
use crate::device::Device;
use crate::logs::{Log, sent};
use crate::scene::{Scene, transport};
use crate::topology::SERVER_NAME;
use crate::wiring::{self, Connecting, Phones};

pub(crate) struct Actor {
    member: Member,
    log: EventLog,
    ledgers: [(Role, Ledger); 2],
    server: ServerHandle,
    /// Until it acts.
    stage: Option<Stage>,
}

/// Where all members are.
pub(crate) struct Place<'a> {
    pub hosts: &'a Hosts,
    /// The nodes of all phones.
    pub phones: &'a [NodeId],
    pub scene: &'a Scene,
    pub device: &'a Option<Device>,
    pub observer: &'a Option<Arc<dyn Observer>>,
}

impl Actor {
    /// Starts the server of `member`, and gives it its phones.
    pub fn begin(
        member: Member,
        place: &Place<'_>,
        (paths, server_paths): (&PathControl, &PathControl),
    ) -> Result<Actor, Error> {
        let (cell, log) = (&*member.cell, EventLog::default());
        place.scene.record_handovers(cell, &log);
        let ledgers = [(Role::Client, Ledger::default()), (Role::Server, Ledger::default())];
        let [client_side, server_side] =
            ledgers.each_ref().map(|(_, ledger)| TransportParameters {
                observer: place.observer.clone(),
                ledger: Some(ledger.clone()),
                ..transport(cell)
            });
        let host = place.hosts.get(SERVER_NAME).expect("every track has a server");
        let config = wiring::server(cell, server_side, server_paths.clone());
        let mut listen = cell.endpoint.ip.server();
        listen.set_port(listen.port() + member.port);
        let service = cell.workload.service(log.clone());
        let server = cell.endpoint.protocol.serve((host, listen), &config, service)?;
        let host = |(number, node): (u32, &NodeId)| {
            place.hosts.roaming(*node, place.scene.addresses(cell, number))
        };
        let own = (0..).zip(place.phones).skip(member.first as usize);
        let phones = Phones {
            first: member.first,
            hosts: own.take(cell.workload.phones() as usize).map(host).collect(),
            server: listen,
            trust: server.trust().cloned(),
        };
        let (binds, patience) = (false, Patience::VIRTUAL);
        let connecting =
            Connecting { transport: client_side, paths: paths.clone(), binds, patience };
        let seed_and_log = (&member.seed, &log);
        let stage =
            phones.stage(cell, place.scene, connecting, seed_and_log, |dialer| {
                match place.device {
                    Some(device) => device.charge(dialer),
                    None => dialer,
                }
            })?;
        Ok(Actor { log, ledgers, server, stage: Some(stage), member })
    }

    /// Runs the workload, from its beginning until it ends or is cut off.
    pub fn act(&mut self) -> impl Future<Output = ()> + 'static {
        let (cell, log, stage) = (self.member.cell.clone(), self.log.clone(), self.stage.take());
        let (begin, stop) = (Time::ZERO + self.member.begin, self.member.stop);
        async move {
            let Some(stage) = stage else { return };
            if begin > Time::ZERO {
                sleep_until(begin).await;
            }
            let drive = cell.workload.drive(stage);
            let Some(stop) = stop else { return drive.await };
            if before(Time::ZERO + stop, drive).await.is_none() {
                log.record(now(), Event::Finished);
            }
        }
    }

    /// Stops the servers and their tasks, so that their connections are recorded in their accounts.
    /// Returns the logs of all members, in their order.
    pub async fn end(actors: Vec<Actor>) -> Vec<Log> {
        let close = |actor: Actor| {
            drop(actor.server);
            (actor.member, actor.log, actor.ledgers)
        };
        let closed: Vec<_> = actors.into_iter().map(close).collect();
        sleep(Duration::from_micros(1)).await;
        let log = |(member, log, ledgers): (Member, EventLog, [(Role, Ledger); 2])| {
            for (role, ledger) in ledgers {
                log.record(now(), sent(role, ledger.totals()));
            }
            let records: Vec<Record> = log.take();
            Log { member, records }
        };
        closed.into_iter().map(log).collect()
    }
}
