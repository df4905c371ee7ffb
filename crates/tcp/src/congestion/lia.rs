//! LIA, the Linked Increases Algorithm (RFC 6356).

use super::coupled::{Law, controller};
use super::coupling::Seat;
use super::{CongestionAlgorithm, Window};

pub(super) static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "lia",
    summary: "Reno with growth coupled over the paths of a connection (RFC 6356); on one path, \
              plain Reno",
    is_coupled: true,
    build: |_, coupling| controller::<Linked>(coupling),
};

#[derive(Debug, Default)]
struct Linked;

impl Law for Linked {
    fn grow(&mut self, window: &mut Window, segments: u32, seat: &Seat) {
        window.grow(per(window.cwnd, seat), segments);
    }

    /// RFC 6356 does not change the decrease (section 3).
    fn reduce(&mut self, cwnd: u32, _seat: &Seat) -> u32 {
        (cwnd / 2).max(2)
    }
}

/// Acknowledged segments for which the window grows by one: RFC 6356 section 3 equation 1,
/// min(alpha/W, 1/w), upside down. With alpha from equation 2,
/// W/alpha = (sum w/rtt)^2 / max(w/rtt^2), in which W has gone. Rounded up: a window never
/// grows faster than the RFC says.
fn per(cwnd: u32, seat: &Seat) -> u32 {
    let Some(company) = seat.company() else { return cwnd };
    let best = company.members.iter().map(|member| member.curve()).max().unwrap_or(0);
    let per = company.rate_squared().div_ceil(best.max(1));
    u32::try_from(per).unwrap_or(u32::MAX).max(cwnd)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trackbed_core::Time;

    use super::*;
    use crate::congestion::coupling::Coupling;
    use crate::congestion::{Acked, HyStart, reno};
    use crate::sequence::Seq;

    fn acked(segments: u32, rtt_ms: u64) -> Acked {
        Acked { segments, srtt: Duration::from_millis(rtt_ms), ..Acked::default() }
    }

    fn avoiding(cwnd: u32) -> Window {
        let mut window = Window::new(cwnd);
        window.ssthresh = 1;
        window
    }

    /// How many segments must be acknowledged on the first of `subflows` (window, round-trip time
    /// in ms) for its window to grow by one.
    fn price(subflows: &[(u32, u64)]) -> u32 {
        let coupling = Coupling::default();
        let mut controllers: Vec<_> =
            subflows.iter().map(|_| (ENTRY.build)(HyStart::Linux, &coupling)).collect();
        for (controller, &(cwnd, rtt)) in controllers.iter_mut().zip(subflows) {
            controller.on_rtt(&mut avoiding(cwnd), Duration::ZERO, &acked(0, rtt));
        }
        let (cwnd, rtt) = subflows[0];
        let mut window = avoiding(cwnd);
        let grows = |n: &u32| {
            let _ = n;
            controllers[0].on_ack(&mut window, &acked(1, rtt));
            window.cwnd > cwnd
        };
        (1..10_000).find(grows).unwrap()
    }

    #[test]
    fn growth_is_that_of_the_rfc() {
        // Two equal subflows, w = 10: alpha = 20 (10/rtt^2) / (20/rtt)^2 = 1/2, so that 1/2 for
        // each 20 acknowledged segments: (10 + 10)^2 / 10 = 40.
        assert_eq!(price(&[(10, 50), (10, 50)]), 40);
        // w = 20 at 40 ms, 10 at 80 ms; in units of 1/80 ms: (2 * 20 + 10)^2 / (4 * 20) = 31.25.
        assert_eq!(price(&[(20, 40), (10, 80)]), 32);
        assert_eq!(price(&[(10, 80), (20, 40)]), 32);
        // w = 4 at 200 ms beside 100 at 20 ms: (1000 + 4)^2 / (100 * 100) = 100.8.
        assert_eq!(price(&[(4, 200), (100, 20)]), 101);
        // Never faster than Reno: 1 at 10 ms beside 100 at 1 s: (100 + 100)^2 / 10^4 = 4, but for
        // the larger window 1/w bounds it.
        assert_eq!(price(&[(1, 10), (100, 1_000)]), 4);
        assert_eq!(price(&[(100, 1_000), (1, 10)]), 100);
    }

    #[test]
    fn a_subflow_that_is_gone_counts_no_more() {
        let coupling = Coupling::default();
        let [mut stays, mut goes] = [(); 2].map(|()| (ENTRY.build)(HyStart::Linux, &coupling));
        goes.on_rtt(&mut avoiding(10), Duration::ZERO, &acked(0, 50));
        let mut window = avoiding(10);
        stays.on_ack(&mut window, &acked(39, 50));
        assert_eq!(window.cwnd, 10);
        drop(goes);
        stays.on_ack(&mut window, &acked(1, 50));
        // Credit gathered at the higher price gives one segment, no more (as in Linux).
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn on_one_path_it_is_reno_bit_for_bit() {
        let mut rng = trackbed_core::Seed::of_run(5, 0).stream("lia");
        let mut lia = ((ENTRY.build)(HyStart::Linux, &Coupling::default()), Window::new(10));
        let mut reno = ((reno::ENTRY.build)(HyStart::Linux, &Coupling::default()), Window::new(10));
        for _ in 0..20_000 {
            let event = acked(rng.below(4) as u32, 1 + rng.below(300));
            let kind = rng.below(400);
            for (controller, window) in [&mut lia, &mut reno] {
                controller.on_rtt(window, event.srtt, &event);
                controller.on_ack(window, &event);
                if kind < 2 {
                    window.clear_credit();
                    window.ssthresh = controller.on_congestion(window, event.now);
                    window.cwnd = if kind == 0 { 1 } else { window.ssthresh };
                }
                if kind == 0 {
                    controller.on_timeout(Time::ZERO, Seq(0));
                }
            }
            assert_eq!(lia.1, reno.1);
        }
        assert!(lia.1.ssthresh < Window::INFINITE);
    }
}
