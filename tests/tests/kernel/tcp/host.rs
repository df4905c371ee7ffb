//! A host whose TCP is the engine: connections with their applications, in real time.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use trackbed_core::packet::TooBig;
use trackbed_core::{Packet, Rng, Time};
use trackbed_emulator::Resident;
use trackbed_tcp::{Config, Connection, Flags, QuotedSegment, Segment, State, Stats, reset_reply};

use crate::app::{App, Failure, Stream};
use crate::engine::{Ended, socket};

/// The host. It accepts one connection for each application that listens.
#[derive(Debug)]
pub struct Host {
    config: Config,
    /// What the engine's clock shows at the start of the emulation.
    clock_offset: Duration,
    numbers: Rng,
    dials: Vec<Dial>,
    listeners: BTreeMap<u16, App>,
    /// By local and remote address.
    connections: BTreeMap<(SocketAddr, SocketAddr), Client>,
    outgoing: VecDeque<Packet>,
    ends: Sender<Ended<Stats>>,
}

/// A connection to be opened.
#[derive(Debug)]
pub struct Dial {
    pub at: Time,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub app: App,
}

#[derive(Debug)]
struct Client {
    connection: Connection,
    app: App,
    reported: bool,
}

impl Host {
    /// A host that reports the results of its connections on `ends`: when the application is done
    /// and everything is acknowledged, or when the host ends.
    pub fn new(
        config: Config,
        clock_offset: Duration,
        numbers: Rng,
        ends: Sender<Ended<Stats>>,
    ) -> Host {
        Host {
            config,
            clock_offset,
            numbers,
            dials: Vec::new(),
            listeners: BTreeMap::new(),
            connections: BTreeMap::new(),
            outgoing: VecDeque::new(),
            ends,
        }
    }

    /// Opens a connection when its time has come.
    pub fn dial(&mut self, dial: Dial) {
        self.dials.push(dial);
    }

    /// Lets `app` serve the first connection to `port`.
    pub fn listen(&mut self, port: u16, app: App) {
        self.listeners.insert(port, app);
    }

    fn engine_time(&self, now: Time) -> Time {
        now + self.clock_offset
    }

    fn isn(&mut self) -> u32 {
        // Close to the wrap in one case of four.
        let number = self.numbers.next_u64();
        match number % 4 {
            0 => u32::MAX - (number >> 32) as u32 % 65_536,
            _ => (number >> 32) as u32,
        }
    }

    fn take_segment(&mut self, now: Time, segment: Segment) {
        let key = (segment.destination, segment.source);
        let time = self.engine_time(now);
        let open = |client: &&mut Client| !client.connection.is_closed();
        if let Some(client) = self.connections.get_mut(&key).filter(open) {
            client.connection.handle_segment(time, segment);
            client.work(time, &mut self.outgoing, &self.ends);
            return;
        }
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        match self.listeners.remove(&segment.destination.port()) {
            Some(app) if opens => {
                let isn = self.isn();
                let connection = Connection::accept(time, &self.config, &segment, isn);
                self.begin(time, key, connection, app);
            }
            other => {
                self.listeners.extend(other.map(|app| (segment.destination.port(), app)));
                self.outgoing.extend(reset_reply(&segment));
            }
        }
    }

    fn begin(
        &mut self,
        time: Time,
        key: (SocketAddr, SocketAddr),
        connection: Connection,
        app: App,
    ) {
        let mut client = Client { connection, app, reported: false };
        client.work(time, &mut self.outgoing, &self.ends);
        self.connections.insert(key, client);
    }
}

impl Resident for Host {
    fn receive(&mut self, now: Time, packet: Packet) {
        if let Ok(segment) = Segment::parse(&packet) {
            self.take_segment(now, segment);
        } else if let Ok(message) = TooBig::parse(&packet)
            && let Some(quoted) = QuotedSegment::parse(&message)
        {
            let time = self.engine_time(now);
            if let Some(client) = self.connections.get_mut(&(quoted.source, quoted.destination)) {
                client.connection.handle_too_big(time, message.mtu, quoted.sequence);
                client.work(time, &mut self.outgoing, &self.ends);
            }
        }
    }

    fn advance(&mut self, now: Time) {
        let time = self.engine_time(now);
        let due = self.dials.extract_if(.., |dial| dial.at <= now).collect::<Vec<_>>();
        for Dial { local, remote, app, .. } in due {
            let isn = self.isn();
            let connection = Connection::connect(time, &self.config, local, remote, isn);
            self.begin(time, (local, remote), connection, app);
        }
        for client in self.connections.values_mut() {
            if client.connection.poll_timeout().is_some_and(|at| at <= time) {
                client.connection.handle_timeout(time);
            }
            client.work(time, &mut self.outgoing, &self.ends);
        }
    }

    fn poll_transmit(&mut self) -> Option<Packet> {
        self.outgoing.pop_front()
    }

    fn next_wake(&self) -> Option<Time> {
        let clients = self.connections.values().filter_map(Client::next_wake);
        let clients = clients.map(|at| Time::ZERO + (at - (Time::ZERO + self.clock_offset)));
        clients.chain(self.dials.iter().map(|dial| dial.at)).min()
    }
}

/// Unfinished connections are reported too.
impl Drop for Host {
    fn drop(&mut self) {
        for client in self.connections.values_mut() {
            client.app.fail(Time::ZERO, Failure::Stalled);
            client.report(&self.ends);
        }
    }
}

impl Client {
    /// Drains the connection and runs the application.
    fn work(&mut self, time: Time, outgoing: &mut VecDeque<Packet>, ends: &Sender<Ended<Stats>>) {
        let Client { connection, app, .. } = self;
        let mut socket = Socket { connection, now: time, outgoing };
        socket.drain();
        if socket.connection.is_established() || app.report.opened_at.is_some() {
            app.step(time, &mut socket);
        } else if let Some(error) = socket.connection.error() {
            app.fail(time, error.into());
        }
        let quiet = matches!(self.connection.state(), State::TimeWait | State::Closed);
        if self.app.is_done() && quiet {
            self.report(ends);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        let timers = self.connection.poll_timeout();
        timers.into_iter().chain(self.app.next_wake()).min()
    }

    fn report(&mut self, ends: &Sender<Ended<Stats>>) {
        if !std::mem::replace(&mut self.reported, true) {
            // The listener is closed once a case is given up.
            let _ = ends.send(Ended {
                report: self.app.report.clone(),
                state: self.connection.state(),
                error: self.connection.error(),
                stats: self.connection.stats(),
            });
        }
    }
}

socket!(Connection);
