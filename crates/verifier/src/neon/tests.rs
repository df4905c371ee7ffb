//! Limbs at the bounds of each operation against big integers.

use num_bigint::BigUint;

use super::vector::{BITS, LIMB, LIMBS, Vector};
use crate::wide::{self, PRIME};

type Limbs = [u32; LIMBS];

/// `factor` times p.
fn times_p(factor: u32) -> BigUint {
    let p = PRIME.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52u32) + limb);
    p * factor
}

fn value(limbs: &Limbs) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << BITS) + limb)
}

/// Integers below `factor` times p, whose limbs are zero or `greatest`, the last one zero or the
/// greatest that there may be; with the greatest integer at the end.
fn edges(greatest: u32, factor: u32) -> Vec<Limbs> {
    let last = times_p(factor) - 1u32;
    let top = |rest: &BigUint| u32::try_from(rest >> (BITS * (LIMBS - 1))).expect("below 2^260");
    let single = (0..LIMBS).flat_map(|i| [1 << i, 0x3ff ^ 1 << i]);
    let limbs = |which: u32| {
        let mut limbs: Limbs = std::array::from_fn(|i| (which >> i & 1) * greatest);
        limbs[LIMBS - 1] = 0;
        limbs[LIMBS - 1] = (which >> (LIMBS - 1)) * top(&(&last - value(&limbs)));
        limbs
    };
    let mut edges: Vec<Limbs> = single.chain([0, 0x3ff, 0x155]).map(limbs).collect();
    let words = last.iter_u32_digits().collect::<Vec<u32>>();
    let bit = |bit: usize| words.get(bit / 32).map_or(0, |word| word >> (bit % 32) & 1);
    edges.push(std::array::from_fn(|i| (0..BITS).map(|k| bit(BITS * i + k) << k).sum()));
    edges
}

fn vector(limbs: &[Limbs]) -> Vector {
    let half = |half: usize| {
        std::array::from_fn(|i| {
            super::lanes::words(std::array::from_fn(|k| limbs[4 * half + k][i]))
        })
    };
    Vector([half(0), half(1)])
}

/// Asserts of all pairs that the result is `expected` modulo p and not above `factor` times p, with all
/// limbs but the last up to `greatest`.
fn check(
    (a, b): (&[Limbs], &[Limbs]),
    ours: impl Fn(&Vector, &Vector) -> Vector,
    expected: impl Fn(BigUint, BigUint) -> BigUint,
    (factor, greatest): (u32, u32),
) {
    let mut b = b.to_vec();
    for _ in 0..b.len() {
        b.rotate_left(1);
        for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
            let halves = ours(&vector(a), &vector(b)).limbs();
            for lane in 0..8 {
                let result: Limbs = halves[lane / 4].map(|limb| limb[lane % 4]);
                let expected = expected(value(&a[lane]), value(&b[lane])) % times_p(1);
                assert_eq!(value(&result) % times_p(1), expected, "{:x?} {:x?}", a[lane], b[lane]);
                assert!(value(&result) <= times_p(factor), "{:x?} {:x?}", a[lane], b[lane]);
                assert!(result[..LIMBS - 1].iter().all(|limb| *limb <= greatest), "{result:x?}");
            }
        }
    }
}

#[test]
fn products_hold_at_the_bounds_of_limbs() {
    let p = times_p(1);
    let inverse = (BigUint::from(1u32) << 260u32).modpow(&(&p - 2u32), &p);
    let edges = edges((1 << 30) - 1, 16);
    let (pairs, bounds) = ((&edges[..], &edges[..]), (17, LIMB));
    check(pairs, wide::Vector::multiply, |a, b| a * b * &inverse, bounds);
    check(pairs, |a, _| wide::Vector::square(a), |a, _| &a * &a * &inverse, bounds);
}

#[test]
fn differences_hold_at_the_bounds_of_limbs() {
    let expected = |a, b| a + times_p(16) - b;
    let (small, twice) = (edges(LIMB, 2), edges(2 * LIMB, 2));
    let bounds = |factor| (factor, LIMB + (1 << 27) + (1 << 26));
    check((&small, &twice), wide::Vector::subtract::<2>, expected, bounds(5));
    check((&small, &edges(2 * LIMB, 12)), wide::Vector::subtract::<12>, expected, bounds(15));
    check(
        (&small, &small),
        |_, b| wide::Vector::negate_where(b, 0xff),
        |_, b| times_p(2) - b,
        (2, LIMB),
    );
    let both = |a: &Vector, b: &Vector| wide::Vector::subtract_both::<12>(a, b, b);
    let pairs = (edges((1 << 31) - 1, 3), edges((1 << 29) - (1 << 3), 6));
    check((&pairs.0, &pairs.1), both, |a, b| a + times_p(12) - &b - &b, (2, LIMB));
    let tidy = edges(u32::MAX - (1 << 6), 16);
    check((&tidy, &tidy), |a, _| wide::Vector::tidy(a), |a, _| a, (2, LIMB));
}
