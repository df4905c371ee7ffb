//! A cell's radio during a run: a train drives and the radio along the track sets each operator's
//! link, or a recorded drive is replayed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::text::plural;
use trackbed_core::{ByteSize, Event, Seed, Time};
use trackbed_net::medium::Course;
use trackbed_net::queue::DropTail;
use trackbed_railway::handover::Table;
use trackbed_railway::motion::{Direction, GpsModel, Ride};
use trackbed_railway::phad::PathRanges;
use trackbed_railway::radio::{LinkDirection, RadioTimeline, Railway, RecordedDrive, Service};

use crate::foresight::Foresight;
use crate::plan::{LinkPlan, NetworkPlan};
use crate::radio_link::radio_link;

/// A radio: it makes a path for each operator of a run.
#[derive(Clone)]
pub struct Radio {
    source: Source,
    /// Queue size of each link, at the base station and in the train.
    queue: ByteSize,
    foresight: Foresight,
    /// The index of the train's only operator; `None` if it uses all.
    operator: Option<usize>,
    /// Whether each connection uses one of the operators.
    balances: bool,
}

#[derive(Clone)]
enum Source {
    /// A model, and the duration of a drive.
    Railway(Arc<Railway>, Duration),
    /// A recorded drive, and the train's way on the track of a table, if there is one.
    Recorded(Arc<[RadioTimeline]>, Option<Ride>),
}

/// A train's drive in one run.
pub struct Drive {
    /// The train's way; a recorded drive without positions has none.
    pub journey: Option<Journey>,
    /// The seed of the drive's randomness.
    pub seed: Seed,
    /// The timeline of each operator's link.
    pub timelines: Vec<RadioTimeline>,
}

/// The way of a train, and what it knows about it.
pub struct Journey {
    /// The position over time.
    pub ride: Ride,
    /// The receiver of positions.
    pub gps: GpsModel,
    /// Where the table of its foresight expects handovers, path by path; none without a table.
    pub ranges: PathRanges,
    /// The railway; a recorded drive has none.
    pub railway: Option<Arc<Railway>>,
}

impl Radio {
    /// A path for each operator of `railway`, of which there must be one or two; the radio changes
    /// for `duration`, then stays constant.
    pub(crate) fn new(
        railway: Arc<Railway>,
        duration: Duration,
        queue: ByteSize,
        foresight: Foresight,
    ) -> Result<Radio, String> {
        one_or_two(railway.operators().len())?;
        let source = Source::Railway(railway, duration);
        Ok(Radio { source, queue, foresight, operator: None, balances: false })
    }

    /// A path for each operator of a recorded drive, of which there must be one or two.
    pub(crate) fn recorded(
        RecordedDrive { timelines, positions }: RecordedDrive,
        queue: ByteSize,
        foresight: Foresight,
    ) -> Result<Radio, String> {
        one_or_two(timelines.len())?;
        if foresight.needs_place() && positions.is_empty() {
            let why = "a timeline does not contain the train's position, which a handover table \
                       needs; write foresight = \"none\", \"oracle\" or \"reactive\"";
            return Err(why.to_owned());
        }
        if foresight.needs_handovers() && timelines.iter().all(|one| one.handovers.is_empty()) {
            let why = "the timeline has no handovers, which this foresight goes by; record the serving \
                       cell, or write foresight = \"none\"";
            return Err(why.to_owned());
        }
        let ride = match foresight.given().filter(|_| foresight.needs_place()) {
            Some(table) => Some(Ride::through(Arc::clone(table.track()), &positions)),
            None if foresight.needs_place() => {
                let why = "a recorded drive has no railway from which a table is learnt; set radio.table to \
                           one, as `trackbed drive import --table` writes it";
                return Err(why.to_owned());
            }
            None => None,
        };
        let ride = ride.transpose().map_err(|why| why.to_string())?;
        for (timeline, direction) in
            timelines.iter().flat_map(|timeline| LinkDirection::BOTH.map(|way| (timeline, way)))
        {
            let queue = DropTail::of_bytes(queue);
            radio_link(timeline, direction, Some(queue)).map_err(|why| why.to_string())?;
        }
        let source = Source::Recorded(timelines.into(), ride);
        Ok(Radio { source, queue, foresight, operator: None, balances: false })
    }

    /// The same with a single operator, counted from 0; `None`: with one for each connection.
    pub(crate) fn with_operator(self, operator: Option<usize>) -> Result<Radio, String> {
        let operators = match &self.source {
            Source::Railway(railway, _) => railway.operators().len(),
            Source::Recorded(timelines, _) => timelines.len(),
        };
        match operator.unwrap_or(1) < operators {
            true => Ok(Radio { operator, balances: operator.is_none(), ..self }),
            false => Err("there is only one operator; remove this key".to_owned()),
        }
    }

    /// Whether each connection uses one of the operators, as behind a load balancer.
    pub fn balances(&self) -> bool {
        self.balances
    }

