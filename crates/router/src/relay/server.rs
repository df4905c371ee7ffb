//! The relay at work: listeners, and a task for each connection.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use trackbed_core::Time;
use trackbed_daemon::{Log, Metrics};
use trackbed_linux::mptcp::speaks_mptcp;
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{Task, TcpListener, TcpStream, now, sleep, spawn};

use crate::relay::carry::carry;
use crate::relay::figures::Figures;
use crate::relay::fronts::Front;
use crate::relay::socks::{Conversation, Destination, Reply, Step, reply};
use crate::relay::{names, sockets};

/// What a relay is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How connections come in.
    pub fronts: Vec<Front>,
    /// How much there may be.
    pub limits: Limits,
}

/// How much there may be, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// How long a destination may take to answer.
    pub connect: Duration,
    /// How long a connection may be silent.
    pub idle: Duration,
    /// How long connections may go on after the end was asked for.
    pub drain: Duration,
}

/// Connections may be as silent as RFC 5382 section 5 lets them (2 hours 4 minutes).
impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4_096,
            connect: Duration::from_secs(20),
            idle: Duration::from_secs(124 * 60),
            drain: Duration::from_secs(30),
        }
    }
}

/// Asks a relay to end: no new connections, and those that are open may finish. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// To be called from any thread.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Relays until it is asked to stop, on the calling thread and in its network namespace. `ready` is
/// told where each front listens.
///
/// # Errors
/// If a front cannot listen, or the kernel refuses what the relay needs.
pub fn run(
    plan: &Plan,
    metrics: &Metrics,
    log: Log,
    stop: &Stop,
    ready: impl FnOnce(&[Front]),
) -> io::Result<()> {
    let mut listeners = Vec::new();
    for front in &plan.fronts {
        let transparent = matches!(front, Front::Transparent(_));
        listeners.push((*front, sockets::listener(front.address(), transparent)?));
    }
    allow_descriptors();
    let execution = Execution::new(Origin::now()).with_time_limit(Time::MAX);
    let (limits, figures) = (plan.limits, Figures::new(metrics));
    let result = execution.run(|machine| async move {
        let relay = Relay {
            machine: machine.clone(),
            limits,
            figures,
            log,
            open: Rc::new(Cell::new(0)),
            connections: Rc::default(),
        };
        let mut fronts = Vec::new();
        let mut accepting = Vec::new();
        for (front, socket) in listeners {
            let listener = machine.adopt_listener(socket)?;
            let address = listener.local_addr();
            let front = match front {
                Front::Transparent(_) => Front::Transparent(address),
                Front::Socks(_) => Front::Socks(address),
            };
            fronts.push(front);
            accepting.push(spawn(relay.clone().accept(front, listener)));
        }
        ready(&fronts);
        while !stop.is_asked() {
            sleep(LOOK_EVERY).await;
        }
        drop(accepting);
        relay.drain().await;
        Ok(())
    });
    result.map_err(|why| io::Error::other(why.to_string()))?
}

/// A connection's task, and whether it is over.
type Serving = (Rc<Cell<bool>>, Task<()>);

#[derive(Clone, Debug)]
struct Relay {
    machine: Machine,
    limits: Limits,
    figures: Figures,
    log: Log,
    open: Rc<Cell<usize>>,
    connections: Rc<RefCell<Vec<Serving>>>,
}

