//! The path manager: opens subflows, announces addresses, and handles lost ones (named as in `ip
//! mptcp`).

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use trackbed_core::Time;

use super::config::{Endpoint, MultipathConfig};

/// A subflow that a connection wants to open, see
/// [`MultipathConnection::join`](super::MultipathConnection::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// The address to open it from; the port is the caller's choice.
    pub local: IpAddr,
    /// Where to open it to.
    pub remote: SocketAddr,
    /// Use it only if there is no other.
    pub backup: bool,
    pub(super) local_id: u8,
}

#[derive(Debug)]
pub(super) struct Manager {
    initiator: bool,
    local: SocketAddr,
    remote: SocketAddr,
    /// The host still has the first subflow's address.
    has_first: bool,
    endpoints: Vec<(u8, Endpoint)>,
    next_id: u8,
    remotes: Vec<(u8, SocketAddr)>,
    remotes_max: usize,
    rejoin: Option<Duration>,
    attempts: Vec<Attempt>,
    requests: VecDeque<JoinRequest>,
    announcements: Vec<Announcement>,
    running: bool,
}

/// A pair of addresses that has, or had, a subflow.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    local: IpAddr,
    remote: SocketAddr,
    /// A subflow exists, or was requested.
    open: bool,
    failures: u32,
    /// When it is tried again; `None` for never.
    retry_at: Option<Time>,
}

/// An address that the peer does not know of yet.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    id: u8,
    due: Time,
    tries: u32,
}

