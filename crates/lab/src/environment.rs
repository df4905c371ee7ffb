//! The environment of a cell in a run: its course, and the links below it.

use std::mem;
use std::time::Duration;

use trackbed_core::{Seed, Time};
use trackbed_net::models::Delay;
use trackbed_net::models::delay::Timetable;
use trackbed_workloads::environment::Course;

use trackbed_scenario::{Cell, NetworkPlan};

/// How long the environment waits for the warm-up of resumed sessions, in virtual time, where
/// waiting costs nothing.
pub(crate) const VIRTUAL_LEAD: Duration = Duration::from_secs(600);

/// The same in real time: enough for a handshake, an exchange and tickets with round trips of a
/// second.
pub(crate) const REAL_LEAD: Duration = Duration::from_secs(15);

/// The environment's changes in the run of `cell` with this seed. It begins with the run, or `lead`
/// later if sessions are warmed up first: the measured part then begins at a fixed time, however
/// long the warm-up takes.
pub(crate) fn course(cell: &Cell, seed: &Seed, lead: Duration) -> Course {
    let reconnect = cell.environment.reconnect();
    if cell.environment.is_still() {
        return Course::default().reconnecting(reconnect);
    }
    let begin = if cell.endpoint.handshake.begins_warm() { Time::ZERO + lead } else { Time::ZERO };
    Course::new(begin, cell.environment.timeline(seed)).reconnecting(reconnect)
}

/// The network of `cell` with the delays of `course` on its shared link, in both directions.
pub(crate) fn under(cell: &Cell, course: &Course) -> NetworkPlan {
    let mut plan = cell.network.clone();
    let delays: Vec<(Time, Duration)> = course.delays().collect();
    if !delays.is_empty() {
        let law = Timetable::new(delays).expect("a timeline's delays hold from the start on");
        let delay = match cell.environment.lets_packets_overtake() {
            true => Delay::new(law).with_overtaking(),
            false => Delay::new(law),
        };
        let link = &mut plan.paths[0];
        link.up = mem::take(&mut link.up).with(delay.clone());
        link.down = mem::take(&mut link.down).with(delay);
    }
    plan
}

#[cfg(test)]
mod tests;
