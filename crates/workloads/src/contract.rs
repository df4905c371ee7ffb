//! What every workload offers.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::environment::Course;
use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Capabilities, Dialer, Handshake, Service};
use trackbed_core::{Arguments, EventLog, Parameter, Seed};
use trackbed_substrate::Host;

/// A workload: an entry of [`registry`](crate::registry).
pub trait Workload: Sync {
    /// The name that scenarios use, for example `messages`.
    fn name(&self) -> &'static str;

    /// One line for lists: what it sends.
    fn summary(&self) -> &'static str;

    /// What a scenario may set.
    fn parameters(&self) -> &'static [Parameter];

    /// Whether anything is sent over the lab's links; otherwise no protocol is below it.
    fn communicates(&self) -> bool {
        true
    }

    /// Whether its clients reconnect and seek when the environment says so.
    fn follows_environment(&self) -> bool {
        false
    }

    /// Resolves the values of a cell: reads the files they name, relative to `base`, and checks
    /// that they go together.
    ///
    /// # Errors
    /// If they do not, or a file cannot be used; the error names the parameter and says what to
    /// write instead.
    fn prepare(
        &self,
        arguments: &Arguments,
        base: &Path,
    ) -> Result<Box<dyn Prepared>, WorkloadError>;
}

/// A workload with everything resolved. All runs of a cell share it, on any thread.
pub trait Prepared: Send + Sync {
    /// How many clients, each on a host of its own, it needs.
    fn phones(&self) -> u32 {
        1
    }

    /// How many networks each phone is in during a run, one after the other: one more than the
    /// times that it moves.
    fn networks(&self) -> u32 {
        1
    }

    /// How often each phone drops its connection and opens another one, of its own accord.
    fn reconnections(&self) -> u32 {
        0
    }

    /// The server's side of one run.
    fn service(&self, log: EventLog) -> Rc<dyn Service>;

    /// The clients' side of one run, to be polled inside the run. It resolves when everything is
    /// answered or given up and the connections are closed.
    ///
    /// With a handshake that needs an earlier session, every phone first opens a connection and
    /// exchanges one request; the measured part, [`Event::Started`](trackbed_core::Event) to
    /// `Finished`, begins when all these are closed. If a phone cannot warm up, it records that
    /// it failed, and the measured part does not take place.
    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()>;

    /// What a server that is not ours must have for the clients of this workload. It must also
    /// answer a POST to any path with a status of 200 to 299, once it has the whole body.
    ///
    /// # Errors
    /// If the workload needs our own server; the reason says why.
    fn site(&self) -> Result<Site, String>;

    /// The page that the clients load, if that is what they do: its objects, the document first.
    fn page(&self) -> Option<Vec<PageObject>> {
        None
    }

    /// From when on an answer or a verdict is too late to be of use, since its message was to be sent;
    /// `None` where there is nothing of the kind.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// The board whose speed verifying signatures has in virtual time, by its name; `here` is this
    /// machine, and the only one in real time. `None` where nothing is verified.
    fn board(&self) -> Option<&'static str> {
        None
    }

    /// How the run proceeds if it is a strict sequence of round trips; `None` where it takes longer for
    /// windows and rates.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

/// What a web server serves.
#[derive(Clone, Default)]
pub struct Site {
    /// Its files.
    pub files: Vec<SiteFile>,
}

impl Site {
    /// What clients fetch in the measured part: all files but the one that warms up. Of a page, its
    /// document comes first.
    pub fn objects(&self) -> impl Iterator<Item = &SiteFile> {
        self.files.iter().filter(|file| file.path != WARM_UP_PATH)
    }
}

/// A file of a web server.
#[derive(Clone)]
pub struct SiteFile {
    /// Its path in a URL, which begins with a slash.
    pub path: String,
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
    /// Nothing is painted before it is there.
    pub blocking: bool,
}

/// What writes the content of a file.
pub type WriteContent = dyn Fn(&mut dyn io::Write) -> io::Result<()> + Send + Sync;

/// What the clients of a run have to work with.
pub struct Stage {
    /// A dialer for each phone, on that phone's host.
    pub phones: Vec<Rc<dyn Dialer>>,
    /// What the dialers' protocol can do.
    pub capabilities: Capabilities,
    /// The host of each phone, for phones that move.
    pub hosts: Vec<Arc<dyn Host>>,
    /// Where the server listens.
    pub server: SocketAddr,
    /// How the dialers begin connections.
    pub handshake: Handshake,
    /// How long the warm-up lets things come to rest.
    pub patience: Patience,
    /// What the environment does in the run. The measured part does not begin before it.
    pub course: Course,
    /// The seed of the run.
    pub seed: Seed,
    /// Where events are recorded.
    pub log: EventLog,
}

/// How long a warm-up waits for what cannot be seen to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// At the least for session tickets, before the connection that brings them is closed.
    pub tickets: Duration,
    /// After the last close, so that nothing of the warm-up is under way in the measured part.
    pub quiet: Duration,
}

impl Patience {
    /// Where waiting costs nothing: enough for a ticket that is lost several times.
    pub const VIRTUAL: Patience =
        Patience { tickets: Duration::from_secs(2), quiet: Duration::from_secs(1) };

    /// Where somebody waits: enough for a ticket or a last segment that is lost once and sent again
    /// after 200 ms, the least time-out of the kernel's TCP.
    pub const REAL: Patience =
        Patience { tickets: Duration::from_millis(300), quiet: Duration::from_millis(300) };
}

/// A strict sequence of round trips by one phone: connections one after the other, and on each
/// one exchange after the other, all small enough for the first flight of any transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Connections in all.
    pub connections: u32,
    /// Exchanges in all, over all connections.
    pub exchanges: u32,
}

/// Why a workload cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {advice}")]
pub struct WorkloadError {
    /// The parameter to change.
    pub parameter: &'static str,
    /// What is wrong with its value, and what to write instead.
    pub advice: String,
}

impl WorkloadError {
    pub(crate) fn new(parameter: &'static str, advice: impl Into<String>) -> WorkloadError {
        WorkloadError { parameter, advice: advice.into() }
    }
}

/// The path of warm-up requests, which are no part of a site.
pub(crate) const WARM_UP_PATH: &str = "/warm-up";
