//! A server and its network for page loads: bodies take time, and connections and exchanges are
//! counted.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use futures_util::{StreamExt as _, stream};
use trackbed_connection::error::Step;
use trackbed_connection::{
    Body, Capabilities, Connection, Dialer, Error, Handshake, Request, Response, Security, Service,
    Transport, TransportStats, body,
};
use trackbed_core::event::{EventLog, Record};
use trackbed_core::{Seed, Time};
use trackbed_net::NetworkBuilder;
use trackbed_substrate::simulated::Simulation;
use trackbed_substrate::{now, sleep};
use trackbed_workloads::{Patience, Prepared, Stage};

/// How the protocol behaves: by default connecting takes 20 ms and the head of a response 10 ms, 1
/// kB of a body arrives each millisecond, exchanges share a connection, and nothing fails.
#[derive(Clone)]
pub struct Origin {
    pub multiplexed: bool,
    pub set_up: Duration,
    pub round_trip: Duration,
    /// Refused attempts to connect before one succeeds.
    pub refused: u32,
    /// Exchanges whose connection breaks when the request is sent, counted over all connections.
    pub broken: &'static [u32],
    /// Exchanges whose connection breaks in the middle of the response.
    pub breaking_off: &'static [u32],
    /// Exchanges that are never answered.
    pub unanswered: &'static [u32],
    /// A path that the server does not know.
    pub missing: Option<&'static str>,
    /// A path whose content lacks its last byte.
    pub shortened: Option<&'static str>,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin {
            multiplexed: true,
            set_up: Duration::from_millis(20),
            round_trip: Duration::from_millis(10),
            refused: 0,
            broken: &[],
            breaking_off: &[],
            unanswered: &[],
            missing: None,
            shortened: None,
        }
    }
}

/// The results of a run.
pub struct Ran {
    pub records: Vec<Record>,
    pub end: Time,
    pub origin: Counts,
}

/// Counts of connections and exchanges.
#[derive(Clone, Default)]
pub struct Counts {
    /// Connections, from the attempt until they began to close.
    pub open: u32,
    /// The maximum of these at any time.
    pub open_max: u32,
    /// Exchanges of each connection, in the order in which they were connected.
    pub exchanges: Vec<u32>,
    /// The most exchanges at once on a connection.
    pub exchanges_max: u32,
    /// Requests that had a priority.
    pub prioritised: u32,
}

/// Runs a workload with its own service behind `origin`.
pub fn load(prepared: &dyn Prepared, origin: &Origin) -> Ran {
    let seed = Seed::of_run(1, 0);
    let network = NetworkBuilder::new().build().unwrap();
    let main = |_| async move {
        let log = EventLog::default();
        let server = Rc::new(Server {
            origin: origin.clone(),
            service: prepared.service(log.clone()),
            attempts: Cell::default(),
            exchanges: Cell::default(),
            counts: RefCell::default(),
        });
        let dialer = || Rc::new(OriginDialer(Rc::clone(&server))) as Rc<dyn Dialer>;
        let stage = Stage {
            first: 0,
            phones: (0..prepared.phones()).map(|_| dialer()).collect(),
            capabilities: Capabilities {
                transport: Transport::Tcp,
                tls: &[],
                handshakes: &[],
                multiplexed: origin.multiplexed,
                migrates: false,
                multipath: false,
            },
            hosts: Vec::new(),
            server: SocketAddr::from(([10, 0, 0, 2], 443)),
            handshake: Handshake::New,
            patience: Patience::VIRTUAL,
            course: trackbed_workloads::environment::Course::default(),
            seed,
            log: log.clone(),
        };
        prepared.drive(stage).await;
        let origin = server.counts.borrow().clone();
        Ran { records: log.take(), end: now(), origin }
    };
    Simulation::new().run(seed, network, main).unwrap()
}