impl Relay {
    async fn accept(self, front: Front, listener: Box<dyn TcpListener>) {
        loop {
            while self.open.get() >= self.limits.connections {
                sleep(LOOK_EVERY).await;
            }
            match listener.accept().await {
                Ok(stream) => self.take(front, stream),
                Err(why) => {
                    // Out of descriptors, as a rule: others will end.
                    self.log.warn("accept", &format!("cannot take a connection: {why}"), &[]);
                    sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    /// Serves a connection in a task of its own.
    fn take(&self, front: Front, near: Box<dyn TcpStream>) {
        let (relay, over) = (self.clone(), Rc::new(Cell::new(false)));
        let done = Rc::clone(&over);
        self.count(1);
        let task = spawn(async move {
            relay.serve(front, near).await;
            relay.count(-1);
            done.set(true);
        });
        let mut connections = self.connections.borrow_mut();
        connections.retain(|(over, _)| !over.get());
        connections.push((over, task));
    }

    fn count(&self, change: isize) {
        self.open.set(self.open.get().saturating_add_signed(change));
        self.figures.open.set(self.open.get() as f64);
    }

    async fn serve(&self, front: Front, mut near: Box<dyn TcpStream>) {
        near.set_nodelay(true);
        let (to, first) = match front {
            Front::Transparent(own) => {
                // Of a connection to ourselves there is no destination.
                if near.local_addr().port() == own.port() && is_own(near.local_addr(), own) {
                    self.figures.refused.increment();
                    return near.abort();
                }
                (Destination::Address(near.local_addr().ip(), near.local_addr().port()), Vec::new())
            }
            Front::Socks(_) => match within(self.limits.connect, converse(&mut *near)).await {
                Ok(Some(said)) => said,
                Ok(None) | Err(_) => return self.figures.refused.increment(),
            },
        };
        let socks = matches!(front, Front::Socks(_));
        let dialled = within(self.limits.connect, self.dial(&to)).await;
        let mut far = match dialled {
            Ok(far) => far,
            Err(why) => {
                self.figures.unreachable.increment();
                match socks {
                    // It may have gone meanwhile.
                    true => drop(refuse(&mut *near, &reply(explain(&why))).await),
                    false => near.abort(),
                }
                return;
            }
        };
        let answered = async {
            if socks {
                near.write_all(&reply(Reply::Succeeded)).await?;
            }
            far.write_all(&first).await
        };
        let ended = match answered.await {
            Ok(()) => carry(&mut *near, &mut *far, self.limits.idle, &self.figures.meters).await,
            Err(why) => Err(why),
        };
        match ended {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::TimedOut => self.figures.idle.increment(),
            Err(_) => self.figures.broken.increment(),
        }
    }

    /// Connects to a destination, of a name to the first of its addresses that answers.
    async fn dial(&self, to: &Destination) -> io::Result<Box<dyn TcpStream>> {
        let addresses = match to {
            Destination::Address(ip, port) => vec![SocketAddr::new(*ip, *port)],
            Destination::Name(name, port) => {
                names::resolve(&self.machine, name.clone(), *port).await?
            }
        };
        let mut last = io::ErrorKind::NotFound.into();
        for address in addresses {
            match self.dial_address(address).await {
                Ok(stream) => return Ok(stream),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    async fn dial_address(&self, to: SocketAddr) -> io::Result<Box<dyn TcpStream>> {
        let (socket, multipath) = sockets::dial(to)?;
        let other = socket.try_clone()?;
        let stream = self.machine.adopt_stream(socket, to).await?;
        let multipath = multipath && speaks_mptcp(&other);
        match multipath {
            true => self.figures.multipath.increment(),
            false => self.figures.plain.increment(),
        }
        Ok(stream)
    }

    /// Lets open connections finish, for a while.
    async fn drain(&self) {
        let end = now() + self.limits.drain;
        while self.open.get() > 0 && now() < end {
            sleep(LOOK_EVERY).await;
        }
        let left = self.open.get();
        if left > 0 {
            let message = format!("{left} connections were not over in time and are broken off");
            self.log.warn("drain", &message, &[("connections", left.into())]);
        }
        self.connections.borrow_mut().clear();
    }
}

/// Hears where a client wants to go, and what it has sent behind that already; none if it was
/// refused or has gone.
async fn converse(near: &mut dyn TcpStream) -> io::Result<Option<(Destination, Vec<u8>)>> {
    let mut conversation = Conversation::default();
    let mut buffer = [0; 512];
    let mut step = Step::More;
    loop {
        step = match step {
            Step::More => match near.read(&mut buffer).await? {
                0 => return Ok(None),
                count => conversation.hear(&buffer[..count]),
            },
            Step::Send(bytes) => {
                near.write_all(&bytes).await?;
                conversation.hear(&[])
            }
            Step::Connect(to) => return Ok(Some((to, conversation.into_rest()))),
            Step::Refuse(bytes) => {
                refuse(near, &bytes).await?;
                return Ok(None);
            }
        };
    }
}

/// Says why not, and ends.
async fn refuse(near: &mut dyn TcpStream, bytes: &[u8]) -> io::Result<()> {
    near.write_all(bytes).await?;
    near.close().await
}

async fn within<T>(span: Duration, action: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match select(std::pin::pin!(action), std::pin::pin!(sleep(span))).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// A connection takes two descriptors, and shells start programs with 1,024.
fn allow_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where it is refused, connections wait sooner.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn is_own(address: SocketAddr, listener: SocketAddr) -> bool {
    listener.ip() == address.ip()
        || listener.ip().is_unspecified() && std::net::UdpSocket::bind((address.ip(), 0)).is_ok()
}

fn explain(why: &io::Error) -> Reply {
    match why.kind() {
        io::ErrorKind::ConnectionRefused => Reply::Refused,
        io::ErrorKind::NetworkUnreachable => Reply::NetworkUnreachable,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NotFound => Reply::HostUnreachable,
        io::ErrorKind::TimedOut => Reply::Expired,
        _ => Reply::Failure,
    }
}

/// How soon it is noticed that the end was asked for, or that there is room again.
const LOOK_EVERY: Duration = Duration::from_millis(20);
