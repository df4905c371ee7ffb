//! A broker without sockets: it takes connections, bytes and the time, and returns what to send.

mod arriving;
mod connection;
mod limits;
mod opening;
mod routing;
mod session;
mod subscribing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use trackbed_core::Time;

use crate::packet::Message;
use crate::reason::Reason;
use crate::tree::{Filters, Retained, SessionId};
pub use connection::ConnectionId;
use connection::{Connection, Link, Stage};
pub use limits::Limits;
use session::Session;

/// A broker.
///
/// The transport calls [`open`](Broker::open), [`receive`](Broker::receive) and
/// [`close`](Broker::close). After each call, and after [`handle_timeout`](Broker::handle_timeout),
/// there may be bytes for any connection ([`next_ready`](Broker::next_ready),
/// [`take_output`](Broker::take_output)), messages for the service
/// ([`next_arrived`](Broker::next_arrived)), and another [`next_timeout`](Broker::next_timeout).
#[derive(Debug, Default)]
pub struct Broker {
    limits: Limits,
    connections: BTreeMap<ConnectionId, Connection>,
    next_connection: u64,
    sessions: BTreeMap<SessionId, Session>,
    clients: BTreeMap<Arc<str>, SessionId>,
    next_session: SessionId,
    assigned: u64,
    filters: Filters,
    retained: Retained,
    timers: BTreeSet<(Time, Timer)>,
    ready: VecDeque<ConnectionId>,
    service: Option<String>,
    arrived: VecDeque<Arrived>,
    counters: Counters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Connection(ConnectionId),
    Session(SessionId),
}

/// A message for the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The connection on which it came.
    pub connection: ConnectionId,
    /// The client that published it.
    pub client: Arc<str>,
    /// The message.
    pub message: Message,
}

/// Whether a connection stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It stays open.
    Open,
    /// It must be closed after these bytes.
    Closing,
}

/// Counters of a broker's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that clients published.
    pub published: u64,
    /// Messages passed to sessions: sent, or queued.
    pub delivered: u64,
    /// Messages of QoS 0 that a session did not get because it was away or too slow.
    pub dropped_qos0: u64,
    /// Messages of QoS 1 and 2 that a session did not get because its queue was full, or because
    /// they were too long for the client.
    pub dropped: u64,
    /// Connections that were refused or ended because of what the client did.
    pub faults: u64,
}

/// What a connection may always have on its way.
const FEW_BYTES: usize = 16 << 10;

impl Broker {
    /// A broker without sessions.
    pub fn new(limits: Limits) -> Broker {
        Broker { limits, ..Broker::default() }
    }

    /// The same, with a service that gets every message that clients publish under the topic
    /// `prefix` or below it, besides those that have subscribed to it.
    pub fn with_service(mut self, prefix: impl Into<String>) -> Broker {
        self.service = Some(prefix.into());
        self
    }

    /// Opens a connection; `None` if there are too many, and it must be closed.
    pub fn open(&mut self, now: Time) -> Option<ConnectionId> {
        if self.connections.len() >= self.limits.connections {
            self.counters.faults += 1;
            return None;
        }
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        self.connections.insert(id, Connection::new(now, &self.limits));
        self.arm_connection(id);
        Some(id)
    }

    /// Reports that the connection is gone, for any reason.
    pub fn close(&mut self, id: ConnectionId, now: Time) {
        self.end(id, None, now);
        if let Some(connection) = self.connections.remove(&id)
            && let Some(timer) = connection.timer
        {
            self.timers.remove(&(timer, Timer::Connection(id)));
        }
    }

