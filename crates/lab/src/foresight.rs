//! Foreseen handovers during a run: data is kept off a path before it stops.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Seed, Time};
use trackbed_protocols::PathControl;
use trackbed_railway::handover::Lookup;
use trackbed_railway::motion::{Direction, GpsReceiver, Ride};
use trackbed_railway::radio::{RadioTimeline, Railway};
use trackbed_scenario::{Foresight, ForesightKind};
use trackbed_substrate::{Multipath, PathWish, now, sleep_until};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoActs {
    /// The train, which asks the sender to do so.
    Client,
    /// The sender's scheduler.
    Server,
}

impl WhoActs {
    pub const BOTH: [WhoActs; 2] = [WhoActs::Client, WhoActs::Server];
}

/// The scheduler settings that `foresight` needs.
pub(crate) fn set(foresight: &Foresight, multipath: &mut Multipath) {
    multipath.proactive = matches!(foresight.kind, ForesightKind::Pha | ForesightKind::Oracle);
    multipath.reactive = (foresight.kind == ForesightKind::Reactive).then_some(SILENCE);
}

/// The end that acts; `None` if no end foresees handovers.
pub(crate) fn acts(foresight: &Foresight) -> Option<WhoActs> {
    match foresight.kind {
        ForesightKind::Off | ForesightKind::Reactive => None,
        ForesightKind::PhaD => Some(WhoActs::Client),
        ForesightKind::Pha | ForesightKind::Oracle => Some(WhoActs::Server),
    }
}

/// Keeps data off paths as the train of `ride` comes to handovers, forever. `ends` are the train's
/// addresses, path by path.
pub(crate) async fn follow(
    foresight: Foresight,
    drive: Following,
    client: PathControl,
    server: PathControl,
) {
    let Some(mut forecast) = forecast(&foresight, drive.ride, &drive.timelines, &drive.seed) else {
        return;
    };
    let mut states: Vec<State> = drive.ends.iter().map(|end| State::new(*end)).collect();
    let mut next = now();
    loop {
        let mut wanted = forecast.at(now(), &drive.timelines);
        spare_one(&mut wanted, &states);
        for (state, avoid) in states.iter_mut().zip(wanted) {
            match foresight.kind {
                ForesightKind::PhaD => state.ask(avoid, &client),
                _ => state.block(avoid, &server),
            }
        }
        next += PERIOD;
        sleep_until(next).await;
    }
}

fn forecast(
    foresight: &Foresight,
    ride: Option<(Arc<Railway>, Ride)>,
    timelines: &[RadioTimeline],
    seed: &Seed,
) -> Option<Forecast> {
    let lead = foresight.lead;
    match foresight.kind {
        ForesightKind::Off | ForesightKind::Reactive => None,
        ForesightKind::Oracle => Some(Forecast::Truth { lead }),
        ForesightKind::Pha | ForesightKind::PhaD => {
            let (railway, ride) = ride?;
            let table = foresight.table(&railway);
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

pub(crate) struct Following {
    pub ride: Option<(Arc<Railway>, Ride)>,
    pub timelines: Vec<RadioTimeline>,
    pub seed: Seed,
    pub ends: Vec<IpAddr>,
}

enum Forecast {
    /// By the estimated position of the train, in a table.
    Table {
        lookups: Vec<Option<Lookup>>,
        receiver: Box<GpsReceiver>,
        ride: Ride,
        lag: Duration,
        lead: Duration,
    },
    /// By the true times.
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

/// If all paths are to be left, one stays: the last one in use.
fn spare_one(wanted: &mut [bool], states: &[State]) {
    if wanted.iter().all(|avoid| *avoid)
        && let Some(in_use) = states.iter().rposition(|state| !state.avoided)
    {
        wanted[in_use] = false;
    }
}

struct State {
    end: IpAddr,
    avoided: bool,
    /// Repeated requests for a path until data arrives on it: how many remain, when the next is
    /// due, and how much had arrived before.
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

    /// Asks the sender to leave the path, or to return; repeated, because a message over a
    /// recovering radio may be lost.
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

/// Interval between lookups of the train's position (the study's).
const PERIOD: Duration = Duration::from_millis(10);

/// Maximum silence of a path for a scheduler that only reacts.
const SILENCE: Duration = Duration::from_millis(150);

const REPEAT_AFTER: Duration = Duration::from_millis(50);
const REPEATS: u32 = 20;

#[cfg(test)]
mod tests;
