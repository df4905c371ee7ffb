//! One seed for a run, and named streams of randomness drawn from it.
//!
//! A stream depends only on the seed and its own name. So a new draw in one place shifts nothing
//! elsewhere, and two protocols run with the same seed have the same losses (common random
//! numbers).

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

use crate::units::Ratio;

/// The seed of a run, or of a named part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed of run number `run` under the user's root seed.
    pub fn of_run(root: u64, run: u64) -> Seed {
        let mut hash = Sha256::new();
        hash.update(b"trackbed run");
        hash.update(root.to_le_bytes());
        hash.update(run.to_le_bytes());
        Seed(hash.finalize().into())
    }

    /// The seed of the part called `name`, for example `link/uplink`.
    pub fn child(&self, name: &str) -> Seed {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(name.as_bytes());
        Seed(hash.finalize().into())
    }

    /// The stream of random numbers called `name`, for example `link/uplink/loss`.
    pub fn stream(&self, name: &str) -> Rng {
        Rng(ChaCha8Rng::from_seed(self.child(name).0))
    }

    /// The 32 bytes, for a component that takes a seed.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// A stream of random numbers (ChaCha8), the same on every machine and in every build: logarithm
/// and cosine are `libm`'s, because those of the platform may differ in the last bit.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// A uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills `bytes` with uniform random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// A stream that is independent of what this one draws from now on.
    #[must_use]
    pub fn split(&mut self) -> Rng {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        Rng(ChaCha8Rng::from_seed(seed))
    }

    /// The stream with a number, from 1 on, independent of the others and of this one. To be called on
    /// a stream that has no number itself.
    #[must_use]
    pub fn numbered(&self, number: u64) -> Rng {
        let mut stream = self.0.clone();
        stream.set_word_pos(0);
        stream.set_stream(number);
        Rng(stream)
    }

    /// True with probability `ratio`. Always draws exactly once, so that a changed probability
    /// does not shift the draws after it.
    pub fn chance(&mut self, ratio: Ratio) -> bool {
        ratio.covers(self.next_u64())
    }

    /// A uniform number in `0..bound`, without bias (Lemire's method, up to 2^-64).
    ///
    /// # Panics
    /// If `bound` is zero: there is no such number.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "the bound must not be zero");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform duration in `[low, high]`; `low` if the ends are swapped.
    pub fn span(&mut self, low: Duration, high: Duration) -> Duration {
        let width = u64::try_from(high.saturating_sub(low).as_nanos()).unwrap_or(u64::MAX);
        low + Duration::from_nanos(self.below(width.saturating_add(1).max(1)))
    }

    /// A standard normal number (Box-Muller, one of the pair, so every call draws exactly twice).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// An exponential number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let seed = Seed::of_run(1, 0);
        let first = seed.stream("link/uplink/loss").next_u64();
        let _ = seed.stream("link/downlink/loss").next_u64();
        assert_eq!(seed.stream("link/uplink/loss").next_u64(), first);
        assert_ne!(seed.stream("link/downlink/loss").next_u64(), first);
        assert_ne!(Seed::of_run(2, 0).stream("link/uplink/loss").next_u64(), first);
        assert_ne!(Seed::of_run(1, 1).stream("link/uplink/loss").next_u64(), first);
    }

    #[test]
    fn draws_have_the_moments_they_claim() {
        let mut rng = Seed::of_run(7, 0).stream("moments");
        let n = 200_000;
        let (mut sum, mut squares, mut exponential, mut hits) = (0.0, 0.0, 0.0, 0u32);
        let tenth = Ratio::from_parts(1, 10);
        for _ in 0..n {
            let x = rng.normal();
            sum += x;
            squares += x * x;
            exponential += rng.exponential();
            hits += u32::from(rng.chance(tenth));
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.01);
        assert!((squares / n - 1.0).abs() < 0.02);
        assert!((exponential / n - 1.0).abs() < 0.02);
        assert!((f64::from(hits) / n - 0.1).abs() < 0.003);
    }

    #[test]
    fn below_reaches_both_ends_and_no_further() {
        let mut rng = Seed::of_run(3, 0).stream("below");
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| rng.below(5)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
