//! Runs between two machines over a real network: clients on this machine, and a server elsewhere,
//! provided by `trackbed serve`.
//!
//! A *ticket*, a file that the server writes and the user copies, lets both authenticate each
//! other: it has the server's certificate and a secret. With it, the client's machine requests a
//! server for each run, over HTTP/1.1 and TLS 1.3. That server serves only this client, and ends
//! with the run.

mod asking;
mod limits;
mod server;
mod ticket;
mod words;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Mutex, PoisonError};

use futures_util::StreamExt as _;
use serde::Serialize;
use trackbed_connection::{Body, TlsVersion};
use trackbed_core::event::{Event, Record};
use trackbed_core::{EventLog, Seed, Time};
use trackbed_linux::allow_descriptors;
use trackbed_measure::results::{Outcome, RunResult};
use trackbed_protocols::{Protocol, TlsParameters, Trust, registry};
use trackbed_substrate::RunError;
use trackbed_substrate::kernel::{Execution, Origin};

use crate::backend::Backend;
use crate::beside::{self, Beside, Roles};
use crate::ends::Clients;
use crate::logs::measured;
use crate::topology::phone_name;
use crate::warm_up::warm_up;
use crate::wiring::Phones;
use crate::{machine, models};
use asking::Repeat;
use trackbed_archive::About;
use trackbed_scenario::{Cell, Plan};
use words::{BODY_MAX, CLOSE, Closed, OPEN, Open, Opened, is_told};

pub use limits::Limits;
pub use server::{Settings, serve};
pub use ticket::Ticket;
use trackbed_measure::results::LIVE;

/// The default port for requests for runs.
pub const PORT: u16 = 7_463;
/// The default port of the runs themselves.
pub const DATA_PORT: u16 = 7_464;

/// The network between this machine and a server.
#[derive(Debug)]
pub struct Live {
    servers: Vec<SocketAddr>,
    name: String,
    ticket: Ticket,
    about: About,
    environment: BTreeMap<String, String>,
    /// Why the server can no longer be used.
    lost: Mutex<Option<String>>,
}

impl Live {
    /// Runs the plan described by `about` against `server`, a name or an address, with or without a
    /// port.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn new(server: &str, ticket: Ticket, about: About) -> Result<Live, String> {
        let servers = resolve(server)?;
        let mut environment = machine::environment("as the interfaces are set");
        environment.insert("server".to_owned(), server.to_owned());
        let (name, lost) = (server.to_owned(), Mutex::new(None));
        Ok(Live { servers, name, ticket, about, environment, lost })
    }

    fn server(&self, cell: &Cell) -> Result<SocketAddr, String> {
        let is_v6 = cell.endpoint.ip.server().is_ipv6();
        let found = self.servers.iter().find(|server| server.is_ipv6() == is_v6);
        let version = if is_v6 { 6 } else { 4 };
        found.copied().ok_or_else(|| {
            let other = if is_v6 { 4 } else { 6 };
            format!("{} has no IPv{version} address\n  help: add --set ip={other}; for IPv6 start serve --listen ::", self.name)
        })
    }

    fn opening(&self, plan: &Plan, (cell, run): (u32, u32)) -> Open {
        Open { about: self.about.clone(), ends: plan.hash_of_ends.clone(), cell, run }
    }

    fn close(&self, server: SocketAddr) -> Result<Closed, String> {
        self.ask(server, CLOSE, &(), Repeat::Closed)
    }

    /// The server can no longer be used.
    fn lose(&self, why: String) -> String {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.insert(why).clone()
    }

    fn record(&self, plan: &Plan, number: u32, run: u32) -> Result<(Vec<Record>, u16), String> {
        let cell = &plan.cells[number as usize];
        let server = self.server(cell)?;
        let mut beside = Beside::prepare(cell)?;
        let roles = Roles { client: Some(std::process::id()), ..Roles::default() };
        beside.begin(roles)?;
        // It was reachable a moment ago: it may be busy with another client's run, or restarting.
        let opened = self.ask(server, OPEN, &self.opening(plan, (number, run)), Repeat::Failed);
        let Opened { port, trust } = opened.map_err(|why| self.lose(why))?;
        let seed = Seed::of_run(plan.seed, u64::from(run));
        warm_up(&cell.endpoint);
        let log = EventLog::default();
        let origin = Origin::now();
        let driven = Execution::new(origin).with_time_limit(RUN_MAX).run(|machine| {
            let log = log.clone();
            async move {
                let host = |number| machine.host(&phone_name(number), ANYWHERE);
                let hosts = (0..cell.workload.phones()).map(host).collect();
                let server = SocketAddr::new(server.ip(), port);
                let trust = trust.map(Trust::from_der);
                let phones = Phones { first: 0, hosts, server, trust };
                // They begin when they are ready.
                let clients = Clients { phones, observer: None, aligned: false, gate: None };
                clients.drive(cell, &seed, &machine, &log).await
            }
        });
        // The server may continue with the next run, however this one ended. If it does not
        // respond, it did not run until the end, even if the clients' requests were answered.
        let closed = self.close(server).map_err(|why| self.lose(why))?;
        driven.map_err(|why| why.to_string())?.map_err(|why| why.to_string())?;
        let mut records = log.take();
        records.extend(beside.end(origin.as_nanos())?);
        records.sort_by_key(|record| record.at);
        let end = records.last().map_or(Time::ZERO, |record| record.at);
        let told = closed.records.into_iter().filter(is_told);
        let of_server = told.map(|record| Record { at: end, ..record });
        records.extend(of_server);
        Ok((records, port))
    }
}

