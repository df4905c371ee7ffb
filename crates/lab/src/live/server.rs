//! `trackbed serve`: the server for runs whose clients are on another machine.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Request, Response, Service, Transport, body};
use trackbed_core::{EventLog, Seed, Time};
use trackbed_outward::{Log, Seldom};
use trackbed_protocols::{ServerConfig, ServerLimits};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{Cancel, RunError, before, now, sleep};

use super::limits::{Limited, Limits};
use super::ticket::Ticket;
use super::words::{CLOSE, Closed, OPEN, Open, Opened, is_told};
use super::{control, crowded, refusal};
use crate::ends::Serving;
use crate::topology::SERVER_NAME;
use trackbed_archive::VERSION;
use trackbed_workloads::generate_data;

/// A server's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address for requests for runs (TCP).
    pub listen: SocketAddr,
    /// The port of the runs themselves, on the same address (TCP and UDP).
    pub data_port: u16,
    /// The path of the ticket.
    pub ticket: PathBuf,
    /// Limits for a run.
    pub limits: Limits,
}

/// Serves one run after another until cancelled. `ready` receives the address when the ticket has
/// been written.
///
/// # Errors
/// If it cannot listen, or cannot write the ticket.
pub fn serve(
    settings: Settings,
    log: Log,
    cancel: Cancel,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), String> {
    let execution = Execution::new(Origin::now()).with_time_limit(Time::MAX).with_cancel(cancel);
    let finished = execution.run(|machine| async move {
        let protocol = control();
        let limits = ServerLimits {
            connections: CONTROL_CONNECTIONS_MAX,
            opening: TELLING,
            ..ServerLimits::default()
        };
        let config = ServerConfig { tls: super::tls(), limits, ..ServerConfig::default() };
        let host = machine.host(SERVER_NAME, [settings.listen.ip()]);
        let server = Rc::new(RunServer {
            machine,
            settings: settings.clone(),
            log,
            ticket: RefCell::default(),
            refusals: Seldom::default(),
            session: RefCell::default(),
        });
        let service: Rc<dyn Service> = Rc::new(RunService(Rc::clone(&server)));
        let handle = protocol
            .serve((host, settings.listen), &config, service)
            .map_err(|why| why.to_string())?;
        let certificate = handle.trust().map(|trust| trust.as_der().to_vec()).unwrap_or_default();
        let shown = settings.ticket.display();
        let ticket = Ticket::new(&certificate)
            .and_then(|ticket| ticket.write(&settings.ticket).map(|()| ticket))
            .map_err(|why| format!("{shown}: {why}\n  help: write it elsewhere with --ticket"))?;
        *server.ticket.borrow_mut() = Some(ticket);
        generate_data();
        ready(handle.local_addr());
        let mut exhausted = 0;
        loop {
            sleep(LOOK_EVERY).await;
            server.end_overdue().await;
            if handle.exhausted() > exhausted {
                exhausted = handle.exhausted();
                let why = "no descriptor or memory is left for new connections (ulimit -n)";
                server.log.warn("exhausted", why, &[("times", exhausted.into())]);
            }
        }
    });
    match finished {
        Ok(outcome) => outcome,
        Err(RunError::Cancelled { .. }) => Ok(()),
        Err(why) => Err(why.to_string()),
    }
}

struct RunServer {
    machine: Machine,
    settings: Settings,
    log: Log,
    ticket: RefCell<Option<Ticket>>,
    refusals: Seldom,
    session: RefCell<Option<Session>>,
}

struct Session {
    peer: IpAddr,
    begun: Time,
    serving: Serving,
}

/// Why a request is refused: a status, and the reason for the user.
struct Refusal(u16, String);

struct RunService(Rc<RunServer>);

impl Service for RunService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let server = Rc::clone(&self.0);
        Box::pin(async move {
            match server.answer(request).await {
                Ok(words) => Response { status: 200, body: body::full(words) },
                Err(Refusal(status, why)) => {
                    if let Some(message) = server.refusals.passes(now().since(Time::ZERO), &why) {
                        server.log.warn("refused", &message, &[("status", status.into())]);
                    }
                    Response { status, body: body::full(why.into_bytes()) }
                }
            }
        })
    }
}

impl RunServer {
    async fn answer(&self, request: Request) -> Result<Vec<u8>, Refusal> {
        let (path, peer) = (request.path, request.peer.map(|peer| peer.ip()));
        let peer =
            peer.ok_or_else(|| Refusal(500, "the client's address is unknown".to_owned()))?;
        let [open, close] = [OPEN, CLOSE].map(|place| path.strip_prefix(place));
        self.admit(open.or(close).unwrap_or_default()).await?;
        let heard = before(now() + TELLING, super::read_bounded(request.body)).await;
        let late = || Err(format!("the request did not arrive within {TELLING:?}"));
        let words = heard.unwrap_or_else(late).map_err(|why| Refusal(413, why))?;
        match open {
            Some(_) => {
                let unheard =
                    |why| format!("invalid request ({why}); is the client another version?");
                let open: Result<Open, _> = serde_json::from_slice(&words);
                let open = open.map_err(|why| Refusal(400, unheard(why)))?;
                self.open(peer, &open).await.map(|opened| super::spoken(&opened))
            }
            None => self.close(peer).await.map(|closed| super::spoken(&closed)),
        }
    }

