//! The arithmetic protocol.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::error::Step;
use trackbed_connection::{
    Capabilities, CipherSuite, Connection, Dialer, Error, Handshake, Request, Response, Security,
    Service, TlsVersion, Transport, TransportStats,
};
use trackbed_core::event::{EventLog, Record};
use trackbed_core::{Seed, Time};
use trackbed_net::NetworkBuilder;
use trackbed_substrate::simulated::Simulation;
use trackbed_substrate::{now, sleep};
use trackbed_workloads::environment::Course;
use trackbed_workloads::{Patience, Prepared, Stage};

use super::support::{Settings, prepare};

/// How the protocol behaves. The default is a set-up of 20 ms, 5 ms one way, and no failures.
#[derive(Clone)]
pub struct Behaviour {
    pub set_up: Duration,
    pub one_way: Duration,
    pub handshake: Handshake,
    /// Refused attempts to connect, over all phones, before one succeeds.
    pub refused: u32,
    /// Whether failures are retryable.
    pub retryable: bool,
    /// Exchanges, counted over all phones, whose connection breaks when the request is sent.
    pub broken: &'static [u32],
    /// Exchanges that are never answered.
    pub unanswered: &'static [u32],
    /// The environment's changes.
    pub course: Course,
    pub seed: u64,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            set_up: Duration::from_millis(20),
            one_way: Duration::from_millis(5),
            handshake: Handshake::New,
            refused: 0,
            retryable: true,
            broken: &[],
            unanswered: &[],
            course: Course::default(),
            seed: 1,
        }
    }
}

/// The results of a run.
pub struct Ran {
    /// The events.
    pub records: Vec<Record>,
    /// When the clients' side was done.
    pub end: Time,
    /// Connections that were never closed.
    pub open: u32,
    /// When each connection was closed, in order.
    pub closed: Vec<Time>,
}

/// Runs the workload called `workload` with its own service.
pub fn run(workload: &str, settings: &Settings, behaviour: &Behaviour) -> Ran {
    run_prepared(&*prepare(workload, settings).unwrap(), behaviour)
}

/// Runs a workload with its own service.
pub fn run_prepared(prepared: &dyn Prepared, behaviour: &Behaviour) -> Ran {
    run_with(prepared, behaviour, |service| service)
}

/// Runs a workload with its service wrapped by the test.
pub fn run_with(
    prepared: &dyn Prepared,
    behaviour: &Behaviour,
    wrap: impl FnOnce(Rc<dyn Service>) -> Rc<dyn Service> + Send,
) -> Ran {
    let seed = Seed::of_run(behaviour.seed, 0);
    let network = NetworkBuilder::new().build().unwrap();
    let main = |_| async move {
        let log = EventLog::default();
        let server = Rc::new(Server {
            behaviour: behaviour.clone(),
            service: wrap(prepared.service(log.clone())),
            attempts: Cell::default(),
            exchanges: Cell::default(),
            open: Cell::default(),
            closed: RefCell::default(),
        });
        let dialer = || Rc::new(FakeDialer(Rc::clone(&server))) as Rc<dyn Dialer>;
        let stage = Stage {
            first: 0,
            phones: (0..prepared.phones()).map(|_| dialer()).collect(),
            capabilities: CAPABILITIES,
            hosts: Vec::new(),
            server: SocketAddr::from(([10, 0, 0, 2], 443)),
            handshake: behaviour.handshake,
            patience: Patience::VIRTUAL,
            course: behaviour.course.clone(),
            seed,
            log: log.clone(),
        };
        prepared.drive(stage).await;
        let (open, closed) = (server.open.get(), server.closed.take());
        Ran { records: log.take(), end: now(), open, closed }
    };
    Simulation::new().run(seed, network, main).unwrap()
}

/// The workloads only use whether exchanges share a connection.
const CAPABILITIES: Capabilities = Capabilities {
    transport: Transport::Udp,
    tls: TlsVersion::ALL,
    handshakes: Handshake::OF_PROTOCOLS,
    multiplexed: true,
    migrates: false,
    multipath: false,
};

struct Server {
    behaviour: Behaviour,
    service: Rc<dyn Service>,
    attempts: Cell<u32>,
    exchanges: Cell<u32>,
    open: Cell<u32>,
    closed: RefCell<Vec<Time>>,
}

impl Server {
    fn failure(&self, step: Step, reason: &str) -> Error {
        let retryable = self.behaviour.retryable;
        Error::Failed { protocol: "fake", step, reason: reason.to_owned(), retryable }
    }
}

struct FakeDialer(Rc<Server>);

impl Dialer for FakeDialer {
    fn connect(&self, _: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        Box::pin(async {
            let server = &self.0;
            let attempt = server.attempts.replace(server.attempts.get() + 1);
            if attempt < server.behaviour.refused {
                return Err(server.failure(Step::Connect, "refused"));
            }
            sleep(server.behaviour.set_up).await;
            server.open.set(server.open.get() + 1);
            let server = Rc::clone(server);
            Ok(Rc::new(FakeConnection { server, answered: Cell::new(false) }) as Rc<dyn Connection>)
        })
    }
}

struct FakeConnection {
    server: Rc<Server>,
    answered: Cell<bool>,
}

impl Connection for FakeConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>> {
        Box::pin(async {
            let Server { behaviour, service, exchanges, .. } = &*self.server;
            let number = exchanges.replace(exchanges.get() + 1);
            if behaviour.broken.contains(&number) {
                return Err(self.server.failure(Step::Send, "broken"));
            }
            if behaviour.unanswered.contains(&number) {
                std::future::pending::<()>().await;
            }
            sleep(behaviour.one_way).await;
            let response = service.call(request).await;
            sleep(behaviour.one_way).await;
            self.answered.set(true);
            Ok(response)
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            sleep(self.server.behaviour.one_way).await;
            self.server.open.set(self.server.open.get() - 1);
            self.server.closed.borrow_mut().push(now());
        })
    }

    fn security(&self) -> Option<Security> {
        let early = self.server.behaviour.handshake == Handshake::Early;
        (self.answered.get() || !early).then_some(Security {
            version: TlsVersion::Tls13,
            cipher: CipherSuite::Aes128Gcm,
            resumed: self.server.behaviour.handshake != Handshake::New,
            early_data: early,
        })
    }

    fn transport(&self) -> TransportStats {
        let smoothed_rtt = Some(self.server.behaviour.one_way * 2);
        TransportStats { smoothed_rtt, ..TransportStats::default() }
    }
}
