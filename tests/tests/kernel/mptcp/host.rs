//! A host whose Multipath TCP is the engine: one connection with its application, in real time.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;

use trackbed_emulator::Resident;
use trackbed_tcp::multipath::{
    Key, MultipathConnection, MultipathStats, PathInfo, join_token, refuse_join,
};
use trackbed_tcp::reset_reply;

use crate::app::{App, Failure, Stream};
use crate::engine::{Ended, socket};
use crate::*;

/// What the engine's host does besides.
#[derive(Clone, Debug)]
pub enum Deed {
    /// It asks for the path with this number, in order, to be a backup, or to be none.
    Backup(usize, bool),
    LoseAddress(IpAddr),
    GainAddress(trackbed_tcp::multipath::Endpoint),
}

/// The host. It opens or accepts one connection.
#[derive(Debug)]
pub struct Host {
    config: MultipathConfig,
    numbers: Rng,
    /// The ends of the first subflow, which it opens at the start.
    pub dial: Option<(SocketAddr, SocketAddr)>,
    pub port: Option<u16>,
    next_port: u16,
    connection: Option<MultipathConnection>,
    app: App,
    pub deeds: Vec<(Duration, Deed)>,
    outgoing: VecDeque<Packet>,
    ends: Sender<Ended<Counts>>,
    reported: bool,
    /// The paths as they were when the application was done.
    paths: Vec<PathInfo>,
}

#[derive(Clone, Debug)]
pub struct Counts {
    pub multipath: MultipathStats,
    pub timeouts: u64,
    /// Just before the application was done; printed when a case fails.
    #[expect(dead_code, reason = "printed")]
    pub paths: Vec<PathInfo>,
}

impl Host {
    /// A host that reports the result of its connection on `ends`, when the application is done and
    /// everything is acknowledged, or when the host ends.
    pub fn new(
        config: MultipathConfig,
        numbers: Rng,
        app: App,
        ends: Sender<Ended<Counts>>,
    ) -> Host {
        Host {
            config,
            numbers,
            dial: None,
            port: None,
            next_port: 40_001,
            connection: None,
            app,
            deeds: Vec::new(),
            outgoing: VecDeque::new(),
            ends,
            reported: false,
            paths: Vec::new(),
        }
    }

    fn number(&mut self) -> u32 {
        self.numbers.next_u64() as u32
    }

    fn take(&mut self, now: Time, segment: Segment) {
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        let joins = join_token(&segment).is_some();
        let (isn, nonce, key) = (self.number(), self.number(), Key(self.numbers.next_u64()));
        let Some(connection) = &mut self.connection else {
            if opens && !joins && self.port == Some(segment.destination.port()) {
                let config = &self.config;
                self.connection =
                    Some(MultipathConnection::accept(now, config, &segment, key, isn));
            } else {
                self.outgoing.extend(reset_reply(&segment));
            }
            return;
        };
        let ends = (segment.destination, segment.source);
        if connection.paths().any(|path| (path.local, path.remote) == ends) {
            connection.handle_segment(now, segment);
        } else if opens && joins {
            if connection.accept_join(now, &segment, isn, nonce).is_err() {
                self.outgoing.push_back(refuse_join(&segment));
            }
        } else {
            self.outgoing.extend(reset_reply(&segment));
        }
    }

    fn act(&mut self, now: Time) {
        let Some(connection) = &mut self.connection else { return };
        while let Some((at, deed)) = self.deeds.first().cloned()
            && Time::ZERO + at <= now
        {
            self.deeds.remove(0);
            match deed {
                Deed::Backup(index, backup) => {
                    let id = connection.paths().nth(index).map(|path| path.id);
                    id.map(|id| connection.set_backup(now, id, backup));
                }
                Deed::LoseAddress(address) => connection.remove_address(now, address),
                Deed::GainAddress(endpoint) => connection.add_address(now, endpoint),
            }
        }
    }

    fn work(&mut self, now: Time) {
        let Some(connection) = &mut self.connection else { return };
        while let Some(request) = connection.poll_join() {
            let (isn, nonce) = (self.numbers.next_u64() as u32, self.numbers.next_u64() as u32);
            connection.join(now, &request, self.next_port, isn, nonce);
            self.next_port += 1;
        }
        self.step(now);
        if let Some(connection) = self.connection.as_ref().filter(|_| !self.app.is_done()) {
            self.paths = connection.paths().collect();
        }
        self.settle(false);
    }

    fn stats(&self, connection: &MultipathConnection) -> Counts {
        Counts {
            multipath: connection.multipath_stats(),
            timeouts: connection.stats().timeouts,
            paths: self.paths.clone(),
        }
    }
}

impl Resident for Host {
    fn receive(&mut self, now: Time, packet: Packet) {
        if let Ok(segment) = Segment::parse(&packet) {
            self.take(now, segment);
            self.work(now);
        }
    }

    fn advance(&mut self, now: Time) {
        if let Some(ends) = self.dial.take() {
            let (key, isn) = (Key(self.numbers.next_u64()), self.number());
            self.connection = Some(MultipathConnection::connect(now, &self.config, ends, key, isn));
        }
        self.act(now);
        if let Some(connection) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
        }
        self.work(now);
    }

    fn poll_transmit(&mut self) -> Option<Packet> {
        self.outgoing.pop_front()
    }

    fn next_wake(&self) -> Option<Time> {
        let Some(connection) = &self.connection else { return self.dial.map(|_| Time::ZERO) };
        let deed = self.deeds.first().map(|(at, _)| Time::ZERO + *at);
        let timers = [connection.poll_timeout(), self.app.next_wake(), deed];
        timers.into_iter().flatten().min()
    }
}

socket!(MultipathConnection);
