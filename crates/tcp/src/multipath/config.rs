//! How a multipath connection behaves.

use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_core::parameter::Arguments;

use crate::config::Config;
use crate::schedulers::handover_aware::HandoverAware;
use crate::schedulers::opportunistic::Opportunistic;
use crate::schedulers::{Reinjection, Scheduler, SchedulingAlgorithm, minrtt};

/// The settings of a multipath connection.
#[derive(Clone, Debug)]
pub struct MultipathConfig {
    /// The settings of every subflow; its buffers are those of the whole connection.
    pub tcp: Config,
    /// The scheduler, from [`schedulers::algorithms`](crate::schedulers::algorithms).
    pub scheduler: &'static SchedulingAlgorithm,
    /// The parameters of the scheduler; `None` for their defaults.
    pub arguments: Option<Arguments>,
    /// The seed of the scheduler's randomness.
    pub seed: Seed,
    /// Add opportunistic retransmission and penalisation to it.
    pub opportunistic: bool,
    /// Honour predictions about paths, see [`MultipathConnection::set_blocked`].
    ///
    /// [`MultipathConnection::set_blocked`]: super::MultipathConnection::set_blocked
    pub proactive: bool,
    /// Send what is in flight on a path again on the others when it is blocked.
    pub reactive: bool,
    /// Ask for checksums over the data (RFC 8684 section 3.3.1). They are used if either side asks.
    pub checksum: bool,
    /// Announce data only by the lower 32 bits of its number.
    pub short_numbers: bool,
    /// When data is moved to another path because its own makes no progress; `None`: as the scheduler does.
    pub reinjection: Option<Reinjection>,
    /// The host's addresses, besides the one that the connection is opened from or accepted at.
    pub endpoints: Vec<Endpoint>,
    /// Subflows besides the first, opened and accepted together, at most 30.
    pub subflows_max: usize,
    /// The maximum number of announced addresses of the peer that are used.
    pub announcements_max: usize,
    /// How long after its loss a subflow is reopened, doubling with each failed attempt; `None` for
    /// never, as in Linux.
    pub rejoin: Option<Duration>,
    /// How long a connection lives without a subflow, waiting for a new one.
    pub orphan_timeout: Duration,
}

impl Default for MultipathConfig {
    fn default() -> MultipathConfig {
        MultipathConfig {
            tcp: Config::default(),
            scheduler: &minrtt::ENTRY,
            arguments: None,
            seed: Seed::of_run(0, 0),
            opportunistic: false,
            proactive: false,
            reactive: false,
            checksum: false,
            short_numbers: false,
            reinjection: None,
            endpoints: Vec::new(),
            subflows_max: 8,
            announcements_max: 8,
            rejoin: None,
            orphan_timeout: Duration::from_secs(60),
        }
    }
}

impl MultipathConfig {
    /// The scheduler of a new connection, with its wrappers.
    pub(super) fn build_scheduler(&self) -> Box<dyn Scheduler> {
        let defaults = || Arguments::read(self.scheduler.parameters, &[]);
        let arguments = self.arguments.clone().map_or_else(defaults, Ok);
        let arguments = arguments.expect("a scheduler's parameters have defaults");
        let mut scheduler = (self.scheduler.build)(&arguments, &self.seed);
        if self.opportunistic {
            scheduler = Box::new(Opportunistic::new(scheduler));
        }
        if self.proactive {
            scheduler = Box::new(HandoverAware::new(scheduler));
        }
        scheduler
    }
}

/// An address of this host and its use; the flags have the names of `ip mptcp endpoint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub address: IpAddr,
    /// Open a subflow from here, if this side opened the connection.
    pub subflow: bool,
    /// Announce it to the peer (ADD_ADDR).
    pub signal: bool,
    /// Subflows from here are backups.
    pub backup: bool,
    /// Open a subflow to every address of the peer, not only to the first.
    pub fullmesh: bool,
}

impl Endpoint {
    /// An address from which a subflow is opened.
    pub const fn subflow(address: IpAddr) -> Endpoint {
        Endpoint { address, subflow: true, signal: false, backup: false, fullmesh: false }
    }

    /// An address that is announced.
    pub const fn signal(address: IpAddr) -> Endpoint {
        Endpoint { address, subflow: false, signal: true, backup: false, fullmesh: false }
    }
}
