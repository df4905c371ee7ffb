//! Congestion windows of TCP connections, as their ends report them each time bytes move.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trackbed_core::Time;
use trackbed_protocols::{Side, TcpTrace};
use trackbed_substrate::{TcpInfo, TcpStream, now};

/// Those of the first connection of each side. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows(Arc<Mutex<BTreeMap<Side, Connection>>>);

/// A TCP connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// When it was established.
    pub began: Time,
    /// Its paths, in order of appearance; one, unless it is Multipath TCP.
    pub paths: Vec<Path>,
}

/// A path of a connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Path {
    /// Its addresses; empty for the whole connection.
    ends: String,
    /// What changed, oldest first.
    pub windows: Vec<Window>,
}

/// What congestion control knows about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Window {
    pub at: Time,
    /// Bytes allowed in flight.
    pub bytes: u64,
    /// The smoothed round-trip time; `None` before the first sample.
    pub rtt: Option<Duration>,
}

impl Windows {
    /// The observer of a side's new connection, if it is the first one.
    pub fn trace(&self, side: Side) -> Option<TcpTrace> {
        let mut connections = self.lock();
        if connections.contains_key(&side) {
            return None;
        }
        connections.insert(side, Connection { began: now(), paths: Vec::new() });
        let all = self.clone();
        Some(Box::new(move |at, stream| {
            if let Some(connection) = all.lock().get_mut(&side) {
                connection.note(at, stream);
            }
        }))
    }

    /// Adds what another process noted, if no connection of that side began earlier.
    pub fn add(&self, side: Side, connection: Connection) {
        let mut connections = self.lock();
        if connections.get(&side).is_none_or(|first| connection.began < first.began) {
            connections.insert(side, connection);
        }
    }

    /// What was noted until now.
    pub fn take(&self) -> BTreeMap<Side, Connection> {
        std::mem::take(&mut *self.lock())
    }

    /// Records are written in one step, so a panic elsewhere leaves nothing inconsistent.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Side, Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn note(&mut self, at: Time, stream: &dyn TcpStream) {
        let paths = stream.paths();
        if paths.is_empty() {
            self.path(String::new()).note(at, &stream.info());
        }
        for path in paths {
            self.path(format!("{} {}", path.local, path.remote)).note(at, &path.info);
        }
    }

    fn path(&mut self, ends: String) -> &mut Path {
        let index = self.paths.iter().position(|path| path.ends == ends).unwrap_or_else(|| {
            self.paths.push(Path { ends, windows: Vec::new() });
            self.paths.len() - 1
        });
        &mut self.paths[index]
    }
}

impl Path {
    fn note(&mut self, at: Time, info: &TcpInfo) {
        let new = Window { at, bytes: info.congestion_window, rtt: info.smoothed_rtt };
        let is_news = |last: &Window| (last.bytes, last.rtt) != (new.bytes, new.rtt);
        if self.windows.last().is_none_or(is_news) {
            self.windows.push(new);
        }
    }
}
