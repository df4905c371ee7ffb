//! The radio of a cell at work in a run: a train drives, and each operator's link does as the radio
//! along the track says.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{ByteSize, Event, Seed, Time};
use trackbed_motion::{Direction, Ride};
use trackbed_net::queue::DropTail;
use trackbed_radio::{LinkDirection, Operator, RadioTimeline, Railway};

use crate::foresight::Foresight;
use crate::radio_link::radio_link;
use crate::scenario::{LinkPlan, NetworkPlan};

/// A railway, and what a run makes of it: a path for each operator.
#[derive(Clone)]
pub struct Radio {
    railway: Arc<Railway>,
    /// How long a drive is.
    duration: Duration,
    /// What may wait at a base station, and in the train, for each link.
    queue: ByteSize,
    foresight: Foresight,
}

/// A train's drive in one run.
pub(crate) struct Drive {
    /// Where the train is when.
    pub ride: Ride,
    /// Where the drive's randomness comes from.
    pub seed: Seed,
    /// What becomes of each operator's link.
    pub timelines: Vec<RadioTimeline>,
}

impl Radio {
    /// A path for each operator of `railway`; the radio changes for `duration`, and then stays as it
    /// is.
    ///
    /// # Errors
    /// If there are not one or two operators.
    pub fn new(
        railway: Arc<Railway>,
        duration: Duration,
        queue: ByteSize,
        foresight: Foresight,
    ) -> Result<Radio, String> {
        match railway.operators().len() {
            1 | 2 => Ok(Radio { railway, duration, queue, foresight }),
            many => Err(format!("a train has one or two paths, not {many}: name fewer operators")),
        }
    }

    /// The railway.
    pub fn railway(&self) -> &Arc<Railway> {
        &self.railway
    }

    /// Who foresees the handovers.
    pub fn foresight(&self) -> &Foresight {
        &self.foresight
    }

    /// The operators, each with a path, in the order of the paths.
    pub fn operators(&self) -> &[Operator] {
        self.railway.operators()
    }

    /// The drive of the run with this seed. It begins anywhere on the track, but so that there is
    /// track enough.
    pub(crate) fn drive(&self, seed: &Seed) -> Drive {
        let seed = seed.child("radio");
        let ride = self.railway.ride(Direction::Forward);
        let end = Time::ZERO + self.duration;
        let way = ride.chainage_m(end) - ride.chainage_m(Time::ZERO);
        let room = (self.railway.track().length_m() - way).max(0.0);
        let ride = ride.starting_at(seed.stream("start").unit() * room);
        let timelines = self.railway.drive(&ride, end, &seed);
        Drive { ride, seed, timelines }
    }

    /// The network that `drive` makes of `plan`.
    pub(crate) fn network(&self, plan: &NetworkPlan, drive: &Drive) -> NetworkPlan {
        let mut paths = drive.timelines.iter().map(|timeline| {
            let [up, down] = LinkDirection::BOTH.map(|direction| {
                let queue = DropTail::of_bytes(self.queue);
                let link = radio_link(timeline, direction, Time::ZERO, queue);
                link.expect("the timeline of a drive tells of every rate, in order of time")
            });
            LinkPlan { up, down, ..plan.link.clone() }
        });
        let link = paths.next().expect("there is an operator");
        NetworkPlan { link, second: paths.next(), access: None }
    }
}

impl Drive {
    /// The handovers, for the record.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> {
        (0..).zip(&self.timelines).flat_map(|(path, timeline)| {
            timeline.handovers.iter().map(move |handover| Event::Handover {
                path,
                from: handover.command,
                until: handover.end,
            })
        })
    }
}

impl fmt::Debug for Radio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (duration, queue) = (&self.duration, &self.queue);
        let fields = ("profile", self.railway.profile().name);
        f.debug_struct("Radio")
            .field(fields.0, &fields.1)
            .field("duration", duration)
            .field("queue", queue)
            .finish_non_exhaustive()
    }
}
