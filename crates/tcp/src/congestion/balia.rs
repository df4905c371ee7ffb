//! BALIA, the Balanced Linked Adaptation (Peng, Walid, Hwang and Low, "Multipath TCP: Analysis,
//! Design, and Implementation", IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04).

use super::coupled::{Law, controller};
use super::coupling::{Company, Credit, GRAIN, Seat};
use super::{CongestionAlgorithm, Window};

pub(super) static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "balia",
    summary: "coupled growth, balanced between fairness and responsiveness (Peng et al. 2016)",
    is_coupled: true,
    build: |_, coupling| controller::<Balanced>(coupling),
};

#[derive(Debug, Default)]
struct Balanced {
    credit: Credit,
}

impl Law for Balanced {
    fn grow(&mut self, window: &mut Window, segments: u32, seat: &Seat) {
        self.credit.grow(window, segments, seat, growth);
    }

    fn reduce(&mut self, cwnd: u32, seat: &Seat) -> u32 {
        self.credit.clear();
        seat.tell_window(cwnd);
        seat.company().map_or(cwnd / 2, |company| reduced(&company)).max(1)
    }
}

/// The growth of the window for one acknowledged segment, in units of [`Credit`]:
/// (x/rtt) / (sum x)^2 (1 + a)/2 (4 + a)/5 with x = w/rtt and a = max x / x.
fn growth(company: &Company) -> i128 {
    let a = disparity(company);
    let linked = (company.own().curve() << GRAIN) / company.rate_squared();
    let bent = (ONE + a) * (4 * ONE + a) / (10 * ONE);
    i128::try_from(linked.saturating_mul(bent) / ONE).unwrap_or(i128::MAX >> GRAIN)
}

/// The window after a loss: w - (w/2) min(a, 1.5).
fn reduced(company: &Company) -> u32 {
    let cwnd = company.own().cwnd;
    let reduction = cwnd * disparity(company).min(ONE + ONE / 2) / (2 * ONE);
    u32::try_from(cwnd - reduction).unwrap_or(u32::MAX)
}

/// a = max x / x, in units of 1/[`ONE`].
fn disparity(company: &Company) -> u128 {
    let fastest = company.members.iter().map(|member| member.rate()).max().unwrap_or(0);
    (fastest * ONE / company.own().rate().max(1)).min(MOST)
}

const ONE: u128 = 1 << 16;
/// So that the square of a with growth fits in 128 bits; a subflow a million times slower than
/// another does not matter.
const MOST: u128 = ONE << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::coupling::{Relative, SCALE};

    fn company(subflows: &[(u128, u128)]) -> Company {
        let relate =
            |&(cwnd, rtt): &(u128, u128)| Relative { cwnd, speed: (1 << SCALE) / rtt, distance: 0 };
        Company { members: subflows.iter().map(relate).collect() }
    }

    #[track_caller]
    fn assert_growth(subflows: &[(u128, u128)], expected: f64) {
        let got = growth(&company(subflows)) as f64 / (1u64 << GRAIN) as f64;
        assert!((got / expected - 1.0).abs() < 1e-4, "{got} for {expected}");
    }

    #[test]
    fn alone_it_is_reno() {
        assert_growth(&[(16, 1)], 1.0 / 16.0);
        assert_eq!(reduced(&company(&[(16, 1)])), 8);
    }

    #[test]
    fn equal_paths_share_the_growth() {
        // x = 10 each, a = 1: 10 / 20^2.
        assert_growth(&[(10, 1), (10, 1)], 0.025);
    }

    #[test]
    fn the_slower_path_grows_and_shrinks_more() {
        // x = 20 and 10; of the second a = 2: (10/30^2) (3/2) (6/5) = 0.02.
        assert_growth(&[(10, 1), (20, 1)], 0.02);
        assert_growth(&[(20, 1), (10, 1)], 20.0 / 900.0);
        // Its loss: 10 - 5 min(2, 1.5) = 2.5, rounded as 10 - 7.
        assert_eq!(reduced(&company(&[(10, 1), (20, 1)])), 3);
        assert_eq!(reduced(&company(&[(20, 1), (10, 1)])), 10);
        // Twice the round-trip time: x = 20 and 5, a = 4: (10/4) / 25^2 (5/2) (8/5) = 0.016.
        assert_growth(&[(10, 2), (20, 1)], 0.016);
    }

    #[test]
    fn absurd_windows_do_not_overflow() {
        let most = u128::from(u32::MAX);
        growth(&company(&[(most, 1), (most, 1 << 20)]));
        growth(&company(&[(1, 1 << 20), (most, 1)]));
        assert!(reduced(&company(&[(1, 1 << 20), (most, 1)])) >= 1);
    }
}
