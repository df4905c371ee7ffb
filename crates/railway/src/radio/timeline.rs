//! The effects of one operator's radio on a link over time.

use std::time::Duration;

use trackbed_core::{Bitrate, ByteSize, Ratio, Time, named};

use crate::motion::Coordinates;

/// The changes of the link over one operator during a drive. They are all known in advance, because they depend
/// only on the seed.
///
/// A change of rate, delay, loss or service applies from its time until the next one of its kind. Properties
/// without a change keep the link's own value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadioTimeline {
    /// The operator's name.
    pub operator: String,
    /// The changes, in order of time.
    pub changes: Vec<LinkChange>,
    /// The handovers, in order of time.
    pub handovers: Vec<Handover>,
    /// The received signal, in order of time. It is not part of the timeline's text.
    pub signal: Vec<SignalSample>,
}

/// The drive of a real train.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedDrive {
    /// The links over its operators.
    pub timelines: Vec<RadioTimeline>,
    /// Where the train was, in order of time; none if it is not known.
    pub positions: Vec<(Time, Coordinates)>,
}

/// A change of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkChange {
    /// The time.
    pub at: Time,
    /// The direction.
    pub direction: LinkDirection,
    /// The change.
    pub what: What,
}

named! {
    /// A direction of a link, seen from the train.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum LinkDirection {
        /// From the train.
        Up = "up",
        /// To the train.
        Down = "down",
    }
}

impl LinkDirection {
    /// Both directions.
    pub const BOTH: [LinkDirection; 2] = [LinkDirection::Up, LinkDirection::Down];
}

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The rate. At zero, packets stay in the queue.
    Rate(Bitrate),
    /// The delay of packets sent from now on.
    Delay(Duration),
    /// The share of packets lost at random.
    Loss(Ratio),
    /// Whether packets pass.
    Service(Service),
    /// The queue loses at most this number of bytes, the oldest first.
    Flush(ByteSize),
}

named! {
    /// Whether packets pass.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Service {
        /// Packets pass.
        Up = "up",
        /// Packets are held in the queue for later.
        Held = "held",
        /// Packets are sent and lost.
        Lost = "lost",
    }
}

/// A change from one cell to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// The kind.
    pub kind: HandoverKind,
    /// The serving cell before.
    pub from: String,
    /// The serving cell after.
    pub to: String,
    /// When the terminal reported, or when the serving cell was lost.
    pub report: Time,
    /// When the command arrived; from then on no data passes.
    pub command: Time,
    /// When data flows again.
    pub end: Time,
    /// The start and end of the degradation of the link, including the time without service.
    pub disturbed: (Time, Time),
    /// The chainage at the command, in metres.
    pub chainage_m: f64,
    /// The chainages at the beginning and the end of the disturbance, in metres.
    pub disturbed_m: (f64, f64),
}

named! {
    /// Kinds of handovers.
    pub enum HandoverKind {
        /// Prepared over X2, by command.
        X2 = "x2",
        /// By re-establishing the link after a radio link failure.
        Failure = "failure",
    }
}

/// The received signal at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalSample {
    /// The time.
    pub at: Time,
    /// The chainage, in metres.
    pub chainage_m: f64,
    /// The number of the serving station among the operator's.
    pub serving: usize,
    /// Its reference signal received power as measured, in dBm.
    pub rsrp_dbm: f64,
    /// The power of the strongest other station, in dBm.
    pub neighbour_dbm: f64,
    /// The signal to interference and noise ratio, in dB.
    pub sinr_db: f64,
}

impl RadioTimeline {
    /// The rates with their start times.
    pub fn rates(&self, direction: LinkDirection) -> Vec<(Time, Bitrate)> {
        self.rows(direction, |what| match what {
            What::Rate(rate) => Some(rate),
            _ => None,
        })
    }

    /// The delays with their start times.
    pub fn delays(&self, direction: LinkDirection) -> Vec<(Time, Duration)> {
        self.rows(direction, |what| match what {
            What::Delay(delay) => Some(delay),
            _ => None,
        })
    }

    /// The losses with their start times.
    pub fn losses(&self, direction: LinkDirection) -> Vec<(Time, Ratio)> {
        self.rows(direction, |what| match what {
            What::Loss(loss) => Some(loss),
            _ => None,
        })
    }

    /// The times of queue flushes, with the maximum number of lost bytes.
    pub fn flushes(&self, direction: LinkDirection) -> Vec<(Time, ByteSize)> {
        self.rows(direction, |what| match what {
            What::Flush(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// The periods with this service; the last one ends at [`Time::MAX`] if the timeline has no end for it.
    pub fn spells(&self, direction: LinkDirection, service: Service) -> Vec<(Time, Time)> {
        let rows = self.rows(direction, |what| match what {
            What::Service(service) => Some(service),
            _ => None,
        });
        let until = rows.iter().skip(1).map(|(at, _)| *at).chain([Time::MAX]);
        let spells = rows.iter().zip(until).filter(|((_, is), _)| *is == service);
        spells.map(|((from, _), until)| (*from, until)).filter(|(from, to)| from < to).collect()
    }

    fn rows<T>(&self, direction: LinkDirection, of: impl Fn(What) -> Option<T>) -> Vec<(Time, T)> {
        let changes = self.changes.iter().filter(|change| change.direction == direction);
        changes.filter_map(|change| Some((change.at, of(change.what)?))).collect()
    }
}
