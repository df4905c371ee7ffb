//! The state that the controllers of a multipath connection share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trackbed_core::time::nanos;

use super::window::Window;

/// The state that the subflows of one connection share: a handle, of which every subflow's
/// controller holds a clone (see [`build`](super::CongestionAlgorithm::build)).
///
/// A subflow counts from its first round-trip time on, with the window that it had at its last
/// acknowledgment or loss, until its controller is dropped.
#[derive(Clone, Debug, Default)]
pub struct Coupling(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    members: BTreeMap<u64, Member>,
    joined: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    /// The congestion window in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time in nanoseconds; zero before the first sample.
    pub rtt_ns: u64,
    /// Segments delivered between the last two losses, or since the last one, whichever is more.
    pub distance: u64,
}

/// A subflow's entry; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    coupling: Coupling,
    number: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Company {
    /// The calling subflow comes first.
    pub members: Vec<Relative>,
}

/// A subflow, with its round-trip time in relation to the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relative {
    /// The congestion window w in segments.
    pub cwnd: u128,
    /// 1/rtt in units of 2^-[`SCALE`] of the largest 1/rtt of the company.
    pub speed: u128,
    /// See [`Member::distance`].
    pub distance: u128,
}

impl Coupling {
    pub(super) fn sit(&self) -> Seat {
        let number = self.with(|shared| {
            shared.joined += 1;
            shared.members.insert(shared.joined, Member::default());
            shared.joined
        });
        Seat { coupling: self.clone(), number }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Shared) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Seat {
    /// Adds this subflow.
    pub fn tell(&self, cwnd: u32, srtt: Duration) {
        self.update(|member| {
            member.cwnd = cwnd;
            member.rtt_ns = nanos(srtt);
        });
    }

    /// Shares the new window of `cwnd` segments.
    pub fn tell_window(&self, cwnd: u32) {
        self.update(|member| member.cwnd = cwnd);
    }

    /// Shares [`Member::distance`].
    pub fn tell_distance(&self, segments: u64) {
        self.update(|member| member.distance = segments);
    }

    /// The subflows that currently count; `None` if this one does not yet.
    pub fn company(&self) -> Option<Company> {
        self.coupling.with(|shared| {
            let own = shared.members.get(&self.number).filter(|own| own.counts())?;
            let others = shared.members.iter().filter(|(number, _)| **number != self.number);
            let counting = others.map(|(_, other)| other).filter(|other| other.counts());
            let members: Vec<Member> = std::iter::once(own).chain(counting).copied().collect();
            let rtt_min = members.iter().map(|member| member.rtt_ns).min()?;
            let relate = |member: &Member| Relative {
                cwnd: member.cwnd.into(),
                speed: (u128::from(rtt_min) << SCALE) / u128::from(member.rtt_ns),
                distance: member.distance.into(),
            };
            Some(Company { members: members.iter().map(relate).collect() })
        })
    }

    fn update(&self, change: impl FnOnce(&mut Member)) {
        self.coupling.with(|shared| change(shared.members.entry(self.number).or_default()));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.coupling.with(|shared| shared.members.remove(&self.number));
    }
}

impl Member {
    fn counts(&self) -> bool {
        self.rtt_ns > 0 && self.cwnd > 0
    }
}

impl Company {
    /// The calling subflow.
    pub fn own(&self) -> Relative {
        self.members[0]
    }

    /// (sum w/rtt)^2, in the units of [`Relative::curve`].
    pub fn rate_squared(&self) -> u128 {
        let rate: u128 = self.members.iter().map(Relative::rate).sum();
        (rate * rate).max(1)
    }
}

impl Relative {
    /// w/rtt.
    pub fn rate(&self) -> u128 {
        self.cwnd * self.speed
    }

    /// w/rtt^2.
    pub fn curve(&self) -> u128 {
        self.cwnd * self.speed * self.speed
    }
}

/// Accumulated growth below one segment, in units of 2^-[`GRAIN`] segments.
#[derive(Debug, Default)]
pub(super) struct Credit(i128);

impl Credit {
    /// Grows by `growth` for each acknowledged segment, or as Reno before the subflow counts.
    pub fn grow(
        &mut self,
        window: &mut Window,
        segments: u32,
        seat: &Seat,
        growth: fn(&Company) -> i128,
    ) {
        let alone = || (1i128 << GRAIN) / i128::from(window.cwnd.max(1));
        let growth = seat.company().map_or_else(alone, |company| growth(&company));
        self.add(window, growth * i128::from(segments));
    }

    /// Adds to the window, or takes from it, down to one segment.
    pub fn add(&mut self, window: &mut Window, growth: i128) {
        self.0 += growth;
        let whole = self.0 / (1 << GRAIN);
        self.0 -= whole << GRAIN;
        let cwnd = (i128::from(window.cwnd) + whole).clamp(1, u32::MAX.into());
        window.cwnd = cwnd as u32;
    }

    /// Drops fractions of a segment, at a loss.
    pub fn clear(&mut self) {
        self.0 = 0;
    }
}

/// Bits after the point of [`Relative::speed`]. Windows have 32 bits, so that w/rtt^2, with
/// [`GRAIN`] bits more, fits in 128.
pub(super) const SCALE: u32 = 24;
/// Bits after the point of [`Credit`].
pub(super) const GRAIN: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn a_subflow_counts_from_its_first_round_trip_to_its_end() {
        let coupling = Coupling::default();
        let [first, second] = [coupling.sit(), coupling.sit()];
        first.tell(10, ms(20));
        second.tell_window(10);
        assert_eq!(first.company().unwrap().members.len(), 1);
        assert!(second.company().is_none());
        second.tell(10, ms(80));
        let company = second.company().unwrap();
        // A fourth of the speed, as the one that asks it comes first.
        assert_eq!(
            company.members.iter().map(|m| m.speed).collect::<Vec<_>>(),
            [1 << (SCALE - 2), 1 << SCALE]
        );
        drop(first);
        assert_eq!(second.company().unwrap().members.len(), 1);
    }

    #[test]
    fn credit_becomes_segments_in_both_directions() {
        let mut window = Window::new(2);
        let mut credit = Credit::default();
        let third = (1i128 << GRAIN) / 3 + 1;
        (0..3).for_each(|_| credit.add(&mut window, third));
        assert_eq!(window.cwnd, 3);
        (0..3).for_each(|_| credit.add(&mut window, -third));
        assert_eq!(window.cwnd, 2);
        (0..30).for_each(|_| credit.add(&mut window, -third));
        assert_eq!(window.cwnd, 1);
    }
}
