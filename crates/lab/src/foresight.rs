//! Handovers that are foreseen: who keeps data off a path before it stops.
//!
//! In the downlink the scheduler is the server's, and the train knows where it is. *PHA* blocks the
//! path at the server's scheduler, as the study does in its simulator, which no real train can. *PHA-D*
//! is what a train can do: as the receiver it asks for the path to be a backup (MP_PRIO, RFC 8684
//! section 3.3.8; over QUIC, PATH_STATUS), which takes half a round trip. An *oracle* blocks as PHA does, at the true times.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use trackbed_core::{Ratio, Seed, Time};
use trackbed_protocols::PathControl;
use trackbed_railway::handover::{Lookup, Settings, Table};
use trackbed_railway::motion::{Direction, GpsReceiver, Ride};
use trackbed_railway::radio::{RadioTimeline, Railway};
use trackbed_substrate::{Multipath, PathWish, now, sleep_until};

use crate::preliminary;

/// Who foresees handovers, and how.
#[derive(Clone, Debug)]
pub struct Foresight {
    kind: Kind,
    /// How long before a range, or an outage, the path is left.
    lead: Duration,
    /// How many preliminary rides the table is learnt from.
    rides: u32,
    /// How much of the railway's shadows has changed since then, as a share of their variance.
    drift: Ratio,
    /// Learnt when it is first needed.
    table: Arc<OnceLock<Option<Table>>>,
}

/// Who foresees handovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nobody,
    Pha,
    PhaD,
    Oracle,
    Reactive,
}

/// Which end keeps data off a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoActs {
    /// The train, which asks the sender for it.
    Client,
    /// The sender's scheduler.
    Server,
}

impl WhoActs {
    pub const BOTH: [WhoActs; 2] = [WhoActs::Client, WhoActs::Server];
}

impl Foresight {
    /// As scenarios write them.
    pub const NAMES: [&str; 5] = ["none", "pha", "pha-d", "oracle", "reactive"];

    /// The one called `name`; without a `lead` its own.
    pub fn new(name: &str, lead: Option<Duration>, rides: u32) -> Option<Foresight> {
        let kinds = [Kind::Nobody, Kind::Pha, Kind::PhaD, Kind::Oracle, Kind::Reactive];
        let (kind, _) =
            kinds.into_iter().zip(Foresight::NAMES).find(|(_, known)| *known == name)?;
        let lead = lead.unwrap_or(match kind {
            Kind::PhaD => LEAD_OF_RECEIVER,
            Kind::Oracle => LEAD_OF_ORACLE,
            Kind::Nobody | Kind::Pha | Kind::Reactive => Duration::ZERO,
        });
        Some(Foresight { kind, lead, rides, drift: Ratio::ZERO, table: Arc::default() })
    }

    /// The same by a table that was learnt before so much of the railway's shadows changed.
    #[must_use]
    pub fn with_drift(self, drift: Ratio) -> Foresight {
        Foresight { drift, ..self }
    }

    /// The same with this table in place of one that is learnt.
    ///
    /// # Errors
    /// If it is of another railway.
    pub fn with_table(mut self, table: Table, railway: &Railway) -> Result<Foresight, String> {
        let (length_m, ours_m) = (table.track().length_m(), railway.track().length_m());
        if (length_m - ours_m).abs() > TRACK_TOLERANCE_M {
            return Err(format!(
                "the table is of a track of {length_m:.0} m, and this one has {ours_m:.0} m; build \
                 one for it (`trackbed handover build`)"
            ));
        }
        for operator in railway.operators() {
            table.ranges(&operator.name, Direction::Forward).map_err(|why| why.to_string())?;
        }
        self.table = Arc::new(OnceLock::from(Some(table)));
        Ok(self)
    }

    /// What it asks of the scheduler.
    pub(crate) fn set(&self, multipath: &mut Multipath) {
        multipath.proactive = matches!(self.kind, Kind::Pha | Kind::Oracle);
        multipath.reactive = (self.kind == Kind::Reactive).then_some(SILENCE);
    }

