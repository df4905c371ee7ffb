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

/// The limb `number` of an integer, with all that is above it.
fn limb(integer: &BigUint, number: usize) -> u32 {
    u32::try_from(integer >> (BITS * number)).expect("below 2^260")
}

/// Integers below `factor` times p. Limbs are zero or `greatest`; the last one is zero or the greatest
/// that there may be. At the end stands the greatest integer.
fn edges(greatest: u32, factor: u32) -> Vec<Limbs> {
    let (all, last) = ((1 << LIMBS) - 1, times_p(factor) - 1u32);
    let single = (0..LIMBS).flat_map(|i| [1 << i, all ^ 1 << i]);
    let mut edges: Vec<Limbs> = single
        .chain([0, all, 0b01_0101_0101])
        .map(|which: u32| {
            let mut limbs = std::array::from_fn(|i| (which >> i & 1) * greatest);
            limbs[LIMBS - 1] = 0;
            let room = limb(&(&last - value(&limbs)), LIMBS - 1);
            limbs[LIMBS - 1] = (which >> (LIMBS - 1)) * room;
            limbs
        })
        .collect();
    edges.push(std::array::from_fn(|i| {
        limb(&(&last % (BigUint::from(1u32) << (BITS * (i + 1)))), i)
    }));
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

#[test]
fn zeros_are_multiples_of_p() {
    for factor in 0..16 {
        for more in [0u32, 1] {
            let integer = times_p(factor) + more;
            let low = |i| &integer % (BigUint::from(1u32) << (BITS * (i + 1)));
            let limbs: Limbs = std::array::from_fn(|i| limb(&low(i), i));
            assert_eq!(wide::Vector::zeros(&vector(&[limbs; 8])), if more == 0 { 0xff } else { 0 });
        }
    }
}
