//! Which path of a connection carries the next data.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use noq::{FourTuple, PathId, PathStatus};
use noq_proto::{PathScheduler, PathSchedulerFactory, SchedulablePath};

/// A scheduler for `mpquic`, with the name of the MPTCP scheduler for the same rule.
#[derive(Debug)]
pub struct QuicScheduler {
    /// The name that scenarios use.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Puts the paths in order, given the one that carried the last datagram.
    order: fn(&mut [SchedulablePath], Option<PathId>),
}

/// The schedulers that connections of several QUIC paths can have: the values of
/// [`Multipath::scheduler`](trackbed_substrate::Multipath::scheduler) for `mpquic`.
pub fn quic_schedulers() -> &'static [QuicScheduler] {
    SCHEDULERS
}

const SCHEDULERS: &[QuicScheduler] = &[
    QuicScheduler {
        name: "minrtt",
        summary: "the path with the lowest round-trip time among those with room in the congestion \
             window",
        order: |paths, _| paths.sort_by_key(|path| (path.rtt, path.id)),
    },
    QuicScheduler {
        name: "roundrobin",
        summary: "every path in turn, if its congestion window has room",
        order: |paths, last| {
            paths.sort_by_key(|path| (last.is_some_and(|last| path.id <= last), path.id));
        },
    },
];

/// The ends of paths that get no data; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocked(Arc<Mutex<BTreeSet<IpAddr>>>);

impl Blocked {
    /// Blocks the paths from or to `end`, or unblocks them.
    pub(super) fn set(&self, end: IpAddr, blocked: bool) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if blocked {
            ends.insert(end);
        } else {
            ends.remove(&end);
        }
    }

    fn has(&self, path: &FourTuple) -> bool {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !ends.is_empty()
            && (ends.contains(&path.remote().ip())
                || path.local_ip().is_some_and(|local| ends.contains(&local)))
    }
}

pub(super) struct Scheduling {
    pub(super) scheduler: &'static QuicScheduler,
    pub(super) blocked: Blocked,
}

impl PathSchedulerFactory for Scheduling {
    fn build(&self) -> Box<dyn PathScheduler> {
        let Scheduling { scheduler, blocked } = self;
        Box::new(Scheduler { scheduler, blocked: blocked.clone(), last: None })
    }
}

#[derive(Debug)]
struct Scheduler {
    scheduler: &'static QuicScheduler,
    blocked: Blocked,
    last: Option<PathId>,
}

impl PathScheduler for Scheduler {
    fn rank(&mut self, paths: &mut Vec<SchedulablePath>) {
        paths.retain(|path| !self.blocked.has(&path.network_path));
        // A backup path is used only without alternatives (draft-ietf-quic-multipath section 3.3).
        if paths.iter().any(|path| !is_backup(path)) {
            paths.retain(|path| !is_backup(path));
        }
        (self.scheduler.order)(paths, self.last);
    }

    fn on_sent(&mut self, path: PathId) {
        self.last = Some(path);
    }
}

/// Whether one of the two ends asked to use it only if there is no other.
fn is_backup(path: &SchedulablePath) -> bool {
    path.local_status == PathStatus::Backup || path.remote_status == Some(PathStatus::Backup)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn path(id: u32, rtt_ms: u64) -> SchedulablePath {
        SchedulablePath {
            id: id.into(),
            network_path: FourTuple::new(
                format!("10.0.0.{}:443", 100 + id).parse().unwrap(),
                Some(format!("10.0.0.{id}").parse().unwrap()),
            ),
            rtt: Duration::from_millis(rtt_ms),
            local_status: PathStatus::Available,
            remote_status: None,
        }
    }

    fn scheduler(name: &str, blocked: &Blocked) -> Box<dyn PathScheduler> {
        let scheduler = quic_schedulers().iter().find(|known| known.name == name).unwrap();
        Scheduling { scheduler, blocked: blocked.clone() }.build()
    }

    fn ranked(scheduler: &mut Box<dyn PathScheduler>, paths: &[SchedulablePath]) -> Vec<u32> {
        let mut paths = paths.to_vec();
        scheduler.rank(&mut paths);
        let number = |path: &SchedulablePath| (0..9).find(|id| PathId::from(*id) == path.id);
        paths.iter().map(|path| number(path).unwrap()).collect()
    }

    #[test]
    fn the_lowest_round_trip_time_comes_first() {
        let mut scheduler = scheduler("minrtt", &Blocked::default());
        let paths = [path(0, 80), path(1, 40), path(2, 80)];
        assert_eq!(ranked(&mut scheduler, &paths), [1, 0, 2]);
    }

    #[test]
    fn every_path_has_its_turn() {
        let mut scheduler = scheduler("roundrobin", &Blocked::default());
        let paths = [path(0, 80), path(1, 40), path(2, 10)];
        assert_eq!(ranked(&mut scheduler, &paths), [0, 1, 2]);
        scheduler.on_sent(1u32.into());
        assert_eq!(ranked(&mut scheduler, &paths), [2, 0, 1]);
        scheduler.on_sent(2u32.into());
        assert_eq!(ranked(&mut scheduler, &paths), [0, 1, 2]);
    }

    #[test]
    fn a_backup_waits_until_all_others_are_gone() {
        let mut scheduler = scheduler("minrtt", &Blocked::default());
        let here = SchedulablePath { local_status: PathStatus::Backup, ..path(0, 10) };
        let there = SchedulablePath { remote_status: Some(PathStatus::Backup), ..path(1, 20) };
        assert_eq!(ranked(&mut scheduler, &[here, there, path(2, 80)]), [2]);
        assert_eq!(ranked(&mut scheduler, &[here, there]), [0, 1]);
    }

    #[test]
    fn a_path_is_blocked_by_the_address_at_either_end() {
        let blocked = Blocked::default();
        let mut scheduler = scheduler("minrtt", &blocked);
        let paths = [path(0, 10), path(1, 20)];
        for end in ["10.0.0.0", "10.0.0.100"].map(|end| end.parse().unwrap()) {
            blocked.set(end, true);
            assert_eq!(ranked(&mut scheduler, &paths), [1]);
            blocked.set(end, false);
            assert_eq!(ranked(&mut scheduler, &paths), [0, 1]);
        }
    }
}
