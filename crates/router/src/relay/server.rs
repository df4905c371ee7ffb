//! The running relay: listeners, and a task for each connection.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use trackbed_core::Time;
use trackbed_linux::mptcp::speaks_mptcp;
use trackbed_outward::{Gauge, Log, Metrics, Seldom};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::{
    Cancel, Guests, Standing, TcpListener, TcpStream, accept_each, before, now, sleep, spawn,
};

use crate::relay::carry::carry;
use crate::relay::destinations::{Destinations, is_ours};
use crate::relay::figures::Figures;
use crate::relay::fronts::Front;
use crate::relay::names::Names;
use crate::relay::sockets;
use crate::relay::socks::{Conversation, Destination, Reply, Step, reply};

/// The configuration of a relay.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The listeners.
    pub fronts: Vec<Front>,
    /// The limits.
    pub limits: Limits,
    /// The allowed destinations.
    pub destinations: Destinations,
}

/// The limits of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of connections. A further one replaces another: of the client with the most
    /// connections, the one that has been idle for longest.
    pub connections: usize,
    /// The time limit for connecting to a destination.
    pub connect: Duration,
    /// How long a connection may be idle.
    pub idle: Duration,
    /// How long open connections may continue after a stop was requested.
    pub drain: Duration,
}

/// The idle limit is that of RFC 5382 section 5 (2 hours 4 minutes).
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

/// Relays until a stop is requested: then it accepts no new connections, and open ones may finish. Runs on the calling thread and in its network namespace. `ready` gets the
/// address of each front.
///
/// # Errors
/// If a front cannot listen, or the kernel refuses a required option.
pub fn run(
    plan: &Plan,
    metrics: &Metrics,
    log: Log,
    stop: &Cancel,
    ready: impl FnOnce(&[Front]),
) -> io::Result<()> {
    let mut listeners = Vec::new();
    for front in &plan.fronts {
        listeners.push((*front, sockets::listener(front.address, front.is_transparent)?));
    }
    let execution = Execution::new(Origin::now()).with_time_limit(Time::MAX);
    let (limits, figures) = (plan.limits, Figures::new(metrics));
    let result = execution.run(|machine| async move {
        let destinations = Rc::new(plan.destinations.clone());
        let (machine, names, warnings) = (machine.clone(), Names::default(), Rc::default());
        let relay = Relay { machine, limits, destinations, names, figures, log, warnings };
        let guests = Rc::new(Guests::new(limits.connections));
        let mut fronts = Vec::new();
        let mut accepting = Vec::new();
        for (front, socket) in listeners {
            let listener = relay.machine.adopt_listener(socket)?;
            let front = Front { address: listener.local_addr(), ..front };
            fronts.push(front);
            accepting.push(spawn(relay.clone().accept(front, listener, Rc::clone(&guests))));
        }
        ready(&fronts);
        while !stop.is_cancelled() {
            sleep(LOOK_EVERY).await;
        }
        drop(accepting);
        relay.drain(&guests).await;
        Ok(())
    });
    result.map_err(|why| io::Error::other(why.to_string()))?
}

#[derive(Clone, Debug)]
struct Relay {
    machine: Machine,
    limits: Limits,
    destinations: Rc<Destinations>,
    names: Names,
    figures: Figures,
    log: Log,
    warnings: Rc<Seldom>,
}

impl Relay {
    async fn accept(self, front: Front, listener: Box<dyn TcpListener>, guests: Rc<Guests>) {
        let take = |near: Box<dyn TcpStream>| {
            let (relay, standing) = (self.clone(), Standing::new(near.peer_addr().ip()));
            let (open, shown) = (Open::new(&self.figures), standing.clone());
            guests.admit(standing, async move {
                let _open = open;
                relay.serve(front, near, &shown).await;
            });
        };
        let refused = |why: &io::Error| {
            if let Some(why) = self.warnings.passes(now().since(Time::ZERO), &why.to_string()) {
                self.log.warn("accept", &format!("cannot accept a connection: {why}"), &[]);
            }
            guests.relieve()
        };
        accept_each(&*listener, take, refused).await;
    }

