//! The interface of a workload.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Capabilities, Dialer, Handshake, Service};
use trackbed_core::{Arguments, EventLog, Parameter, Seed};
use trackbed_substrate::Host;

pub use crate::arguments::WorkloadError;
use crate::environment::Course;

/// Prepares a workload from its keys; files that they name are relative to the folder.
pub type Prepare = fn(&Arguments, &Path) -> Result<Box<dyn Prepared>, WorkloadError>;

/// A workload: an entry of [`registry`](crate::registry).
pub struct Workload {
    /// The name that scenarios use, for example `messages`.
    pub name: &'static str,
    /// One line for lists: the traffic.
    pub summary: &'static str,
    /// The parameters for scenarios.
    pub parameters: fn() -> &'static [Parameter],
    /// Whether it sends data over the lab's links; otherwise it needs no protocol.
    pub communicates: bool,
    /// Whether its clients follow the environment's reconnections and seeks.
    pub follows_environment: bool,
    /// What ranks cells: a key that a cell must set (`rate`, `load=closed`, or empty) and the names of metrics. The
    /// first entry that applies holds, and of its metrics the first in which cells differ usefully.
    pub ranking: &'static [(&'static str, &'static [&'static str])],
    /// Resolves the values of a cell: reads the files they name, relative to the given folder, and
    /// checks that the values are consistent. An error names the parameter and the remedy.
    pub prepare: Prepare,
}

impl Workload {
    /// The parameters for scenarios.
    pub fn parameters(&self) -> &'static [Parameter] {
        (self.parameters)()
    }

    /// The metrics that rank cells with these values, the most significant first.
    pub fn ranking(&self, arguments: &Arguments) -> &'static [&'static str] {
        let applies = |(key, _): &&(&str, &[&str])| {
            let (name, wanted) = key.split_once('=').unwrap_or((key, ""));
            let value = arguments.value(name).map(ToString::to_string);
            key.is_empty() || value.is_some_and(|value| wanted.is_empty() || value == wanted)
        };
        self.ranking.iter().find(applies).map_or(&[], |(_, metrics)| metrics)
    }
}

/// A workload with everything resolved. All runs of a cell share it, on any thread.
pub trait Prepared: Send + Sync {
    /// The number of clients, each on a separate host.
    fn phones(&self) -> u32 {
        1
    }

    /// Whether several processes may drive the clients, each from number [`Stage::first`] on.
    fn is_divisible(&self) -> bool {
        true
    }

    /// The networks that each phone uses during a run, one after the other: one more than its moves.
    fn networks(&self) -> u32 {
        1
    }

    /// The number of times that each phone reconnects by itself.
    fn reconnections(&self) -> u32 {
        0
    }

    /// The server's side of one run.
    fn service(&self, log: EventLog) -> Rc<dyn Service>;

    /// The clients' side of one run, to be polled inside the run. It resolves when every message is
    /// answered or given up and the connections are closed.
    ///
    /// With a handshake that needs an earlier session, every phone first opens a connection and
    /// exchanges one request; the measured part, [`Event::Started`](trackbed_core::Event) to
    /// `Finished`, begins when all these are closed. If a phone cannot warm up, it records the
    /// failure, and the measured part does not take place.
    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()>;

    /// What a third-party server must serve to the clients of this workload. It must also answer a
    /// POST to any path with a status of 200 to 299, once it has received the whole body.
    ///
    /// # Errors
    /// If the workload needs the built-in server; the error is the reason.
    fn site(&self) -> Result<Site, String>;

    /// The page that the clients load, if any: its objects, the document first.
    fn page(&self) -> Option<Vec<PageObject>> {
        None
    }

    /// The latest useful time of an answer or verdict after its message's intended time, if any.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// The board whose speed applies to verification in virtual time; `None` without verification.
    fn board(&self) -> Option<&str> {
        None
    }

    /// The board that the scenario names, if any: in real time only [`HERE`](crate::HERE), this machine.
    fn chosen_board(&self) -> Option<&str> {
        None
    }

    /// The vehicles whose messages a unit verifies, and the cores of the modelled unit.
    fn unit(&self) -> Option<[u64; 2]> {
        None
    }

    /// Whether more cores verify in virtual time than were measured on the board.
    fn is_extrapolated(&self) -> bool {
        false
    }