impl Manager {
    pub fn new(
        config: &MultipathConfig,
        initiator: bool,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Manager {
        let first = Attempt { local: local.ip(), remote, open: true, failures: 0, retry_at: None };
        let mut manager = Manager {
            initiator,
            local,
            remote,
            has_first: true,
            endpoints: Vec::new(),
            next_id: 1,
            remotes: Vec::new(),
            remotes_max: config.announcements_max,
            rejoin: config.rejoin,
            attempts: vec![first],
            requests: VecDeque::new(),
            announcements: Vec::new(),
            running: false,
        };
        config.endpoints.iter().for_each(|&endpoint| manager.add(endpoint));
        manager
    }

    /// The number of a local address: that of the first subflow is 0.
    pub fn id_of(&self, address: IpAddr) -> u8 {
        if address == self.local.ip() {
            return 0;
        }
        let found = self.endpoints.iter().find(|(_, endpoint)| endpoint.address == address);
        found.map_or(0, |(id, _)| *id)
    }

    /// True if subflows from `address` are backups.
    pub fn is_backup(&self, address: IpAddr) -> bool {
        self.endpoints.iter().any(|(_, endpoint)| endpoint.address == address && endpoint.backup)
    }

    /// Subflows may be opened, and addresses announced, from now on.
    pub fn start(&mut self, now: Time) {
        self.running = true;
        let signalled = self.endpoints.iter().filter(|(_, endpoint)| endpoint.signal);
        self.announcements.extend(signalled.map(|&(id, _)| Announcement {
            id,
            due: now,
            tries: 0,
        }));
    }

    pub fn stop(&mut self) {
        self.running = false;
        self.requests.clear();
    }

    /// The host has another address.
    pub fn add_address(&mut self, now: Time, endpoint: Endpoint) {
        self.remove_address(endpoint.address);
        self.add(endpoint);
        if let Some(&(id, _)) = self.endpoints.last()
            && endpoint.signal
            && self.running
        {
            self.announcements.push(Announcement { id, due: now, tries: 0 });
        }
    }

    /// The host lost an address. Returns its number.
    pub fn remove_address(&mut self, address: IpAddr) -> Option<u8> {
        self.has_first &= address != self.local.ip();
        self.attempts.retain(|attempt| attempt.local != address);
        self.requests.retain(|request| request.local != address);
        let known = self.endpoints.iter().position(|(_, endpoint)| endpoint.address == address);
        match known {
            Some(at) => {
                let (id, _) = self.endpoints.remove(at);
                self.announcements.retain(|announcement| announcement.id != id);
                Some(id)
            }
            None => (address == self.local.ip()).then_some(0),
        }
    }

    /// The peer announced an address.
    pub fn announced(&mut self, id: u8, address: SocketAddr) {
        match self.remotes.iter().position(|(known, _)| *known == id) {
            Some(at) => self.remotes[at].1 = address,
            None if self.remotes.len() < self.remotes_max && address != self.remote => {
                self.remotes.push((id, address));
            }
            None => {}
        }
    }

    /// The port that an announcement without one means.
    pub fn default_port(&self) -> u16 {
        self.remote.port()
    }

    /// The peer knows of our address.
    pub fn echoed(&mut self, id: u8) {
        self.announcements.retain(|announcement| announcement.id != id);
    }

    /// The peer lost an address.
    pub fn withdrawn(&mut self, id: u8) {
        let gone = self.remotes.iter().find(|(known, _)| *known == id).map(|(_, gone)| *gone);
        self.remotes.retain(|(known, _)| *known != id);
        if let Some(gone) = gone {
            self.attempts.retain(|attempt| attempt.remote != gone);
        }
    }

    /// A subflow is gone; `was_open` if it could carry data.
    pub fn lost(&mut self, now: Time, (local, remote): (IpAddr, SocketAddr), was_open: bool) {
        let is_it = |attempt: &&mut Attempt| attempt.local == local && attempt.remote == remote;
        let Some(attempt) = self.attempts.iter_mut().find(is_it) else { return };
        attempt.open = false;
        attempt.failures = if was_open { 0 } else { attempt.failures + 1 };
        let wait = |pause: Duration| pause * (1 << attempt.failures.min(6));
        attempt.retry_at = self.rejoin.map(|pause| now + wait(pause).min(MAX_PAUSE));
    }

    /// True if a subflow that was lost is opened again.
    pub fn opens_again(&self) -> bool {
        self.running && self.initiator && self.rejoin.is_some()
    }

    /// Requests the missing subflows, if there is room for `room` more.
    pub fn plan(&mut self, now: Time, mut room: usize) {
        if !self.running || !self.initiator {
            return;
        }
        for (local, remote) in self.pairs() {
            let is_it = |attempt: &&mut Attempt| attempt.local == local && attempt.remote == remote;
            let known = self.attempts.iter_mut().find(is_it);
            let due = known.as_ref().is_none_or(|attempt| {
                !attempt.open && attempt.retry_at.is_some_and(|at| at <= now)
            });
            if !due || room == 0 {
                continue;
            }
            room -= 1;
            match known {
                Some(attempt) => attempt.open = true,
                None => self.attempts.push(Attempt {
                    local,
                    remote,
                    open: true,
                    failures: 0,
                    retry_at: None,
                }),
            }
            let (backup, local_id) = (self.is_backup(local), self.id_of(local));
            self.requests.push_back(JoinRequest { local, remote, backup, local_id });
        }
    }

    pub fn next_request(&mut self) -> Option<JoinRequest> {
        self.requests.pop_front()
    }

    /// True if there is nothing to plan or announce, whatever time it is.
    pub fn is_idle(&self) -> bool {
        !self.running || (self.announcements.is_empty() && !self.initiator)
    }

    /// An announcement that is due: the number and the address.
    pub fn next_announcement(&mut self, now: Time) -> Option<(u8, IpAddr)> {
        if !self.running {
            return None;
        }
        self.announcements.retain(|announcement| announcement.tries < MAX_ANNOUNCEMENTS);
        let due = self.announcements.iter_mut().find(|announcement| announcement.due <= now)?;
        due.tries += 1;
        due.due = now + ANNOUNCEMENT_PAUSE * (1 << due.tries);
        let id = due.id;
        let (_, endpoint) = self.endpoints.iter().find(|(known, _)| *known == id)?;
        Some((id, endpoint.address))
    }

    pub fn next_wake(&self) -> Option<Time> {
        if !self.running {
            return None;
        }
        let retries = self.attempts.iter().filter(|attempt| !attempt.open && self.initiator);
        let retries = retries.filter_map(|attempt| attempt.retry_at);
        retries.chain(self.announcements.iter().map(|announcement| announcement.due)).min()
    }

    fn add(&mut self, endpoint: Endpoint) {
        let id = self.next_id;
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        self.endpoints.push((id, endpoint));
    }

    fn pairs(&self) -> Vec<(IpAddr, SocketAddr)> {
        let first = self.has_first.then_some(self.local.ip());
        let mut pairs: Vec<_> = first.map(|local| (local, self.remote)).into_iter().collect();
        let opening = || self.endpoints.iter().map(|(_, e)| e).filter(|e| e.subflow || e.fullmesh);
        for endpoint in opening() {
            pairs.push((endpoint.address, self.remote));
            if endpoint.fullmesh {
                pairs.extend(self.remotes.iter().map(|&(_, remote)| (endpoint.address, remote)));
            }
        }
        if !opening().any(|endpoint| endpoint.fullmesh) {
            for &(_, remote) in &self.remotes {
                // As Linux: from the first address that can reach it.
                let locals = first.into_iter().chain(opening().map(|e| e.address));
                let local = { locals }.find(|ip| ip.is_ipv4() == remote.is_ipv4());
                pairs.extend(local.map(|local| (local, remote)));
            }
        }
        pairs.retain(|(local, remote)| local.is_ipv4() == remote.is_ipv4());
        pairs
    }
}

/// The longest pause before a lost subflow is tried again.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The first pause before an announcement is repeated is twice this.
const ANNOUNCEMENT_PAUSE: Duration = Duration::from_millis(500);
const MAX_ANNOUNCEMENTS: u32 = 5;