    /// Who foresees the handovers.
    pub fn foresight(&self) -> &Foresight {
        &self.foresight
    }

    /// What of the track's file was not read, or how long a recorded drive is.
    pub(crate) fn note(&self) -> Option<String> {
        let railway = match &self.source {
            Source::Railway(railway, _) => railway,
            Source::Recorded(timelines, _) => {
                let ends = timelines.iter().filter_map(|one| one.changes.last()).map(|it| it.at);
                let handovers = timelines.iter().map(|one| one.handovers.len()).sum::<usize>();
                return Some(format!(
                    "radio.timeline: the drive has {} in {:.0} s; a run rides as much of it as its \
                     workload lasts (workload.duration)",
                    plural(handovers as u64, "handover"),
                    ends.max()?.as_secs_f64()
                ));
            }
        };
        let skipped = Some(railway.skipped()).filter(|skipped| !skipped.is_empty())?;
        Some(format!("radio.track: the track has {:.0} m{skipped}", railway.track().length_m()))
    }

    /// How many operators' links the train uses.
    pub fn operators(&self) -> usize {
        match (self.operator, &self.source) {
            (Some(_), _) => 1,
            (None, Source::Railway(railway, _)) => railway.operators().len(),
            (None, Source::Recorded(timelines, _)) => timelines.len(),
        }
    }

    /// Builds in advance what takes long, the handover table.
    pub fn prepare(&self) {
        if let Source::Railway(railway, _) = &self.source {
            self.foresight.prepare(railway);
        }
    }

    /// The drive of the run with this seed. On a railway it starts at a random position that leaves
    /// enough track.
    pub fn drive(&self, seed: &Seed) -> Drive {
        let seed = seed.child("radio");
        let (railway, duration) = match &self.source {
            Source::Railway(railway, duration) => (railway, *duration),
            Source::Recorded(timelines, ride) => {
                let timelines = self.chosen(timelines.to_vec());
                let ranges = self.ranges(&timelines, self.foresight.given());
                // The positions are those that the receiver reported.
                let gps = GpsModel::PERFECT;
                let journey = ride.clone().map(|ride| Journey { ride, gps, ranges, railway: None });
                return Drive { journey, seed, timelines };
            }
        };
        let ride = railway.ride(Direction::Forward);
        let end = Time::ZERO + duration;
        let way = ride.chainage_m(end) - ride.chainage_m(Time::ZERO);
        let room = (railway.track().length_m() - way).max(0.0);
        let ride = ride.starting_at(seed.stream("start").unit() * room);
        let timelines = self.chosen(railway.drive(&ride, end, &seed));
        let table = self.foresight.needs_place().then(|| self.foresight.table(railway)).flatten();
        let (gps, ranges) = (railway.gps(), self.ranges(&timelines, table));
        let journey = Journey { ride, gps, ranges, railway: Some(Arc::clone(railway)) };
        Drive { journey: Some(journey), seed, timelines }
    }

    fn ranges(&self, timelines: &[RadioTimeline], table: Option<&Table>) -> PathRanges {
        let names: Vec<&str> = timelines.iter().map(|one| one.operator.as_str()).collect();
        // Neither a learnt table nor a checked one lacks an operator.
        table.and_then(|table| PathRanges::of(table, &names).ok()).unwrap_or_default()
    }

    fn chosen(&self, mut timelines: Vec<RadioTimeline>) -> Vec<RadioTimeline> {
        match self.operator {
            Some(operator) => vec![timelines.swap_remove(operator)],
            None => timelines,
        }
    }

    /// The network that `drive` makes from `plan`. A medium has the queues and rates of each path.
    pub fn network(&self, plan: &NetworkPlan, drive: &Drive) -> NetworkPlan {
        let paths = drive.timelines.iter().map(|timeline| {
            let [up, down] = LinkDirection::BOTH.map(|direction| {
                let queue = plan.medium.is_none().then(|| DropTail::of_bytes(self.queue));
                let link = radio_link(timeline, direction, queue);
                link.expect("a recorded timeline was checked when it was read")
            });
            LinkPlan { up, down, ..plan.link().clone() }
        });
        let paths = paths.collect();
        let moving = drive.timelines.iter().filter(|_| plan.medium.is_some());
        let courses = moving.map(|timeline| Arc::new(course(timeline))).collect();
        NetworkPlan { paths, access: None, courses, ..plan.clone() }
    }
}

/// What a train meets on an operator's medium: the serving cell's signal, and handovers.
fn course(timeline: &RadioTimeline) -> Course {
    let snr = timeline.signal.iter().map(|sample| (sample.at, sample.sinr_db)).collect();
    let held = |direction| timeline.spells(direction, Service::Held);
    Course { snr, paused: [LinkDirection::Up, LinkDirection::Down].map(held) }
}

impl Drive {
    /// The handovers as events.
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
            Source::Recorded(timelines, _) => format!("{} timelines", timelines.len()),
        };
        f.debug_struct("Radio")
            .field("source", &source)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