    /// Reports that reading from the client is paused, so that its silence means nothing, or
    /// resumed.
    pub fn hold(&mut self, id: ConnectionId, is_held: bool, now: Time) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.is_held = is_held;
            connection.heard = now;
            connection.packet_began = connection.packet_began.map(|_| now);
            self.arm_connection(id);
        }
    }

    /// A connection that has bytes to send, or must be closed. Each is returned once until its
    /// [output](Broker::take_output) is taken.
    pub fn next_ready(&mut self) -> Option<ConnectionId> {
        self.ready.pop_front()
    }

    /// Appends the bytes to send to `into`, which should be empty: what was taken before is sent.
    pub fn take_output(&mut self, id: ConnectionId, now: Time, into: &mut Vec<u8>) -> Flow {
        let Some(connection) = self.connections.get_mut(&id) else { return Flow::Closing };
        connection.is_ready = false;
        let output = &mut connection.link.output;
        connection.link.taken = output.len();
        match into.is_empty() {
            true => std::mem::swap(output, into),
            false => into.append(output),
        }
        match connection.stage {
            Stage::Closing => return Flow::Closing,
            Stage::Connected(session) => self.pump(session, now),
            Stage::Opened => {}
        }
        Flow::Open
    }

    /// The next message for the service.
    pub fn next_arrived(&mut self) -> Option<Arrived> {
        self.arrived.pop_front()
    }

    /// Whether a message for this connection's client would go out at once; `None` if it is gone.
    pub fn has_room(&self, id: ConnectionId) -> Option<bool> {
        let connection = self.connections.get(&id)?;
        let Stage::Connected(session) = connection.stage else { return None };
        let own = self.sessions.get(&session)?;
        let link = &connection.link;
        Some(self.has_memory(own, Some(link)) && own.has_room(link, &self.limits))
    }

    /// Whether all messages on their way leave memory for another one of this session, which may always have a few.
    fn has_memory(&self, own: &Session, link: Option<&Link>) -> bool {
        let few = own.weight() + link.map_or(0, |link| link.output.len() + link.taken) < FEW_BYTES;
        few || self.limits.waiting_bytes == usize::MAX || {
            let links = self.connections.values().map(|other| &other.link);
            let outputs = links.map(|link| link.output.capacity() + link.taken);
            let waiting = self.sessions.values().map(Session::weight).chain(outputs).sum::<usize>();
            waiting < self.limits.waiting_bytes
        }
    }

    /// When to call [`Broker::handle_timeout`]; any other call may change it.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Handles timeouts: ends silent or slow connections and expired sessions, and publishes wills.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&(due, timer)) = self.timers.first().filter(|(due, _)| *due <= now) {
            self.timers.remove(&(due, timer));
            match timer {
                Timer::Connection(id) => self.connection_timeout(id, now),
                Timer::Session(id) => self.session_timeout(id, now),
            }
        }
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// The number of retained messages.
    pub fn retained(&self) -> usize {
        self.retained.count()
    }

    fn connection_timeout(&mut self, id: ConnectionId, now: Time) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.timer = None;
        if connection.due(&self.limits).is_some_and(|due| due <= now) {
            if connection.stage == Stage::Closing {
                // It was to close, and did not.
                connection.link.output.clear();
            }
            self.counters.faults += 1;
            self.end(id, Some(Reason::KEEP_ALIVE_TIMEOUT), now);
        } else {
            self.arm_connection(id);
        }
    }

    fn session_timeout(&mut self, id: SessionId, now: Time) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.timer = None;
        let is_over = session.ends.is_some_and(|ends| ends <= now);
        if is_over || session.will_due.is_some_and(|due| due <= now) {
            session.will_due = None;
            let will = session.will.take();
            if is_over {
                self.forget(id);
            }
            if let Some(will) = will {
                self.publish(will.message, now);
            }
        }
        self.arm_session(id);
    }

    /// Ends a connection from this side. A client of version 5 is told the reason, if there is one.
    /// Its session continues without it, or ends with it.
    fn end(&mut self, id: ConnectionId, reason: Option<Reason>, now: Time) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let stage = std::mem::replace(&mut connection.stage, Stage::Closing);
        connection.heard = now;
        if let Stage::Connected(session) = stage {
            if let Some(reason) = reason
                && connection.link.version == crate::Version::V5
            {
                let packet =
                    crate::packet::Packet::Disconnect { reason, session_expiry_secs: None };
                connection.link.answer(&packet);
            }
            self.detach(session, now);
        }
        self.arm_connection(id);
        self.mark_ready(id);
    }

    fn mark_ready(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !connection.is_ready
        {
            connection.is_ready = true;
            self.ready.push_back(id);
        }
    }

    /// Sets the timer of a connection, unless it already fires earlier.
    fn arm_connection(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let due = connection.due(&self.limits);
        let rings_before = |due| connection.timer.is_some_and(|timer| timer <= due);
        if due.is_some_and(|due| !rings_before(due)) {
            if let Some(timer) = connection.timer {
                self.timers.remove(&(timer, Timer::Connection(id)));
            }
            connection.timer = due;
            self.timers.extend(due.map(|due| (due, Timer::Connection(id))));
        }
    }

    fn arm_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let due = session.due();
        if due != session.timer {
            if let Some(timer) = session.timer {
                self.timers.remove(&(timer, Timer::Session(id)));
            }
            session.timer = due;
            self.timers.extend(due.map(|due| (due, Timer::Session(id))));
        }
    }

    /// Sends a session's queued messages.
    fn pump(&mut self, id: SessionId, now: Time) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(at) = session.connection else { return };
        let Some(connection) = self.connections.get_mut(&at) else { return };
        let before = connection.link.output.len();
        self.counters.dropped += session.pump(&mut connection.link, now, &self.limits);
        if connection.link.output.len() > before {
            self.mark_ready(at);
        }
    }
}
