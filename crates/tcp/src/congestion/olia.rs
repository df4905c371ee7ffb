//! OLIA, the Opportunistic Linked Increases Algorithm (Khalili et al., "MPTCP Is Not
//! Pareto-Optimal", CoNEXT 2012; draft-khalili-mptcp-congestion-control-05).

use super::coupled::{Law, controller};
use super::coupling::{Company, Credit, GRAIN, Relative, Seat};
use super::{CongestionAlgorithm, Window};

pub(super) static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "olia",
    summary: "coupled growth that moves traffic to the best paths of a connection (Khalili et al. \
              2012)",
    is_coupled: true,
    build: |_, coupling| controller::<Opportunistic>(coupling),
};

#[derive(Debug, Default)]
struct Opportunistic {
    credit: Credit,
    /// l1: segments delivered between the last two losses.
    before: u64,
    /// l2: segments delivered since the last loss.
    since: u64,
}

impl Law for Opportunistic {
    fn delivered(&mut self, segments: u32, seat: &Seat) {
        self.since += u64::from(segments);
        seat.tell_distance(self.before.max(self.since));
    }

    fn grow(&mut self, window: &mut Window, segments: u32, seat: &Seat) {
        self.credit.grow(window, segments, seat, growth);
    }

    fn reduce(&mut self, cwnd: u32, seat: &Seat) -> u32 {
        self.credit.clear();
        self.before = std::mem::take(&mut self.since);
        seat.tell_distance(self.before);
        (cwnd / 2).max(2)
    }
}

/// The growth of the window for one acknowledged segment, in units of [`Credit`]:
/// (w/rtt^2) / (sum w/rtt)^2 + epsilon/w.
fn growth(company: &Company) -> i128 {
    let own = company.own();
    let linked = (own.curve() << GRAIN) / company.rate_squared();
    let (share, of) = epsilon(company);
    linked as i128 + (share << GRAIN) / (of * own.cwnd.max(1) as i128)
}

/// The term that moves traffic, as a fraction: from the paths with the largest windows to the best
/// paths without one.
///
/// The best paths are those on which Reno would be fastest, sqrt(2 l)/rtt by the square-root law:
/// the largest l/rtt^2, as in the kernel; the draft writes l^2/rtt.
fn epsilon(company: &Company) -> (i128, i128) {
    let count = |set: &dyn Fn(&Relative) -> bool| {
        company.members.iter().filter(|member| set(member)).count() as i128
    };
    let quality = |member: &Relative| member.distance * member.speed * member.speed;
    let best = company.members.iter().map(quality).max().unwrap_or(0);
    let widest = company.members.iter().map(|member| member.cwnd).max().unwrap_or(0);
    let is_best = |member: &Relative| quality(member) == best;
    let is_widest = |member: &Relative| member.cwnd == widest;
    let collected = |member: &Relative| is_best(member) && !is_widest(member);
    let (own, all) = (company.own(), company.members.len() as i128);
    match count(&collected) {
        0 => (0, 1),
        collecting if collected(&own) => (1, all * collecting),
        _ if is_widest(&own) => (-1, all * count(&is_widest)),
        _ => (0, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trackbed_core::Time;

    use super::*;
    use crate::congestion::coupling::{Coupling, SCALE};
    use crate::congestion::{Acked, HyStart};

    /// Subflows of a window, a round-trip time as a multiple of the least, and a distance.
    fn company(subflows: &[(u128, u128, u128)]) -> Company {
        let relate = |&(cwnd, rtt, distance): &(u128, u128, u128)| Relative {
            cwnd,
            speed: (1 << SCALE) / rtt,
            distance,
        };
        Company { members: subflows.iter().map(relate).collect() }
    }

    #[track_caller]
    fn assert_growth(subflows: &[(u128, u128, u128)], expected: f64) {
        let got = growth(&company(subflows)) as f64 / (1u64 << GRAIN) as f64;
        assert!((got - expected).abs() < 1e-6, "{got} for {expected}");
    }

    #[test]
    fn alone_it_is_reno() {
        assert_growth(&[(10, 1, 5)], 0.1);
    }

    #[test]
    fn equal_paths_share_the_growth() {
        // (10/1) / (20)^2, and no epsilon: the best paths are the widest.
        assert_growth(&[(10, 1, 100), (10, 1, 100)], 0.025);
    }

    #[test]
    fn the_best_path_gains_what_the_widest_loses() {
        // N = 2, one best path that is not widest, one widest: epsilon = +1/2 and -1/2.
        // Best: 10/30^2 + 1/(2*10) = 0.011111 + 0.05. Widest: 20/30^2 - 1/(2*20) = -0.002778.
        assert_growth(&[(10, 1, 400), (20, 1, 100)], 10.0 / 900.0 + 0.05);
        assert_growth(&[(20, 1, 100), (10, 1, 400)], 20.0 / 900.0 - 0.025);
        // A third path, neither best nor widest, has no epsilon: 5/35^2.
        assert_growth(&[(5, 1, 1), (20, 1, 100), (10, 1, 400)], 5.0 / 1225.0);
    }

    #[test]
    fn the_quality_of_a_path_weighs_its_round_trip_time_twice() {
        // l/rtt^2: 300 against 1000/4 = 250: the first is best and widest, so that no epsilon.
        // Linked: 20/(20 + 10/2)^2 = 0.032.
        assert_growth(&[(20, 1, 300), (10, 2, 1000)], 0.032);
        // 1300/4 = 325: the second is best and narrower: (20)/(25)^2 - 1/(2*20).
        assert_growth(&[(20, 1, 300), (10, 2, 1300)], 0.032 - 0.025);
    }

    #[test]
    fn the_distance_is_the_longer_of_the_last_two() {
        let coupling = Coupling::default();
        let mut controller = (ENTRY.build)(HyStart::Linux, &coupling);
        let mut window = Window::new(10);
        let srtt = Duration::from_millis(10);
        let acked = |segments| Acked { segments, srtt, ..Acked::default() };
        let watcher = coupling.sit();
        watcher.tell(1, srtt);
        let distance = || watcher.company().unwrap().members[1].distance;
        controller.on_ack(&mut window, &acked(7));
        assert_eq!(distance(), 7);
        controller.on_congestion(&window, Time::ZERO);
        controller.on_ack(&mut window, &acked(3));
        assert_eq!(distance(), 7);
        controller.on_ack(&mut window, &acked(6));
        assert_eq!(distance(), 9);
        controller.on_congestion(&window, Time::ZERO);
        controller.on_congestion(&window, Time::ZERO);
        assert_eq!(distance(), 0);
    }
}
