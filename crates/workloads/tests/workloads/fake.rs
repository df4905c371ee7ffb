//! The arithmetic protocol.

use trackbed_connection::{Capabilities, Security, TransportStats};
use trackbed_substrate::now;

use crate::support::*;

/// How the protocol behaves. The default is a set-up of 20 ms, 5 ms one way, exchanges that share a
/// connection, bodies that take no time, and no failures.
#[derive(Clone)]
pub struct Behaviour {
    pub set_up: Duration,
    pub one_way: Duration,
    /// The time of each kilobyte of an answer's body.
    pub per_kilobyte: Duration,
    pub multiplexed: bool,
    pub handshake: Handshake,
    /// Refused attempts to connect, over all phones, before one succeeds.
    pub refused: u32,
    pub retryable: bool,
    /// Exchanges, counted over all phones, whose connection breaks when the request is sent.
    pub broken: &'static [u32],
    /// Exchanges whose connection breaks in the middle of the answer.
    pub breaking_off: &'static [u32],
    /// Exchanges that are never answered.
    pub unanswered: &'static [u32],
    /// A path that the server does not know.
    pub missing: Option<&'static str>,
    /// A path whose content lacks its last byte.
    pub shortened: Option<&'static str>,
    /// The environment's changes.
    pub course: Course,
    pub seed: u64,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            set_up: Duration::from_millis(20),
            one_way: Duration::from_millis(5),
            per_kilobyte: Duration::ZERO,
            multiplexed: true,
            handshake: Handshake::New,
            refused: 0,
            retryable: true,
            broken: &[],
            breaking_off: &[],
            unanswered: &[],
            missing: None,
            shortened: None,
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
    pub counts: Counts,
}

impl Ran {
    #[track_caller]
    pub fn succeeded(self) -> Ran {
        assert_eq!(outcome(&self.records), Ok(()));
        self
    }
}

/// Counts of connections and exchanges.
#[derive(Clone, Default)]
pub struct Counts {
    /// Connections, from the attempt until they begin to close or are dropped.
    pub in_use: u32,
    /// The maximum of these at any time.
    pub in_use_max: u32,
    /// Exchanges of each connection, in the order of the attempts.
    pub exchanges: Vec<u32>,
    /// The most exchanges at once on a connection.
    pub exchanges_max: u32,
    /// Requests that had a priority.
    pub prioritised: u32,
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
    let network = NetworkBuilder::default().build().unwrap();
    let main = |_| async move {
        let log = EventLog::default();
        let server = Rc::new(Server {
            behaviour: behaviour.clone(),
            service: wrap(prepared.service(log.clone())),
            attempts: Cell::default(),
            exchanges: Cell::default(),
            open: Cell::default(),
            closed: RefCell::default(),
            counts: RefCell::default(),
        });
        let dialer = || Rc::new(FakeDialer(Rc::clone(&server))) as Rc<dyn Dialer>;
        let stage = Stage {
            first: 0,
            phones: (0..prepared.phones()).map(|_| dialer()).collect(),
            capabilities: Capabilities {
                multiplexed: behaviour.multiplexed,
                ..Capabilities::encrypted(Transport::Udp, TlsVersion::ALL)
            },
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
        let counts = server.counts.borrow().clone();
        Ran { records: log.take(), end: now(), open, closed, counts }
    };
    Simulation::default().run(seed, network, main).unwrap()
}

struct Server {
    behaviour: Behaviour,
    service: Rc<dyn Service>,
    attempts: Cell<u32>,
    exchanges: Cell<u32>,
    open: Cell<u32>,
    closed: RefCell<Vec<Time>>,
    counts: RefCell<Counts>,
}

impl Server {
    fn failure(&self, step: Step, reason: &str) -> Error {
        let retryable = self.behaviour.retryable;
        Error::Failed { protocol: "fake", step, reason: reason.to_owned(), retryable }
    }

