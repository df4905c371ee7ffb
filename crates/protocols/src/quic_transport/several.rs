//! Connections over several paths (draft-ietf-quic-multipath): opening and control.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use noq::{
    Connection, FourTuple, Path, PathError, PathEvent, PathId, PathStatus, TransportConfig,
    WeakConnectionHandle,
};
use trackbed_connection::{Error, Result};
use trackbed_substrate::{Multipath, PathWish, TcpInfo, TcpPath, sleep, spawn};

use super::scheduling::{Blocked, QuicScheduler, Scheduling, quic_schedulers};
use crate::config::TransportParameters;
use crate::path_control::{PathControl, Steered};

/// How the connections of one end use several paths.
#[derive(Clone)]
pub(crate) struct Several {
    scheduler: &'static QuicScheduler,
    /// The host's addresses besides the one that connections begin at.
    addresses: Vec<IpAddr>,
    heeds_blocks: bool,
    rejoin: Option<Duration>,
    control: PathControl,
}

impl Several {
    /// The path settings of `transport`; default: the first scheduler.
    pub(crate) fn new(
        protocol: &'static str,
        transport: &TransportParameters,
        control: &PathControl,
    ) -> Result<Several> {
        let unsupported = |advice: &str| Err(Error::unsupported(protocol, advice));
        let paths = transport.tcp.multipath.clone().unwrap_or_default();
        let Multipath { addresses, scheduler, proactive, rejoin, .. } = paths;
        let known = quic_schedulers().iter().find(|entry| entry.name == scheduler);
        let Some(scheduler) = known else {
            let names: Vec<_> = quic_schedulers().iter().map(|entry| entry.name).collect();
            let names = names.join(", ");
            return unsupported(&format!("unknown scheduler `{scheduler}`: use {names}"));
        };
        if paths.reactive || paths.opportunistic || paths.checksum {
            return unsupported(
                "reactive scheduling, opportunistic retransmission and checksums exist only in \
                 MPTCP: remove those keys",
            );
        }
        let control = control.clone();
        Ok(Several { scheduler, addresses, heeds_blocks: proactive, rejoin, control })
    }

    /// Whether connections open further paths.
    pub(super) fn opens_paths(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// The settings of a connection whose scheduler leaves out what is `blocked`.
    pub(super) fn set(&self, transport: &mut TransportConfig, blocked: &Blocked) {
        let scheduling = Scheduling { scheduler: self.scheduler, blocked: blocked.clone() };
        transport
            .max_concurrent_multipath_paths(PATHS_MAX)
            .path_scheduler_factory(Some(Arc::new(scheduling)));
    }

    /// Registers a connection with path control, until the returned value is dropped.
    pub(super) fn enter(&self, connection: &Connection, blocked: Blocked) -> Rc<Paths> {
        let blocked = self.heeds_blocks.then_some(blocked);
        let connection = connection.weak_handle();
        let paths = Rc::new(Paths { connection, blocked, highest: Cell::default() });
        let steered: Weak<Paths> = Rc::downgrade(&paths);
        self.control.enter(steered);
        paths
    }

    /// Opens the further paths of a client's connection to `remote`, and keeps them open.
    pub(super) fn open(&self, connection: &Connection, remote: SocketAddr) {
        if self.opens_paths() {
            let opener = Opener {
                connection: connection.weak_handle(),
                remote,
                rejoin: self.rejoin,
                open: BTreeMap::new(),
            };
            spawn(opener.run(self.addresses.clone())).detach();
        }
    }
}

/// A connection's paths, for path control.
pub(crate) struct Paths {
    connection: WeakConnectionHandle,
    blocked: Option<Blocked>,
    /// The highest identifier of a path that was seen. The engine counts them up.
    highest: Cell<u32>,
}

impl Paths {
    fn all(&self) -> Vec<Path> {
        let Some(connection) = self.connection.upgrade() else { return Vec::new() };
        let ids = 0..=self.highest.get() + PATHS_MAX;
        let open = ids.filter_map(|id| Some((id, connection.path(id.into())?)));
        let open: Vec<_> = open.collect();
        let highest = open.iter().map(|(id, _)| *id).max().unwrap_or_default();
        self.highest.set(highest.max(self.highest.get()));
        open.into_iter().map(|(_, path)| path).collect()
    }
}

impl Steered for Paths {
    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        let touches = |path: &Path| {
            path.network_path().is_ok_and(|addresses| {
                addresses.remote().ip() == end || addresses.local_ip() == Some(end)
            })
        };
        let paths: Vec<Path> = self.all().into_iter().filter(touches).collect();
        if let (PathWish::Blocked(is_blocked), Some(blocked)) = (wish, &self.blocked) {
            blocked.set(end, is_blocked);
        }
        for path in &paths {
            // Both fail only for a path that is closing, which needs no request.
            let _gone = match wish {
                PathWish::Backup(true) => path.set_status(PathStatus::Backup).is_err(),
                PathWish::Backup(false) => path.set_status(PathStatus::Available).is_err(),
                // It changes nothing, but makes the engine call its scheduler again.
                PathWish::Blocked(_) => path.set_max_idle_timeout(None).is_err(),
            };
        }
        !paths.is_empty()
    }

