//! What the radio of one operator does to a link, and when.

use std::time::Duration;

use trackbed_core::{Bitrate, ByteSize, Ratio, Time, named};

/// What happens on the link by way of one operator during a drive. All is known beforehand: it is a
/// matter of the seed.
///
/// Of rate, delay, loss and service each row holds from its time on until the next one of its kind;
/// what no row tells of is as the link has it by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadioTimeline {
    /// The operator's name.
    pub operator: String,
    /// The changes, in order of time.
    pub changes: Vec<LinkChange>,
    /// The handovers, in order of time.
    pub handovers: Vec<Handover>,
    /// What was received along the way, in order of time. It does not belong to the timeline's text.
    pub signal: Vec<SignalSample>,
}

/// A change of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// Of which direction.
    pub direction: LinkDirection,
    /// What.
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
    /// Both of them.
    pub const BOTH: [LinkDirection; 2] = [LinkDirection::Up, LinkDirection::Down];
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The rate. At zero packets wait.
    Rate(Bitrate),
    /// The delay of packets that set out from now on.
    Delay(Duration),
    /// The share of packets that is lost at random.
    Loss(Ratio),
    /// Whether packets pass.
    Service(Service),
    /// The queue loses so many bytes at most, those first that have waited longest.
    Flush(ByteSize),
}

named! {
    /// Whether packets pass.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Service {
        /// They do.
        Up = "up",
        /// They wait in the queue: somebody keeps them for later.
        Held = "held",
        /// They are sent and lost.
        Lost = "lost",
    }
}

/// A change from one cell to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// How it came about.
    pub kind: HandoverKind,
    /// The serving cell before.
    pub from: String,
    /// The serving cell after.
    pub to: String,
    /// When the terminal reported, or when the serving cell was lost.
    pub report: Time,
    /// When the command came: from here on nothing passes.
    pub command: Time,
    /// When data flows again.
    pub end: Time,
    /// From when until when the link is worse because of it, the time without service included.
    pub disturbed: (Time, Time),
    /// The chainage at the command, in metres.
    pub chainage_m: f64,
    /// The chainages at the beginning and the end of the disturbance, in metres.
    pub disturbed_m: (f64, f64),
}

named! {
    /// How a change of cells came about.
    pub enum HandoverKind {
        /// Prepared over X2, by command.
        X2 = "x2",
        /// After a radio link failure, by establishing the link anew.
        Failure = "failure",
    }
}

/// What was received at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalSample {
    /// When.
    pub at: Time,
    /// Where, in metres.
    pub chainage_m: f64,
    /// The number of the serving station among the operator's.
    pub serving: usize,
    /// Its reference signal received power as measured, in dBm.
    pub rsrp_dbm: f64,
    /// That of the strongest other one, in dBm.
    pub neighbour_dbm: f64,
    /// The signal to interference and noise ratio, in dB.
    pub sinr_db: f64,
}

impl RadioTimeline {
    /// From when on which rate holds.
    pub fn rates(&self, direction: LinkDirection) -> Vec<(Time, Bitrate)> {
        self.rows(direction, |what| match what {
            What::Rate(rate) => Some(rate),
            _ => None,
        })
    }

    /// From when on which delay holds.
    pub fn delays(&self, direction: LinkDirection) -> Vec<(Time, Duration)> {
        self.rows(direction, |what| match what {
            What::Delay(delay) => Some(delay),
            _ => None,
        })
    }

    /// From when on which loss holds.
    pub fn losses(&self, direction: LinkDirection) -> Vec<(Time, Ratio)> {
        self.rows(direction, |what| match what {
            What::Loss(loss) => Some(loss),
            _ => None,
        })
    }

    /// When how many bytes at most are lost from the queue.
    pub fn flushes(&self, direction: LinkDirection) -> Vec<(Time, ByteSize)> {
        self.rows(direction, |what| match what {
            What::Flush(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// The spells during which the service is this; the end of the last one is [`Time::MAX`] if
    /// none is told.
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
