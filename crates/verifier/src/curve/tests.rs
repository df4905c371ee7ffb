//! Against the group of the `p256` crate.

use num_bigint::BigUint;
use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{ProjectivePoint, Scalar};

use super::{Affine, Digit, Form, Jacobian, Table, Windows, generator};
use crate::arithmetic::{FieldElement, ORDER, U256, from_be_bytes, to_be_bytes};

fn big(integer: &U256) -> BigUint {
    BigUint::from_bytes_be(&to_be_bytes(integer))
}

fn scalars() -> Vec<U256> {
    let mut random = fastrand::Rng::with_seed(7);
    let [low, ..] = ORDER;
    let mut scalars: Vec<U256> = (1..20).map(|small| [small, 0, 0, 0]).collect();
    scalars.extend((1..20).map(|below| [low - below, ORDER[1], ORDER[2], ORDER[3]]));
    scalars.extend((0..255).map(|bit| {
        let mut power = [0; 4];
        power[bit / 64] = 1 << (bit % 64);
        power
    }));
    scalars.extend((0..100).map(|_| std::array::from_fn(|_| random.u64(..) >> random.u8(0..3))));
    scalars.retain(|scalar| big(scalar) < big(&ORDER));
    scalars
}

fn reference(scalar: &U256) -> ProjectivePoint {
    let scalar = Option::from(Scalar::from_repr(to_be_bytes(scalar).into()));
    ProjectivePoint::GENERATOR * scalar.unwrap_or(Scalar::ZERO)
}

/// The affine coordinates by the other crate; none at infinity.
fn coordinates(point: &ProjectivePoint) -> Option<([u8; 32], [u8; 32])> {
    let point = point.to_affine().to_sec1_point(false);
    Some(((*point.x()?).into(), (*point.y()?).into()))
}

fn ours(point: &Jacobian) -> Option<([u8; 32], [u8; 32])> {
    if point.is_infinity() {
        return None;
    }
    let point = point.to_affine(&point.z.invert());
    assert!(point.is_on_curve());
    Some((to_be_bytes(&point.x.to_integer()), to_be_bytes(&point.y.to_integer())))
}

/// The generator times 1, 2, 3, ...
pub(crate) fn multiples(count: usize) -> impl Iterator<Item = Affine> {
    let mut sum = Jacobian::INFINITY;
    (0..count).map(move |_| {
        sum = sum.add_affine(&Affine::GENERATOR);
        sum.to_affine(&sum.z.invert())
    })
}

fn affine(scalar: &U256) -> Affine {
    let (x, y) = coordinates(&reference(scalar)).expect("it is not at infinity");
    let element = |bytes| FieldElement::from_integer(&from_be_bytes(bytes)).expect("below p");
    Affine { x: element(&x), y: element(&y) }
}

#[test]
fn digits_sum_up_to_the_scalar() {
    for bits in [4, 5, 8, 9, 10] {
        let windows = Windows::new(bits);
        let last = windows.count() - 1;
        assert_eq!(windows.shift_of(last) + windows.bits_of(last), 256);
        let points = (0..=last).map(|window| windows.multiples_of(window)).sum::<usize>();
        assert_eq!(windows.points(), points);
        for scalar in scalars() {
            let (mut positive, mut negative) = (BigUint::default(), BigUint::default());
            for (window, Digit { index, is_negative }) in windows.digits(&scalar).enumerate() {
                assert!(index < windows.multiples_of(window));
                let value = BigUint::from(2 * index + 1) << windows.shift_of(window);
                *(if is_negative { &mut negative } else { &mut positive }) += value;
            }
            let order = big(&ORDER);
            assert_eq!((positive + &order * 4u8 - negative) % &order, big(&scalar), "{bits} bits");
        }
    }
}

#[test]
fn tables_hold_what_the_other_crate_works_out() {
    let table = generator(Form::Portable);
    for scalar in scalars() {
        let sum = table
            .windows
            .digits(&scalar)
            .enumerate()
            .map(|(window, digit)| table.point_of(window, digit))
            .fold(Jacobian::INFINITY, |sum, point| sum.add_affine(&point));
        assert_eq!(ours(&sum), coordinates(&reference(&scalar)));
    }
}

#[test]
fn a_key_s_table_has_every_odd_multiple_of_every_window() {
    let windows = Windows::new(5);
    let point = affine(&[0x1234_5678, 9, 8, 7]);
    let table = Table::new(&point, windows, Form::Portable);
    assert_eq!(table.entries.len(), windows.points());
    let mut base = Jacobian::from_affine(&point);
    for window in 0..windows.count() {
        let mut multiple = base;
        for index in 0..windows.multiples_of(window) {
            let entry = table.point_of(window, Digit { index, is_negative: false });
            assert_eq!(ours(&Jacobian::from_affine(&entry)), ours(&multiple));
            let base = base.to_affine(&base.z.invert());
            multiple = multiple.add_affine(&base).add_affine(&base);
        }
        for _ in 0..windows.bits_of(window) {
            base = base.double();
        }
    }
}

#[test]
fn sums_of_any_two_points_are_right() {
    let small: Vec<U256> = (1..6).map(|small| [small, 0, 0, 0]).collect();
    let [low, ..] = ORDER;
    let opposite = (1..6).map(|below| [low - below, ORDER[1], ORDER[2], ORDER[3]]);
    let all: Vec<U256> = small.iter().copied().chain(opposite).collect();
    for a in &all {
        // The same point by other coordinates: Z is not 1.
        let point = Jacobian::from_affine(&affine(a)).double().add_affine(&affine(a).negate());
        assert_eq!(ours(&point), coordinates(&reference(a)));
        assert_eq!(ours(&point.double()), coordinates(&(reference(a) + reference(a))));
        for b in &all {
            let expected = coordinates(&(reference(a) + reference(b)));
            assert_eq!(ours(&point.add_affine(&affine(b))), expected);
            let other = Jacobian::from_affine(&affine(b)).double().add_affine(&affine(b).negate());
            if a == b {
                assert!(point.add_projective(&other).is_infinity(), "it says that it failed");
            } else {
                assert_eq!(ours(&point.add_projective(&other)), expected);
            }
        }
        assert_eq!(ours(&Jacobian::INFINITY.add_affine(&affine(a))), coordinates(&reference(a)));
        assert!(Jacobian::INFINITY.double().is_infinity());
    }
}

#[test]
fn points_are_found_by_x() {
    for scalar in scalars().iter().step_by(10) {
        let point = affine(scalar);
        for candidate in [point, point.negate()] {
            assert!(candidate.is_on_curve());
            let is_odd = candidate.y.to_integer()[0] & 1 == 1;
            assert_eq!(Affine::from_x(candidate.x, is_odd), Some(candidate));
        }
        let off = Affine { x: point.x, y: point.y.add(&FieldElement::ONE) };
        assert!(!off.is_on_curve());
    }
    // x = 1 has no point: 1 - 3 + b is no square.
    let none = (1..50u64).filter_map(|x| FieldElement::from_integer(&[x, 0, 0, 0]));
    let found = none.filter(|x| Affine::from_x(*x, false).is_some()).count();
    assert!((10..40).contains(&found), "about half of all have one: {found}");
}
