//! The radio of a cell at work in a run: a train drives, and each operator's link does as the radio
//! along the track says; or a drive that was recorded is driven again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{ByteSize, Event, Seed, Time};
use trackbed_net::queue::DropTail;
use trackbed_railway::motion::{Direction, Ride};
use trackbed_railway::radio::{LinkDirection, RadioTimeline, Railway};

use crate::foresight::Foresight;
use crate::plan::{LinkPlan, NetworkPlan};
use crate::radio_link::radio_link;

/// A radio, and what a run makes of it: a path for each operator.
#[derive(Clone)]
pub struct Radio {
    source: Source,
    /// What may wait at a base station, and in the train, for each link.
    queue: ByteSize,
    foresight: Foresight,
    /// The number of the one operator that the train has, if it has not all.
    operator: Option<usize>,
}

#[derive(Clone)]
enum Source {
    /// A model, and how long a drive is.
    Railway(Arc<Railway>, Duration),
    /// One drive, the same in every run.
    Recorded(Arc<[RadioTimeline]>),
}

/// A train's drive in one run.
pub struct Drive {
    /// Where the train is when, on which railway; a recorded drive does not tell.
    pub ride: Option<(Arc<Railway>, Ride)>,
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
        one_or_two(railway.operators().len())?;
        let source = Source::Railway(railway, duration);
        Ok(Radio { source, queue, foresight, operator: None })
    }

    /// A path for each operator of a drive that was recorded.
    ///
    /// # Errors
    /// If there are not one or two operators, one has no rates, the lines make no timetable, or
    /// `foresight` is by a table: nobody knows where that train was.
    pub fn recorded(
        timelines: Vec<RadioTimeline>,
        queue: ByteSize,
        foresight: Foresight,
    ) -> Result<Radio, String> {
        one_or_two(timelines.len())?;
        if foresight.needs_place() {
            let why = "a timeline does not say where the train was, so no table helps; write \
                       foresight = \"none\", \"oracle\" or \"reactive\"";
            return Err(why.to_owned());
        }
        for (timeline, direction) in
            timelines.iter().flat_map(|timeline| LinkDirection::BOTH.map(|way| (timeline, way)))
        {
            let queue = DropTail::of_bytes(queue);
            radio_link(timeline, direction, Time::ZERO, queue).map_err(|why| why.to_string())?;
        }
        let source = Source::Recorded(timelines.into());
        Ok(Radio { source, queue, foresight, operator: None })
    }

    /// The same with one operator alone, counted from 0.
    ///
    /// # Errors
    /// If there is no such operator.
    pub fn with_operator(self, operator: usize) -> Result<Radio, String> {
        let operators = match &self.source {
            Source::Railway(railway, _) => railway.operators().len(),
            Source::Recorded(timelines) => timelines.len(),
        };
        match operator < operators {
            true => Ok(Radio { operator: Some(operator), ..self }),
            false => Err("there is one operator alone; leave this out".to_owned()),
        }
    }

    /// Who foresees the handovers.
    pub fn foresight(&self) -> &Foresight {
        &self.foresight
    }

    /// Learns beforehand what takes its time.
    pub fn prepare(&self) {
        if let Source::Railway(railway, _) = &self.source {
            self.foresight.prepare(railway);
        }
    }

    /// The drive of the run with this seed. On a railway it begins anywhere on the track, but so that
    /// there is track enough.
    pub fn drive(&self, seed: &Seed) -> Drive {
        let seed = seed.child("radio");
        let (railway, duration) = match &self.source {
            Source::Railway(railway, duration) => (railway, *duration),
            Source::Recorded(timelines) => {
                return Drive { ride: None, seed, timelines: self.chosen(timelines.to_vec()) };
            }
        };
        let ride = railway.ride(Direction::Forward);
        let end = Time::ZERO + duration;
        let way = ride.chainage_m(end) - ride.chainage_m(Time::ZERO);
        let room = (railway.track().length_m() - way).max(0.0);
        let ride = ride.starting_at(seed.stream("start").unit() * room);
        let timelines = self.chosen(railway.drive(&ride, end, &seed));
        Drive { ride: Some((Arc::clone(railway), ride)), seed, timelines }
    }

    /// What the train has of all operators.
    fn chosen(&self, mut timelines: Vec<RadioTimeline>) -> Vec<RadioTimeline> {
        match self.operator {
            Some(operator) => vec![timelines.swap_remove(operator)],
            None => timelines,
        }
    }

    /// The network that `drive` makes of `plan`.
    pub fn network(&self, plan: &NetworkPlan, drive: &Drive) -> NetworkPlan {
        let mut paths = drive.timelines.iter().map(|timeline| {
            let [up, down] = LinkDirection::BOTH.map(|direction| {
                let queue = DropTail::of_bytes(self.queue);
                let link = radio_link(timeline, direction, Time::ZERO, queue);
                link.expect("a timeline that is not the model's own was tried beforehand")
            });
            LinkPlan { up, down, ..plan.link.clone() }
        });
        let link = paths.next().expect("there is an operator");
        NetworkPlan { link, second: paths.next(), access: None }
    }
}

impl Drive {
    /// The handovers, for the record.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        (0..).zip(&self.timelines).flat_map(|(path, timeline)| {
            timeline.handovers.iter().map(move |handover| Event::Handover {
                path,
                from: handover.command,
                until: handover.end,
            })
        })
    }
}

fn one_or_two(paths: usize) -> Result<(), String> {
    match paths {
        1 | 2 => Ok(()),
        many => Err(format!("a train has one or two paths, not {many}: name fewer operators")),
    }
}

impl fmt::Debug for Radio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            Source::Railway(railway, duration) => {
                format!("{} for {duration:?}", railway.profile().name)
            }
            Source::Recorded(timelines) => format!("{} timelines", timelines.len()),
        };
        f.debug_struct("Radio")
            .field("source", &source)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