    /// Which end has something to do; `None` if nobody foresees anything.
    pub(crate) fn acts(&self) -> Option<WhoActs> {
        match self.kind {
            Kind::Nobody | Kind::Reactive => None,
            Kind::PhaD => Some(WhoActs::Client),
            Kind::Pha | Kind::Oracle => Some(WhoActs::Server),
        }
    }

    /// Whether it looks the train's place up in a table.
    pub(crate) fn needs_place(&self) -> bool {
        matches!(self.kind, Kind::Pha | Kind::PhaD)
    }

    /// Whether it asks something of the sender's scheduler.
    pub(crate) fn needs_scheduler(&self) -> bool {
        matches!(self.kind, Kind::Pha | Kind::Oracle | Kind::Reactive)
    }

    /// Learns the table now that will be needed, if one is.
    pub(crate) fn prepare(&self, railway: &Railway) {
        if self.needs_place() {
            self.learnt(railway);
        }
    }

    fn learnt(&self, railway: &Railway) -> Option<&Table> {
        let learn = || {
            let (directions, settings) = ([Direction::Forward], Settings::default());
            (self.rides > 0).then(|| {
                let earlier = (!self.drift.is_zero()).then(|| railway.before(self.drift));
                let railway = earlier.as_ref().unwrap_or(railway);
                preliminary::learn(railway, &directions, self.rides, TABLE_ROOT, settings)
                    .expect("the default settings make sense")
            })
        };
        self.table.get_or_init(learn).as_ref()
    }

    /// Keeps data off paths as the train of `ride` comes to handovers, for good. `ends` are the
    /// train's addresses, path by path.
    pub(crate) async fn follow(self, drive: Following, client: PathControl, server: PathControl) {
        let Some(mut forecast) = self.forecast(drive.ride, &drive.timelines, &drive.seed) else {
            return;
        };
        let mut states: Vec<State> = drive.ends.iter().map(|end| State::new(*end)).collect();
        let mut next = now();
        loop {
            let mut wanted = forecast.at(now(), &drive.timelines);
            spare_one(&mut wanted, &states);
            for (state, avoid) in states.iter_mut().zip(wanted) {
                match self.kind {
                    Kind::PhaD => state.ask(avoid, &client),
                    _ => state.block(avoid, &server),
                }
            }
            next += PERIOD;
            sleep_until(next).await;
        }
    }

    fn forecast(
        &self,
        ride: Option<(Arc<Railway>, Ride)>,
        timelines: &[RadioTimeline],
        seed: &Seed,
    ) -> Option<Forecast> {
        let lead = self.lead;
        match self.kind {
            Kind::Nobody | Kind::Reactive => None,
            Kind::Oracle => Some(Forecast::Truth { lead }),
            Kind::Pha | Kind::PhaD => {
                let (railway, ride) = ride?;
                let table = self.learnt(&railway);
                let lookup = |timeline: &RadioTimeline| {
                    Lookup::new(table?, &timeline.operator, Direction::Forward).ok()
                };
                let lookups = timelines.iter().map(lookup).collect();
                let receiver = Box::new(GpsReceiver::new(railway.gps(), seed));
                let lag = railway.gps().lag;
                Some(Forecast::Table { lookups, receiver, ride, lag, lead })
            }
        }
    }
}

/// What is followed: a train's drive.
pub(crate) struct Following {
    pub ride: Option<(Arc<Railway>, Ride)>,
    pub timelines: Vec<RadioTimeline>,
    pub seed: Seed,
    pub ends: Vec<IpAddr>,
}

/// Which paths are to be left.
enum Forecast {
    /// Where the train believes to be, in a table.
    Table {
        lookups: Vec<Option<Lookup>>,
        receiver: Box<GpsReceiver>,
        ride: Ride,
        lag: Duration,
        lead: Duration,
    },
    /// The true times.
    Truth { lead: Duration },
}

