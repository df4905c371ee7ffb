//! Foreseen handovers during a run: data is kept off a path before it stops.

use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_protocols::PathControl;
use trackbed_railway::motion::GpsReceiver;
use trackbed_railway::phad::{Controller, Flag, Settings, Sighting};
use trackbed_railway::radio::{Handover, RadioTimeline};
use trackbed_scenario::{Drive, Foresight, ForesightKind, Journey};
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
    multipath.proactive = acts(foresight) == Some(WhoActs::Server);
    multipath.reactive = foresight.kind == ForesightKind::Reactive;
}

/// The end that acts; `None` if no end foresees or notices handovers.
pub(crate) fn acts(foresight: &Foresight) -> Option<WhoActs> {
    match foresight.kind {
        ForesightKind::Off => None,
        ForesightKind::PhaD => Some(WhoActs::Client),
        ForesightKind::Pha | ForesightKind::Oracle | ForesightKind::Reactive => {
            Some(WhoActs::Server)
        }
    }
}

/// Keeps data off paths as the train of `drive` comes to handovers, forever. `ends` are the train's
/// addresses, path by path.
pub(crate) async fn follow(
    foresight: Foresight,
    drive: Drive,
    ends: Vec<IpAddr>,
    (client, server): (PathControl, PathControl),
) {
    let Drive { journey, seed, timelines } = drive;
    let watch = journey.map(|journey| {
        let receiver = GpsReceiver::new(journey.gps, &seed);
        Watch { receiver, journey }
    });
    let mut pilot = match (foresight.kind, watch) {
        (ForesightKind::PhaD, Some(watch)) => {
            let settings = Settings { lead: foresight.lead, ..Settings::default() };
            Pilot::Train(Box::new((watch, Controller::new(settings, ends.len()))))
        }
        (ForesightKind::Pha, Some(watch)) => Pilot::Sender(Forecast::Table(Box::new(watch))),
        (ForesightKind::Oracle, _) => {
            Pilot::Sender(Forecast::truth(&timelines, |handover| handover.disturbed))
        }
        // The modem notices the command, and data flowing again.
        (ForesightKind::Reactive, _) => {
            Pilot::Sender(Forecast::truth(&timelines, |handover| (handover.command, handover.end)))
        }
        _ => return,
    };
    let (mut avoided, mut next) = (vec![false; ends.len()], now());
    loop {
        match &mut pilot {
            Pilot::Train(pilot) => steer(&mut pilot.1, &mut pilot.0, &ends, &client),
            Pilot::Sender(forecast) => {
                let mut wanted = forecast.at(now(), foresight.lead, ends.len());
                spare_one(&mut wanted, &avoided);
                for ((avoided, avoid), end) in avoided.iter_mut().zip(wanted).zip(&ends) {
                    if avoid != *avoided && server.set_path(*end, PathWish::Blocked(avoid)) {
                        *avoided = avoid;
                    }
                }
            }
        }
        next += PERIOD;
        sleep_until(next).await;
    }
}

enum Pilot {
    /// PHA-D, as the router's daemon does it.
    Train(Box<(Watch, Controller)>),
    Sender(Forecast),
}

/// The train's position, as its receiver reports it.
struct Watch {
    receiver: GpsReceiver,
    journey: Journey,
}

enum Forecast {
    /// By the estimated position of the train, in a table.
    Table(Box<Watch>),
    /// By the true times, path by path.
    Truth(Vec<Vec<(Time, Time)>>),
}

impl Forecast {
    fn truth(timelines: &[RadioTimeline], spell: fn(&Handover) -> (Time, Time)) -> Forecast {
        let spells = |one: &RadioTimeline| one.handovers.iter().map(spell).collect();
        Forecast::Truth(timelines.iter().map(spells).collect())
    }

    /// Which of `paths` to avoid.
    fn at(&mut self, now: Time, lead: Duration, paths: usize) -> Vec<bool> {
        match self {
            Forecast::Table(watch) => {
                let Watch { receiver, journey } = &mut **watch;
                let fix = receiver.fix(now, &journey.ride);
                let direction = journey.ride.direction();
                let lag_m = fix.speed_m_s * journey.gps.lag.as_secs_f64();
                let here = fix.chainage_m + direction.sign() * lag_m;
                let lead_m = fix.speed_m_s * lead.as_secs_f64();
                let inside = |path| {
                    let along = direction.sign() * here;
                    let mut ranges = journey.ranges.ranges(path, direction).iter();
                    ranges.any(|range| {
                        let (begin, end) = range.along(direction);
                        begin - along <= lead_m && along <= end
                    })
                };
                (0..paths).map(inside).collect()
            }
            Forecast::Truth(paths) => {
                let is_now = |(from, until): &(Time, Time)| *from <= now + lead && now < *until;
                paths.iter().map(|spells| spells.iter().any(is_now)).collect()
            }
        }
    }
}

/// If all paths are to be left, one stays: the last one in use.
fn spare_one(wanted: &mut [bool], avoided: &[bool]) {
    if wanted.iter().all(|avoid| *avoid)
        && let Some(in_use) = avoided.iter().rposition(|avoided| !avoided)
    {
        wanted[in_use] = false;
    }
}

/// Passes a position and the state of the paths to the router's state machine, and carries out its orders.
fn steer(controller: &mut Controller, watch: &mut Watch, ends: &[IpAddr], client: &PathControl) {
    let now = now();
    let fix = watch.receiver.fix(now, &watch.journey.ride);
    let (age, speed_m_s) = (watch.journey.gps.lag, Some(fix.speed_m_s));
    let sighting =
        Sighting { chainage_m: fix.chainage_m, distance_m: fix.distance_m, speed_m_s, age };
    controller.see(now, sighting);
    let paths = client.paths();
    for (number, end) in ends.iter().enumerate() {
        let own = paths.iter().filter(|path| path.usable && path.local.ip() == *end);
        controller.set_usable(number, own.clone().next().is_some());
        controller.received(number, own.map(|path| path.info.bytes_received).sum());
    }
    controller.advance(now, Some(&watch.journey.ranges));
    while let Some(order) = controller.poll_order() {
        let set = |backup| client.set_path(ends[order.path], PathWish::Backup(backup));
        let done = match order.flag {
            Flag::Set => set(true),
            Flag::Clear => set(false),
            // The kernel tells the sender of changes only.
            Flag::ClearAgain => set(true) & set(false),
        };
        if !done {
            controller.refused(now, order);
        }
    }
}

/// Interval between lookups of the train's position (the study's).
const PERIOD: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