    fn paths(&self) -> Vec<TcpPath> {
        let tell = |path: &Path| {
            let addresses = path.network_path().ok()?;
            let stats = path.stats();
            let mut info = TcpInfo::default();
            info.segments_sent = stats.sent_packets;
            info.segments_retransmitted = stats.lost_packets;
            info.segments_received = stats.udp_rx.datagrams;
            info.bytes_sent = stats.udp_tx.bytes;
            info.bytes_received = stats.udp_rx.bytes;
            info.smoothed_rtt = Some(stats.rtt);
            info.congestion_window = stats.cwnd;
            Some(TcpPath {
                // The engine does not know its own port.
                local: SocketAddr::new(addresses.local_ip()?, 0),
                remote: addresses.remote(),
                usable: true,
                backup: path.status() == Ok(PathStatus::Backup),
                info,
            })
        };
        self.all().iter().filter_map(tell).collect()
    }
}

/// Opens a path from each further address of a client.
struct Opener {
    connection: WeakConnectionHandle,
    remote: SocketAddr,
    rejoin: Option<Duration>,
    open: BTreeMap<PathId, IpAddr>,
}

impl Opener {
    async fn run(mut self, mut wanted: Vec<IpAddr>) {
        // It holds no handle while it waits: that would keep an unused connection open.
        loop {
            let Some(connection) = self.connection.upgrade() else { return };
            match connection.handshake_confirmed().now_or_never() {
                Some(Ok(())) => break,
                Some(Err(_)) => return,
                None => drop(connection),
            }
            sleep(PERIOD).await;
        }
        let Some(mut events) = self.connection.upgrade().map(|open| open.path_events()) else {
            return;
        };
        loop {
            while !wanted.is_empty() {
                if self.try_all(&mut wanted).is_err() {
                    return;
                }
                if !wanted.is_empty() {
                    sleep(PERIOD).await;
                }
            }
            let Some(event) = events.next().await else { return };
            // Only the peer gives a path up: the engine repeats the challenge that opens one.
            let Ok(PathEvent::Abandoned { id, .. }) = event else { continue };
            let Some(address) = self.open.remove(&id) else { continue };
            if let Some(patience) = self.rejoin {
                sleep(patience).await;
                wanted.push(address);
            }
        }
    }

    /// Tries to open a path from each of the `wanted` addresses and leaves those that have to wait.
    ///
    /// # Errors
    /// If no further path is possible: the connection is gone, or the server does not use several.
    fn try_all(&mut self, wanted: &mut Vec<IpAddr>) -> Result<(), ()> {
        let connection = self.connection.upgrade().ok_or(())?;
        let mut waiting = Vec::new();
        for address in wanted.drain(..) {
            let path = FourTuple::new(self.remote, Some(address));
            let opening = connection.open_path(path, PathStatus::Available);
            match (opening.path_id(), opening.now_or_never()) {
                (Some(id), _) => drop(self.open.insert(id, address)),
                (None, Some(Err(PathError::MultipathNotNegotiated))) => return Err(()),
                // Connection identifiers for it are still to come.
                (None, _) => waiting.push(address),
            }
        }
        *wanted = waiting;
        Ok(())
    }
}

/// How many paths a connection may have at once. Each costs connection identifiers when it begins,
/// a packet's worth for all.
const PATHS_MAX: u32 = 4;

/// The interval of checks whether a path may be opened.
const PERIOD: Duration = Duration::from_millis(5);