impl Forecast {
    fn at(&mut self, now: Time, timelines: &[RadioTimeline]) -> Vec<bool> {
        match self {
            Forecast::Table { lookups, receiver, ride, lag, lead } => {
                let fix = receiver.fix(now, ride);
                let here = fix.chainage_m + fix.speed_m_s * lag.as_secs_f64();
                let lead_m = fix.speed_m_s * lead.as_secs_f64();
                let inside =
                    |lookup: &Option<Lookup>| lookup.as_ref()?.at(here, lead_m).map(|_| ());
                lookups.iter().map(|lookup| inside(lookup).is_some()).collect()
            }
            Forecast::Truth { lead } => {
                let soon = now + *lead;
                let disturbs = |timeline: &RadioTimeline| {
                    let spells = timeline.handovers.iter().map(|handover| handover.disturbed);
                    spells.into_iter().any(|(from, until)| from <= soon && now < until)
                };
                timelines.iter().map(disturbs).collect()
            }
        }
    }
}

/// Where all paths are to be left, one stays: of those in use the last one.
fn spare_one(wanted: &mut [bool], states: &[State]) {
    if wanted.iter().all(|avoid| *avoid)
        && let Some(in_use) = states.iter().rposition(|state| !state.avoided)
    {
        wanted[in_use] = false;
    }
}

/// What has become of a path.
struct State {
    /// The train's address on it.
    end: IpAddr,
    avoided: bool,
    /// A path that is asked for again until data comes by it: how often still, when next, and what
    /// had come by then.
    asking: Option<(u32, Time, u64)>,
}

impl State {
    fn new(end: IpAddr) -> State {
        State { end, avoided: false, asking: None }
    }

    fn block(&mut self, avoid: bool, server: &PathControl) {
        if avoid != self.avoided && server.set_path(self.end, PathWish::Blocked(avoid)) {
            self.avoided = avoid;
        }
    }

    /// Asks the sender to leave the path, or to come back: until it does, for what crosses a radio
    /// that recovers may be lost.
    fn ask(&mut self, avoid: bool, client: &PathControl) {
        if avoid != self.avoided {
            if client.set_path(self.end, PathWish::Backup(avoid)) {
                self.avoided = avoid;
                let again = (REPEATS, now() + REPEAT_AFTER, self.received(client));
                self.asking = (!avoid).then_some(again);
            }
            return;
        }
        if let Some((left, at, before)) = self.asking
            && now() >= at
        {
            let comes = self.received(client) > before;
            self.asking = (left > 1 && !comes).then_some((left - 1, now() + REPEAT_AFTER, before));
            if !comes {
                client.set_path(self.end, PathWish::Backup(false));
            }
        }
    }

    fn received(&self, client: &PathControl) -> u64 {
        let paths = client.paths().into_iter().filter(|path| path.local.ip() == self.end);
        paths.map(|path| path.info.bytes_received).sum()
    }
}

/// How often the train's place is looked up (the study's).
const PERIOD: Duration = Duration::from_millis(10);

/// How long a path may be silent for a scheduler that only reacts.
const SILENCE: Duration = Duration::from_millis(150);

/// A round trip, and what the sender has given to the path already.
const LEAD_OF_RECEIVER: Duration = Duration::from_millis(200);

/// What is on the way arrives.
const LEAD_OF_ORACLE: Duration = Duration::from_millis(50);

const REPEAT_AFTER: Duration = Duration::from_millis(50);
const REPEATS: u32 = 20;

/// Tracks of a table and of a scenario are written with so many digits.
const TRACK_TOLERANCE_M: f64 = 10.0;

/// Preliminary rides are the same for all scenarios: the runs draw from others.
const TABLE_ROOT: u64 = 0;

#[cfg(test)]
mod tests;