impl Backend for Live {
    fn name(&self) -> &'static str {
        LIVE
    }

    fn environment(&self, plan: &Plan) -> BTreeMap<String, String> {
        beside::with_runtimes(&self.environment, plan)
    }

    /// Also checks that the server is reachable and accepts the runs.
    fn check(&self, plan: &Plan) -> Result<(), String> {
        models::check_here(plan)?;
        for cell in &plan.cells {
            refusal(cell).or_else(|| crowded("this machine", cell)).map_or(Ok(()), Err)?;
            self.server(cell)?;
        }
        let Some(first) = plan.cells.first() else { return Ok(()) };
        let server = self.server(first)?;
        let _: Opened = self.ask(server, OPEN, &self.opening(plan, (0, 0)), Repeat::Closed)?;
        self.close(server).map(drop)
    }

    fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn execute(&self, plan: &Plan, cells: &[u32], run: u32) -> Result<Vec<RunResult>, RunError> {
        let one = |&cell: &u32| {
            let recorded = self.record(plan, cell, run);
            let failed = |why| (Outcome::Failed(why), None);
            let (outcome, answered) =
                recorded.map_or_else(failed, |(records, port)| match measured(&records) {
                    (Outcome::Failed(why), _) if !records.iter().any(is_connected) => {
                        failed(format!("{why}; is port {port} open in the server's firewall?"))
                    }
                    measured => measured,
                });
            RunResult { cell, run, outcome, certificate: None, answered }
        };
        Ok(cells.iter().map(one).collect())
    }
}

fn is_connected(record: &Record) -> bool {
    matches!(record.event, Event::Connected { .. })
}

/// What of a cell needs emulated links.
fn refusal(cell: &Cell) -> Option<String> {
    let why = match () {
        () if cell.radio.is_some() || cell.network.paths.len() > 1 => {
            "a radio and a second link are not available between two machines\n  help: remove \
             --substrate live"
        }
        () if cell.networks() > 1 => {
            "phones cannot move between networks here\n  help: set workload.moves to 0, and remove environment.reconnect"
        }
        () if !cell.endpoint.programs.is_empty() => {
            "third-party programs need the emulated substrate\n  help: add --substrate emulated"
        }
        () if cell.place.is_some() || cell.network.medium.is_some() => {
            "groups and media need links of Trackbed\n  help: remove --substrate live"
        }
        () => return models::refuse_bare_sctp(cell).err(),
    };
    Some(why.to_owned())
}

/// The error if the phones of a cell exceed the descriptors a process may open; each takes one.
fn crowded(which: &str, cell: &Cell) -> Option<String> {
    let (phones, allowed) = (cell.workload.phones(), allow_descriptors());
    let is_crowded = u64::from(phones) + DESCRIPTORS_OTHER > allowed;
    is_crowded.then(|| {
        format!(
            "{phones} phones are too many for {which}: a process may open {allowed} descriptors there\n  \
             help: raise the limit (ulimit -Hn; for a service LimitNOFILE), or set fewer phones"
        )
    })
}

/// Other descriptors of a process: connections that request runs, and files.
const DESCRIPTORS_OTHER: u64 = 192;

/// The protocol of requests for runs: one request at a time, of which only the head is read before
/// the service asks for more.
fn control() -> &'static dyn Protocol {
    let found = registry().iter().find(|protocol| protocol.name() == "http1");
    *found.expect("HTTP/1.1 is registered")
}

fn tls() -> TlsParameters {
    TlsParameters { versions: vec![TlsVersion::Tls13], ..TlsParameters::default() }
}

fn spoken(words: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(words).expect("messages are plain data")
}

/// A body of at most [`BODY_MAX`] bytes.
async fn read_bounded(mut body: Body) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    while let Some(piece) = body.next().await {
        all.extend_from_slice(&piece.map_err(|why| why.to_string())?);
        if all.len() > BODY_MAX {
            return Err(format!("the body exceeds {BODY_MAX} bytes"));
        }
    }
    Ok(all)
}

/// The addresses of a name, with its port or [`PORT`].
fn resolve(server: &str) -> Result<Vec<SocketAddr>, String> {
    let help = "write a name or an address, such as edge.example.org or [2001:db8::1]:7463";
    let (name, port) = match server.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && (!name.contains(':') || name.ends_with(']')) => {
            let port = port.parse().map_err(|_| {
                format!(
                    "{server}: \"{port}\" is not a port\n  help: write a number from 1 to 65535 after \
                     the colon, or none for {PORT}"
                )
            });
            (name, port?)
        }
        _ => (server, PORT),
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let found = (bare, port).to_socket_addrs();
    let found: Vec<SocketAddr> =
        found.map_err(|why| format!("{server}: {why}\n  help: {help}"))?.collect();
    if found.is_empty() {
        Err(format!("{server} has no address\n  help: {help}"))
    } else {
        Ok(found)
    }
}

/// The kernel chooses by the route to the server.
const ANYWHERE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// A day, as in virtual time.
const RUN_MAX: Time = Time::from_millis(86_400_000);

#[cfg(test)]
#[test]
fn a_server_has_an_address_and_perhaps_a_port() {
    for (server, port) in [("[::1]", 7463), ("::1", 7463), ("[::1]:80", 80)] {
        assert_eq!(resolve(server), Ok(vec![SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)]));
    }
    assert!(resolve("192.0.2.1:http").unwrap_err().contains("\"http\" is not a port"));
}
