//! The clients of a run: the members of its groups, when each begins, and which phones are its own.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Rng, Seed};
use trackbed_net::{Direction, Stage};
use trackbed_scenario::{Arrivals, Cell, NetworkPlan, Schedule};

use crate::topology::{Clients, Ends, Phones, Track};

/// One that runs a workload by itself, with a server, a log and random numbers of its own. A scenario
/// without groups has one.
pub(crate) struct Member {
    /// The cell of its group.
    pub cell: Arc<Cell>,
    pub seed: Seed,
    /// The number of its first phone.
    pub first: u32,
    /// Whether its phones are its own, and not another member's.
    pub has_phones: bool,
    /// Added to the port of its server.
    pub port: u16,
    pub begin: Duration,
    /// When it is cut off, if it still runs.
    pub stop: Option<Duration>,
    /// In failures; empty without groups.
    pub name: String,
}

impl Member {
    /// The members of all groups of `cell`, in the order of the file.
    pub fn all(cell: &Cell, seed: &Seed) -> Vec<Member> {
        if cell.place.is_none() {
            return vec![Member {
                cell: Arc::new(cell.clone()),
                seed: *seed,
                first: 0,
                has_phones: true,
                port: 0,
                begin: Duration::ZERO,
                stop: None,
                name: String::new(),
            }];
        }
        let (mut members, mut next): (Vec<Member>, u32) = (Vec::new(), 0);
        for group in cell.groups() {
            let Some(place) = group.place.clone() else { continue };
            let seed = seed.child(&format!("group/{}", place.name));
            let begins = begins(&place.schedule, seed.stream("arrivals"));
            let is_host = |member: &&Member| Some(member.group()) == place.schedule.on.as_deref();
            let hosts: Vec<u32> = members.iter().filter(is_host).map(|one| one.first).collect();
            let group = Arc::new(group);
            for (number, begin) in begins.into_iter().enumerate() {
                // The phones of an empty group are its own.
                let host = hosts.get(number % hosts.len().max(1)).copied();
                members.push(Member {
                    seed: seed.child(&number.to_string()),
                    first: host.unwrap_or(next),
                    has_phones: host.is_none(),
                    port: members.len() as u16,
                    begin,
                    stop: place.schedule.stop,
                    name: format!("{} {number}", place.name),
                    cell: Arc::clone(&group),
                });
                next += if host.is_none() { group.workload.phones() } else { 0 };
            }
        }
        members
    }

    /// The name of its group; empty without groups.
    pub fn group(&self) -> &str {
        self.cell.place.as_ref().map_or("", |place| &place.name)
    }
}

/// The phones of all members, in their order.
pub(crate) fn clients(members: &[Member]) -> Clients<'_> {
    let phones = members.iter().filter(|member| member.has_phones).map(|member| Phones {
        count: member.cell.workload.phones(),
        access: member.cell.network.access.as_ref(),
        priority: member.cell.place.as_ref().map_or(1, |place| place.schedule.priority),
    });
    let networks = members.iter().map(|member| member.cell.networks()).max();
    Clients { networks: networks.unwrap_or(1), phones: phones.collect() }
}

/// The network of `plan` for the phones of all members. The load of the link that groups share is measured.
pub(crate) fn track(plan: &NetworkPlan, members: &[Member], seed: &Seed, ends: Ends) -> Track {
    let mut track = Track::build(plan, &clients(members), seed, ends);
    let is_shared = members.iter().any(|member| member.cell.place.is_some());
    // Counters see neither the packets of a background nor the time of a pause.
    let models = [&plan.link().up, &plan.link().down].into_iter().flat_map(|way| way.models());
    let is_seen = models
        .map(|model| model.stage())
        .all(|stage| !matches!(stage, Stage::Background | Stage::Pause));
    if let Some([up, down]) = plan.link().rates.filter(|_| is_shared && is_seen) {
        track.network.measure_load(track.links[0], Direction::Forward, up);
        track.network.measure_load(track.links[0], Direction::Backward, down);
    }
    track
}

/// When the members of a group begin, in their order.
fn begins(schedule: &Schedule, mut draws: Rng) -> Vec<Duration> {
    let Schedule { count, start, every, arrivals, .. } = *schedule;
    let (mut at, span) = (start, every * count);
    let mut begin = |number: u32| match arrivals {
        Arrivals::Fixed => start + every * number,
        Arrivals::Uniform => start + span.mul_f64(draws.unit()),
        Arrivals::Poisson => {
            let now = at;
            at += every.mul_f64(draws.exponential());
            now
        }
    };
    (0..count).map(&mut begin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_begin_as_their_schedule_says() {
        let of = |arrivals| {
            let every = Duration::from_millis(100);
            let schedule = Schedule {
                count: 2_000,
                start: Duration::from_secs(1),
                every,
                arrivals,
                ..Schedule::default()
            };
            let begins = begins(&schedule, Seed::of_run(1, 0).stream("arrivals"));
            begins.into_iter().map(|begin| begin.as_secs_f64()).collect::<Vec<_>>()
        };
        assert_eq!(of(Arrivals::Fixed)[..3], [1.0, 1.1, 1.2]);
        let uniform = of(Arrivals::Uniform);
        let mean = uniform.iter().sum::<f64>() / 2_000.0;
        assert!((mean - 101.0).abs() < 5.0 && uniform.iter().all(|at| (1.0..201.0).contains(at)));
        let poisson = of(Arrivals::Poisson);
        let gaps: Vec<f64> = poisson.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(poisson[0] == 1.0 && (mean - 0.1).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.1, "an exponential law: {variance}");
    }
}