    async fn serve(&self, front: Front, mut near: Box<dyn TcpStream>, standing: &Standing) {
        near.set_nodelay(true);
        let own = front.address;
        let (to, first) = match front.is_transparent {
            true => {
                // A connection to the relay itself has no destination.
                if near.local_addr().port() == own.port() && is_own(near.local_addr(), own) {
                    self.figures.refused.increment();
                    return near.abort();
                }
                standing.asked();
                (Destination::Address(near.local_addr().ip(), near.local_addr().port()), Vec::new())
            }
            false => match within(self.limits.connect, converse(&mut *near)).await {
                Ok(Some(said)) => {
                    standing.asked();
                    said
                }
                Ok(None) | Err(_) => return self.figures.refused.increment(),
            },
        };
        let dialled = within(self.limits.connect, self.dial(&to, standing.source())).await;
        let mut far = match dialled {
            Ok(far) => far,
            Err(why) => {
                self.figures.unreachable.increment();
                match front.is_transparent {
                    true => near.abort(),
                    // The client may have gone.
                    false => drop(refuse(&mut *near, &reply(explain(&why))).await),
                }
                return;
            }
        };
        let answered = async {
            if !front.is_transparent {
                near.write_all(&reply(Reply::Succeeded)).await?;
            }
            far.write_all(&first).await
        };
        let ended = match answered.await {
            Ok(()) => {
                let told = (&self.figures.meters, standing);
                carry(&mut *near, &mut *far, self.limits.idle, told).await
            }
            Err(why) => Err(why),
        };
        match ended {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::TimedOut => self.figures.idle.increment(),
            Err(_) => self.figures.broken.increment(),
        }
    }

    /// Connects to a destination; for a name, to the first address that answers.
    async fn dial(&self, to: &Destination, source: IpAddr) -> io::Result<Box<dyn TcpStream>> {
        let addresses = match to {
            Destination::Address(ip, port) => vec![SocketAddr::new(*ip, *port)],
            Destination::Name(name, port) => {
                self.names.resolve(&self.machine, source, (name.clone(), *port)).await?
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
        if let Some(why) = self.destinations.refusal(to.ip()) {
            let advice = "use --allow if clients should reach it";
            let message = format!("refused to connect to {to}: {why}; {advice}");
            if let Some(message) = self.warnings.passes(now().since(Time::ZERO), &message) {
                self.log.warn("refused", &message, &[("to", to.to_string().into())]);
            }
            return Err(io::ErrorKind::PermissionDenied.into());
        }
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

    /// Waits a while for open connections to finish.
    async fn drain(&self, guests: &Guests) {
        let (end, count) = (now() + self.limits.drain, guests.count());
        while count.get() > 0 && now() < end {
            sleep(LOOK_EVERY).await;
        }
        let left = count.get();
        if left > 0 {
            let message = format!("connections aborted because they did not end in time: {left}");
            self.log.warn("drain", &message, &[("connections", left.into())]);
        }
    }
}

/// Counts a connection until it ends in any way.
struct Open(Gauge);

impl Open {
    fn new(figures: &Figures) -> Open {
        figures.open.set(figures.open.value() + 1.0);
        Open(figures.open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.set(self.0.value() - 1.0);
    }
}

/// Reads a client's request. Returns the destination and the data after the request; `None` if the client was
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

async fn refuse(near: &mut dyn TcpStream, bytes: &[u8]) -> io::Result<()> {
    near.write_all(bytes).await?;
    near.close().await
}

async fn within<T>(span: Duration, action: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    before(now() + span, action).await.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))
}

fn is_own(address: SocketAddr, listener: SocketAddr) -> bool {
    listener.ip() == address.ip() || listener.ip().is_unspecified() && is_ours(address.ip())
}

fn explain(why: &io::Error) -> Reply {
    match why.kind() {
        io::ErrorKind::ConnectionRefused => Reply::Refused,
        io::ErrorKind::PermissionDenied => Reply::NotAllowed,
        io::ErrorKind::NetworkUnreachable => Reply::NetworkUnreachable,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NotFound => Reply::HostUnreachable,
        io::ErrorKind::TimedOut => Reply::Expired,
        _ => Reply::Failure,
    }
}

/// The interval at which a requested stop is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);
