//! Sequence numbers that wrap at 2^32 (RFC 9293 section 3.4).

use std::ops::{Add, AddAssign, Sub};

/// A sequence number. Numbers less than 2^31 apart compare by their place on the circle, so there
/// is no `Ord`: the order of three numbers need not be transitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// True if `self` lies before `other`.
    pub const fn before(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// True if `self` is after `other`.
    pub const fn after(self, other: Seq) -> bool {
        other.before(self)
    }

    /// How far `self` is after `earlier`; zero if it is before.
    pub const fn since(self, earlier: Seq) -> u32 {
        if self.before(earlier) { 0 } else { self.0.wrapping_sub(earlier.0) }
    }

    /// The later of two numbers.
    pub const fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }

    /// The earlier of two numbers.
    pub const fn min(self, other: Seq) -> Seq {
        if self.before(other) { self } else { other }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;

    fn add(self, bytes: u32) -> Seq {
        Seq(self.0.wrapping_add(bytes))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;

    fn sub(self, bytes: u32) -> Seq {
        Seq(self.0.wrapping_sub(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let (low, high) = (Seq(u32::MAX - 1), Seq(3));
        assert!(low.before(high) && high.after(low) && !low.after(low));
        assert_eq!(low + 5, high);
        assert_eq!(high - 5, low);
        assert_eq!((high.since(low), low.since(high)), (5, 0));
        assert_eq!((low.max(high), low.min(high)), (high, low));
    }
}