    /// A body that takes its time; `running` is held until its end.
    fn slow(self: Rc<Self>, content: Bytes, breaks_off: bool, running: Rc<()>) -> Body {
        let pieces: Vec<Bytes> = content.chunks(1_000).map(|it| content.slice_ref(it)).collect();
        let half = pieces.len() / 2;
        Box::pin(stream::iter(pieces).enumerate().then(move |(k, piece)| {
            let (server, _running) = (Rc::clone(&self), Rc::clone(&running));
            async move {
                sleep(server.behaviour.per_kilobyte).await;
                match breaks_off && k == half {
                    true => Err(server.failure(Step::Receive, "broken off")),
                    false => Ok(piece),
                }
            }
        }))
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
            let connection = FakeConnection::begin(Rc::clone(server));
            sleep(server.behaviour.set_up).await;
            server.open.set(server.open.get() + 1);
            Ok(Rc::new(connection) as Rc<dyn Connection>)
        })
    }
}

struct FakeConnection {
    server: Rc<Server>,
    number: usize,
    /// Held by each exchange until the end of its body.
    running: Rc<()>,
    is_in_use: Cell<bool>,
    answered: Cell<bool>,
}

impl FakeConnection {
    fn begin(server: Rc<Server>) -> FakeConnection {
        let mut counts = server.counts.borrow_mut();
        counts.in_use += 1;
        counts.in_use_max = counts.in_use_max.max(counts.in_use);
        counts.exchanges.push(0);
        let number = counts.exchanges.len() - 1;
        drop(counts);
        let (is_in_use, answered) = (Cell::new(true), Cell::new(false));
        FakeConnection { server, number, running: Rc::default(), is_in_use, answered }
    }

    /// Counts an exchange, which lasts as long as what is returned.
    fn count(&self, request: &Request) -> Rc<()> {
        let running = Rc::clone(&self.running);
        let mut counts = self.server.counts.borrow_mut();
        let at_once = Rc::strong_count(&running) as u32 - 1;
        assert!(self.server.behaviour.multiplexed || at_once == 1, "one exchange at a time");
        counts.exchanges_max = counts.exchanges_max.max(at_once);
        counts.exchanges[self.number] += 1;
        counts.prioritised += u32::from(request.priority.is_some());
        running
    }

    fn end(&self) {
        if self.is_in_use.replace(false) {
            self.server.counts.borrow_mut().in_use -= 1;
        }
    }
}

impl Drop for FakeConnection {
    fn drop(&mut self) {
        self.end();
    }
}

impl Connection for FakeConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>> {
        Box::pin(async {
            let Server { behaviour, service, exchanges, .. } = &*self.server;
            let number = exchanges.replace(exchanges.get() + 1);
            let running = self.count(&request);
            if behaviour.broken.contains(&number) {
                return Err(self.server.failure(Step::Send, "broken"));
            }
            if behaviour.unanswered.contains(&number) {
                std::future::pending::<()>().await;
            }
            sleep(behaviour.one_way).await;
            let is_missing = behaviour.missing == Some(&request.path);
            let is_shortened = behaviour.shortened == Some(&request.path);
            let mut response = service.call(request).await;
            sleep(behaviour.one_way).await;
            self.answered.set(true);
            if is_missing {
                return Ok(Response { status: 404, body: body::empty() });
            }
            let breaks_off = behaviour.breaking_off.contains(&number);
            if !behaviour.per_kilobyte.is_zero() || is_shortened || breaks_off {
                let content = body::collect(response.body, 1 << 20).await?;
                let content = content.slice(..content.len() - usize::from(is_shortened));
                response.body = Rc::clone(&self.server).slow(content, breaks_off, running);
            }
            Ok(response)
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.end();
            sleep(self.server.behaviour.one_way).await;
            self.server.open.set(self.server.open.get() - 1);
            self.server.closed.borrow_mut().push(now());
        })
    }

    fn is_open(&self) -> bool {
        self.is_in_use.get()
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