    /// The round trips of a run that is a strict sequence of them; `None` if windows and rates
    /// matter.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

/// The content of a web server.
#[derive(Clone, Default)]
pub struct Site {
    /// Its files.
    pub files: Vec<SiteFile>,
}

impl Site {
    /// The site, unless it would fill the disk, or the memory, of temporary files.
    ///
    /// # Errors
    /// If it would.
    pub fn bounded(self) -> Result<Site, String> {
        let bytes: u128 = self.files.iter().map(|file| u128::from(file.bytes)).sum();
        let (needed, most) = (bytes / 1_000_000_000, SITE_BYTES_MAX / 1_000_000_000);
        let what = "a third-party server would need";
        match bytes <= SITE_BYTES_MAX {
            true => Ok(self),
            false => Err(format!(
                "{what} {needed} GB of files, of at most {most}; make the workload smaller"
            )),
        }
    }

    /// What clients fetch in the measured part: all files but the warm-up's, a page's document first.
    pub fn objects(&self) -> impl Iterator<Item = &SiteFile> {
        self.files.iter().filter(|file| file.path != WARM_UP_PATH)
    }
}

/// A file of a web server.
#[derive(Clone)]
pub struct SiteFile {
    /// Its path in a URL, which begins with a slash.
    pub path: String,
    /// The bytes of its content.
    pub bytes: u64,
    /// Writes its content.
    pub content: Arc<WriteContent>,
}

/// An object of a web page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageObject {
    /// Its path in a URL, which begins with a slash.
    pub path: String,
    /// What it is: html, css, js, image, font or other.
    pub kind: &'static str,
    /// The bytes of its content.
    pub bytes: u64,
    /// Whether it blocks painting.
    pub blocking: bool,
}

const SITE_BYTES_MAX: u128 = 10_000_000_000;

/// What writes the content of a file.
pub type WriteContent = dyn Fn(&mut dyn io::Write) -> io::Result<()> + Send + Sync;

/// The inputs of a run's clients.
pub struct Stage {
    /// The number of the first phone; other processes may drive those before it.
    pub first: u32,
    /// A dialer for each phone, on that phone's host.
    pub phones: Vec<Rc<dyn Dialer>>,
    /// The capabilities of the dialers' protocol.
    pub capabilities: Capabilities,
    /// The host of each phone, for phones that move.
    pub hosts: Vec<Arc<dyn Host>>,
    /// The server's listening address.
    pub server: SocketAddr,
    /// The handshake of the dialers.
    pub handshake: Handshake,
    /// How long the warm-up waits.
    pub patience: Patience,
    /// The environment's changes in the run. The measured part does not begin before them.
    pub course: Course,
    /// The seed of the run.
    pub seed: Seed,
    /// Where events are recorded.
    pub log: EventLog,
}

/// How long a warm-up waits for what it cannot observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The minimum wait for session tickets, before their connection is closed.
    pub tickets: Duration,
    /// The wait after the last close: no packet of the warm-up is in flight in the measured part.
    pub quiet: Duration,
}

impl Patience {
    /// Waiting costs nothing here: enough for a ticket that is lost several times.
    pub const VIRTUAL: Patience =
        Patience { tickets: Duration::from_secs(2), quiet: Duration::from_secs(1) };

    /// In real time: enough for one retransmission after 200 ms, the minimum of the kernel's TCP.
    pub const REAL: Patience =
        Patience { tickets: Duration::from_millis(300), quiet: Duration::from_millis(300) };
}

/// A strict sequence by one phone: one connection after the other, and on each one exchange after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Connections in all.
    pub connections: u32,
    /// Exchanges in all, over all connections.
    pub exchanges: u32,
    /// The bytes of the longest message.
    pub longest: u64,
}

/// The path of warm-up requests, which are not part of a site.
pub(crate) const WARM_UP_PATH: &str = "/warm-up";

#[cfg(test)]
#[test]
fn a_site_that_fills_a_disk_is_refused() {
    let file = |bytes| SiteFile { path: String::new(), bytes, content: Arc::new(|_| Ok(())) };
    let refusal = |bytes| Site { files: vec![file(1), file(bytes)] }.bounded().err();
    assert_eq!(refusal(1_000), None);
    assert!(refusal(u64::MAX).unwrap().contains("18446744073 GB of files, of at most 10"));
}
