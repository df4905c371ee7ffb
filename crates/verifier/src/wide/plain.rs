//! Signatures by keys without tables, eight at a time: doublings and additions in Jacobian
//! coordinates, in the same steps for all lanes.

use crate::arithmetic::is_zero;
use crate::curve::{Affine, Digit, Entry, Form, Windows, generator};
use crate::job::{Outcome, Scalars};

use super::inverses::invert_all;
use super::points::{JacobianPoints, Points};
use super::tables::compare;
use super::{Mask, Vector};

/// 64 windows with eight odd multiples of the key each.
const WINDOWS: Windows = Windows::new(4);
const MULTIPLES: usize = 8;

#[inline(always)]
pub(crate) fn verify<V: Vector>(
    jobs: &[(Scalars, &Affine)],
    products: &mut Vec<V>,
    outcomes: &mut Vec<Outcome>,
) {
    outcomes.clear();
    for jobs in jobs.chunks(8) {
        verify_eight(jobs, products, outcomes);
    }
}

#[inline(always)]
fn verify_eight<V: Vector>(
    jobs: &[(Scalars, &Affine)],
    products: &mut Vec<V>,
    outcomes: &mut Vec<Outcome>,
) {
    let Some(last) = jobs.len().checked_sub(1) else { return };
    // Lanes beyond the last signature do its work again.
    let of = |lane: usize| &jobs[lane.min(last)];
    let keys: [Entry; 8] = std::array::from_fn(|lane| Entry::new(of(lane).1, Form::Vector));
    let (x, y) = V::load_points(keys.each_ref(), 0);
    let multiples = odd_multiples(&Points { x, y }, products);

    let mut digits = [[Digit { index: 0, is_negative: false }; 8]; WINDOWS.count()];
    let mut failed = 0;
    for lane in 0..8 {
        let scalars = &of(lane).0;
        failed |= Mask::from(is_zero(&scalars.u1)) << lane;
        for (digits, digit) in digits.iter_mut().zip(WINDOWS.digits(&scalars.u2)) {
            digits[lane] = digit;
        }
    }
    let mut windows = digits.iter().rev();
    let Some(first) = windows.next() else { return };
    let mut sums = JacobianPoints::from_affine(&select(&multiples, first));
    for digits in windows {
        for _ in 0..WINDOWS.bits_of(0) {
            sums = sums.double();
        }
        sums = sums.add_different(&select(&multiples, digits));
    }
    sums = add_base(sums, std::array::from_fn(|lane| &of(lane).0));
    compare(jobs, &sums, failed, outcomes);
}

/// The sums plus u1 G of each lane.
#[inline(always)]
fn add_base<V: Vector>(mut sums: JacobianPoints<V>, scalars: [&Scalars; 8]) -> JacobianPoints<V> {
    let table = generator(Form::Vector);
    // A product with zero has no digits; those lanes have failed already.
    let u1 = scalars.map(|of| if is_zero(&of.u1) { [1, 0, 0, 0] } else { of.u1 });
    let mut digits = u1.each_ref().map(|u1| table.windows.digits(u1));
    for window in 0..table.windows.count() {
        let mut negative = 0;
        let offset = table.windows.offset_of(window);
        let mut lane = 0;
        let entries = digits.each_mut().map(|digits| {
            let digit = digits.next().unwrap_or(Digit { index: 0, is_negative: false });
            negative |= Mask::from(digit.is_negative) << lane;
            lane += 1;
            &table.entries[offset + digit.index]
        });
        let (x, y) = V::load_points(entries, negative);
        sums = sums.add_different(&Points { x, y });
    }
    sums
}

/// The multiple of each lane's digit.
#[inline(always)]
fn select<V: Vector>(multiples: &[Points<V>; MULTIPLES], digits: &[Digit; 8]) -> Points<V> {
    let mut masks = [0; MULTIPLES];
    let mut negative = 0;
    for (lane, digit) in digits.iter().enumerate() {
        masks[digit.index] |= 1 << lane;
        negative |= Mask::from(digit.is_negative) << lane;
    }
    let mut points = multiples[0];
    for (multiple, mask) in multiples.iter().zip(masks).skip(1) {
        points.x = points.x.blend(&multiple.x, mask);
        points.y = points.y.blend(&multiple.y, mask);
    }
    points.negate_where(negative)
}

/// The points times 1, 3, 5, ... 15.
#[inline(always)]
fn odd_multiples<V: Vector>(points: &Points<V>, products: &mut Vec<V>) -> [Points<V>; MULTIPLES] {
    // On an isomorphic curve twice the point has Z = 1: the formulae for additions do not know the
    // curve's coefficients, so that they hold there too. Its Z comes in again at the end.
    let double = JacobianPoints::from_affine(points).double();
    let z_square = double.z.square();
    let step = Points { x: double.x, y: double.y };
    let mut multiple = JacobianPoints {
        x: points.x.multiply(&z_square),
        y: points.y.multiply(&z_square.multiply(&double.z)),
        z: V::one(),
    };
    let mut multiples = [multiple; MULTIPLES];
    for place in &mut multiples[1..] {
        multiple = multiple.add_different(&step);
        *place = multiple;
    }
    // None is zero: small multiples of a point of large prime order differ.
    let mut inverses = multiples.map(|multiple| multiple.z);
    for inverse in &mut inverses {
        *inverse = inverse.multiply(&double.z);
    }
    invert_all(&mut inverses, products);
    let mut affine = [step; MULTIPLES];
    for ((affine, multiple), inverse) in affine.iter_mut().zip(&multiples).zip(&inverses) {
        let square = inverse.square();
        affine.x = multiple.x.multiply(&square);
        affine.y = multiple.y.multiply(&square.multiply(inverse));
    }
    affine
}