struct Server {
    origin: Origin,
    service: Rc<dyn Service>,
    attempts: Cell<u32>,
    exchanges: Cell<u32>,
    counts: RefCell<Counts>,
}

struct OriginDialer(Rc<Server>);

impl Dialer for OriginDialer {
    fn connect(&self, _: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        Box::pin(async {
            let attempt = self.0.attempts.replace(self.0.attempts.get() + 1);
            if attempt < self.0.origin.refused {
                return Err(failure(Step::Connect, "refused"));
            }
            let number = {
                let mut counts = self.0.counts.borrow_mut();
                counts.open += 1;
                counts.open_max = counts.open_max.max(counts.open);
                counts.exchanges.push(0);
                counts.exchanges.len() - 1
            };
            let connection = OriginConnection {
                server: Rc::clone(&self.0),
                number,
                running: Rc::default(),
                open: Cell::new(true),
            };
            sleep(self.0.origin.set_up).await;
            Ok(Rc::new(connection) as Rc<dyn Connection>)
        })
    }
}

struct OriginConnection {
    server: Rc<Server>,
    number: usize,
    /// Held by each exchange until the end of its body.
    running: Rc<()>,
    open: Cell<bool>,
}

impl OriginConnection {
    fn end(&self) {
        if self.open.replace(false) {
            self.server.counts.borrow_mut().open -= 1;
        }
    }
}

/// Dropping the last handle closes it.
impl Drop for OriginConnection {
    fn drop(&mut self) {
        self.end();
    }
}

impl Connection for OriginConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>> {
        Box::pin(async {
            let Server { origin, service, exchanges, counts, .. } = &*self.server;
            let exchange = exchanges.replace(exchanges.get() + 1);
            let running = Rc::clone(&self.running);
            {
                let mut counts = counts.borrow_mut();
                let at_once = Rc::strong_count(&running) as u32 - 1;
                assert!(origin.multiplexed || at_once == 1, "one exchange at a time");
                counts.exchanges_max = counts.exchanges_max.max(at_once);
                counts.exchanges[self.number] += 1;
                counts.prioritised += u32::from(request.priority.is_some());
            }
            if origin.broken.contains(&exchange) {
                return Err(failure(Step::Send, "broken"));
            }
            if origin.unanswered.contains(&exchange) {
                std::future::pending::<()>().await;
            }
            sleep(origin.round_trip).await;
            if origin.missing == Some(&request.path) {
                return Ok(Response { status: 404, body: body::empty() });
            }
            let shortened = origin.shortened == Some(&request.path);
            let response = service.call(request).await;
            let content = body::collect(response.body, 1 << 20).await?;
            let content = content.slice(..content.len() - usize::from(shortened));
            let breaking_off = origin.breaking_off.contains(&exchange);
            Ok(Response { status: response.status, body: slow(content, breaking_off, running) })
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.end();
            sleep(self.server.origin.round_trip).await;
        })
    }

    fn security(&self) -> Option<Security> {
        None
    }

    fn transport(&self) -> TransportStats {
        TransportStats::default()
    }
}

/// A kilobyte each millisecond; `running` is held until the end.
fn slow(content: Bytes, breaking_off: bool, running: Rc<()>) -> Body {
    let pieces: Vec<Bytes> = (0..content.len().div_ceil(1_000))
        .map(|k| content.slice(k * 1_000..content.len().min((k + 1) * 1_000)))
        .collect();
    let half = pieces.len() / 2;
    let arriving = stream::iter(pieces).enumerate().then(move |(k, piece)| {
        let _running = &running;
        async move {
            sleep(Duration::from_millis(1)).await;
            match breaking_off && k == half {
                true => Err(failure(Step::Receive, "broken off")),
                false => Ok(piece),
            }
        }
    });
    Box::pin(arriving)
}

fn failure(step: Step, reason: &str) -> Error {
    Error::Failed { protocol: "fake", step, reason: reason.to_owned(), retryable: true }
}