    /// Admits clients with the ticket. A wrong secret takes a while.
    async fn admit(&self, secret: &str) -> Result<(), Refusal> {
        if self.ticket.borrow().as_ref().is_some_and(|ticket| ticket.admits(secret)) {
            return Ok(());
        }
        sleep(GUESSING).await;
        Err(Refusal(
            403,
            "wrong ticket, or the client is another version; the server writes a new ticket at each \
             start\n  help: copy the ticket again, and use the same version on both machines"
                .to_owned(),
        ))
    }

    async fn open(&self, peer: IpAddr, open: &Open) -> Result<Opened, Refusal> {
        let bad = |why: String| Refusal(400, why);
        if open.about.trackbed != VERSION {
            return Err(Refusal(
                409,
                format!(
                    "the server is version {VERSION} and the client {}\n  help: use the same \
                     version on both machines",
                    open.about.trackbed
                ),
            ));
        }
        let under_way = self.session.borrow().as_ref().map(|session| session.peer);
        match under_way {
            Some(other) if other != peer => {
                let why = "the server is busy with another client's run; try again later";
                return Err(Refusal(503, why.to_owned()));
            }
            // A run that was abandoned.
            Some(_) => drop(self.close(peer).await),
            None => {}
        }
        let plan = open.about.recipe().plan_without_files(&open.ends);
        let plan = plan.map_err(|why| bad(why.to_string()))?;
        let cell = plan.cells.get(open.cell as usize);
        let cell = cell.ok_or_else(|| bad(format!("there is no cell {}", open.cell)))?;
        refusal(cell).map_or(Ok(()), |why| Err(bad(why)))?;
        // Over UDP one socket serves all.
        if cell.endpoint.protocol.capabilities().transport == Transport::Tcp {
            crowded("the server", cell).map_or(Ok(()), |why| Err(Refusal(503, why)))?;
        }
        let seed = Seed::of_run(plan.seed, u64::from(open.run));
        let ip = self.settings.listen.ip();
        let host = self.machine.host_for(SERVER_NAME, [ip], peer);
        let service = cell.workload.service(EventLog::default());
        let service = Rc::new(Limited::new(service, self.settings.limits));
        let listen = SocketAddr::new(ip, self.settings.data_port);
        until_free(listen).await;
        // A phone that loads pages has six connections.
        let connections = 256 + 8 * cell.workload.phones() as usize;
        let buffered = Some(20 << 20);
        let writing = Some(Duration::from_secs(60));
        let limits = ServerLimits { connections, writing, buffered, ..ServerLimits::default() };
        let machine = (&self.machine, host, None);
        let serving = Serving::begin(cell, &seed, machine, (listen, limits), service);
        let serving = serving.map_err(|why| Refusal(500, why.to_string()))?;
        let opened = Opened { port: serving.local_addr().port(), trust: serving.trust() };
        let protocol = cell.endpoint.protocol.name();
        let message = format!("run {} of cell {}: {protocol} for {peer}", open.run, open.cell);
        self.log.info("open", &message, &[("peer", peer.to_string().into())]);
        *self.session.borrow_mut() = Some(Session { peer, begun: now(), serving });
        Ok(opened)
    }

    async fn close(&self, peer: IpAddr) -> Result<Closed, Refusal> {
        let session = self.session.borrow_mut().take_if(|session| session.peer == peer);
        let why = "the run has ended: another client on this address has begun one, or it took longer than \
                   the server allows\n  help: use one client at a time per address";
        let session = session.ok_or_else(|| Refusal(410, why.to_owned()))?;
        let log = EventLog::default();
        session.serving.end(&log).await;
        let records = log.take().into_iter().filter(is_told).collect();
        Ok(Closed { records })
    }

    async fn end_overdue(&self) {
        let limit = self.settings.limits.duration;
        let overdue = |session: &mut Session| now() >= session.begun + limit;
        let session = self.session.borrow_mut().take_if(overdue);
        if let Some(session) = session {
            let message = format!("the run of {} took longer than allowed", session.peer);
            self.log.warn("overdue", &message, &[]);
            session.serving.end(&EventLog::default()).await;
        }
    }
}

/// Waits until the port of the previous run is free: QUIC connections linger for a moment after
/// closing (RFC 9000 section 10.2). If another process has the port, binding it fails later with an
/// error.
async fn until_free(listen: SocketAddr) {
    let patience = now() + LINGERING;
    while UdpSocket::bind(listen).is_err() && now() < patience {
        sleep(LOOK_AGAIN).await;
    }
}

/// Three probe timeouts of a connection without measurements (RFC 9002 section 6.2.2), and more.
const LINGERING: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Concurrent connections that request runs; the other descriptors are for the runs.
const CONTROL_CONNECTIONS_MAX: usize = 128;

/// How long a client may take for its handshake and the head of its request, and then, with the
/// ticket, for the body.
const TELLING: Duration = Duration::from_secs(10);

const GUESSING: Duration = Duration::from_secs(1);

const LOOK_EVERY: Duration = Duration::from_secs(1);
