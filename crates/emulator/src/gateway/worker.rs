//! The gateway's thread: it waits for the gate and for its sockets, and handles them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use trackbed_linux::allow_descriptors;

use super::addresses::{Addresses, DOORS_MAX};
use super::connections::Connections;
use super::datagrams::Datagrams;
use super::echoes::Echoes;
use super::gate::{Door, Knock};
use super::names::NameServers;
use super::site::{Site, Source};
use super::workshop::Workshop;

use crate::clock::Clock;
use crate::remote::Remote;

#[derive(Debug)]
pub(crate) struct Worker {
    site: Site,
    knocks: Receiver<Knock>,
    bell: Arc<OwnedFd>,
    connections: Connections,
    datagrams: Datagrams,
    echoes: Echoes,
}

impl Worker {
    pub(super) fn new(
        workshop: Workshop,
        addresses: Addresses,
        clock: Clock,
        bell: Arc<OwnedFd>,
        knocks: Receiver<Knock>,
    ) -> io::Result<Worker> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let names = NameServers::new();
        // Known once the command has started.
        let room = 0;
        let site = Site { epoll, workshop, addresses, names, clock, room, orders: Vec::new() };
        site.watch(&*bell, Source::Bell, epoll::EventFlags::IN)?;
        let (connections, datagrams) = (Connections::default(), Datagrams::default());
        let echoes = Echoes::default();
        Ok(Worker { site, knocks, bell, connections, datagrams, echoes })
    }

    /// Forwards connections, or datagrams, to the outer one of `ends` to the inner one, over the link.
    pub(crate) fn publish(&mut self, ends: [SocketAddr; 2], is_udp: bool) -> io::Result<()> {
        match is_udp {
            true => self.datagrams.publish(&self.site, ends),
            false => self.connections.publish(&self.site, ends),
        }
    }

    /// Runs on a separate thread until the gate is gone; the decisions reach the gate through
    /// `remote`.
    pub(crate) fn start(self, remote: Remote) -> io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name("gateway".to_owned()).spawn(move || self.run(&remote))
    }

    fn run(mut self, remote: &Remote) {
        let mut events = Vec::with_capacity(EVENTS);
        let mut ticked = self.site.now();
        let mut is_fresh = true;
        loop {
            let timeout = match self.connections.is_busy() {
                true => Timespec { tv_sec: 0, tv_nsec: 0 },
                false => TICK,
            };
            events.clear();
            match epoll::wait(&self.site.epoll, spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                // Only an invalid descriptor could be the reason.
                Err(why) => unreachable!("epoll_wait(2): {why}"),
            }
            for event in &events {
                let source = Source::from_mark(event.data.u64());
                if std::mem::take(&mut is_fresh) {
                    self.site.room = make_room();
                }
                if !self.attend(source, event.flags) {
                    return self.leave();
                }
            }
            self.connections.go_on(&mut self.site);
            let now = self.site.now();
            if now.since(ticked) >= TICK_TIME {
                ticked = now;
                self.connections.tick(&mut self.site);
                self.datagrams.tick(&mut self.site);
                self.echoes.tick(&self.site);
            }
            self.site.orders.drain(..).for_each(|order| remote.order(order));
        }
    }

    /// Forwards data of the command, which has ended.
    fn leave(mut self) {
        self.datagrams.leave(&mut self.site);
        let begun = self.site.now();
        while !self.connections.leave(&mut self.site) && self.site.now().since(begun) < PATIENCE {
            // An early wake-up by one of the sockets only causes another check.
            let mut events = Vec::with_capacity(EVENTS);
            let _ = epoll::wait(&self.site.epoll, spare_capacity(&mut events), Some(&MOMENT));
        }
    }

    /// Handles a ready source; false if the gate is gone.
    fn attend(&mut self, source: Source, flags: epoll::EventFlags) -> bool {
        let site = &mut self.site;
        match source {
            Source::Bell => return self.answer_knocks(),
            Source::Published(index) => self.connections.enter(site, index),
            Source::Listener(index) => self.connections.accept(site, index),
            Source::Connection(index, side) => self.connections.attend(site, index, side, flags),
            Source::Datagrams(index, side) => self.datagrams.attend(site, index, side),
            Source::Echoes(index) => self.echoes.attend(site, index),
        }
        true
    }

    /// False if the gate is gone.
    fn answer_knocks(&mut self) -> bool {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
        loop {
            match self.knocks.try_recv() {
                Ok(Knock::At(Door::Connection { from, to }, syn)) => {
                    self.connections.dial(&mut self.site, from, to, syn);
                }
                Ok(Knock::At(Door::Datagrams { to }, _)) => {
                    self.datagrams.open(&mut self.site, to);
                }
                Ok(Knock::Echo(request)) => self.echoes.ask(&mut self.site, &request),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }
}

/// Raises the limit of descriptors to its maximum, and returns the resulting number of connections,
/// flows and destinations. Called at the first packet or connection: the command was started before, and keeps
/// its own limit.
fn make_room() -> usize {
    let room = allow_descriptors().saturating_sub(DESCRIPTORS_OTHER) / DESCRIPTORS_EACH;
    usize::try_from(room).unwrap_or(usize::MAX).min(DOORS_MAX)
}

/// Other open descriptors of this process.
const DESCRIPTORS_OTHER: u64 = 64;
/// A connection has two, and shares a listener while it begins. Without a descriptor, TCP tries again.
const DESCRIPTORS_EACH: u64 = 2;

/// The interval for finding flows that are over.
const TICK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
const TICK_TIME: Duration = Duration::from_secs(1);
const EVENTS: usize = 256;

/// How long the outside may take to receive the command's remaining data.
const PATIENCE: Duration = Duration::from_secs(2);
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
