//! Against the schoolbook: `num-bigint`.

use num_bigint::BigUint;

use super::integer::{U256, from_be_bytes, to_be_bytes};
use super::{FieldElement, ORDER, OrderElement, invert_all};

const CASES: usize = 2_000;

fn prime() -> BigUint {
    (BigUint::from(1u8) << 256) - (BigUint::from(1u8) << 224)
        + (BigUint::from(1u8) << 192)
        + (BigUint::from(1u8) << 96)
        - 1u8
}

fn order() -> BigUint {
    big(&ORDER)
}

fn big(integer: &U256) -> BigUint {
    BigUint::from_bytes_be(&to_be_bytes(integer))
}

fn small(integer: &BigUint) -> U256 {
    let bytes = integer.to_bytes_be();
    let mut padded = [0; 32];
    padded[32 - bytes.len()..].copy_from_slice(&bytes);
    from_be_bytes(&padded)
}

/// Integers below `modulus`: its edges, sparse ones, and random ones.
fn integers(modulus: &BigUint, seed: u64) -> Vec<BigUint> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut integers: Vec<BigUint> = (0..4u8).map(BigUint::from).collect();
    integers.extend((1..4u8).map(|below| modulus - below));
    integers.extend((0..256).map(|bit| (BigUint::from(1u8) << bit) % modulus));
    integers.extend((1..=256).map(|bit| ((BigUint::from(1u8) << bit) - 1u8) % modulus));
    while integers.len() < CASES {
        let limbs: [u64; 4] = std::array::from_fn(|_| match random.u8(0..8) {
            0 => 0,
            1 => u64::MAX,
            _ => random.u64(..),
        });
        integers.push(big(&limbs) % modulus);
    }
    random.shuffle(&mut integers);
    integers
}

fn field(integer: &BigUint) -> FieldElement {
    FieldElement::from_integer(&small(integer)).expect("it is below the prime")
}

fn order_value(element: &OrderElement) -> BigUint {
    big(&element.multiply_integer(&[1, 0, 0, 0]))
}

fn value(element: FieldElement) -> BigUint {
    big(&element.to_integer())
}

#[test]
fn field_arithmetic_is_that_of_integers() {
    let prime = prime();
    let integers = integers(&prime, 1);
    for (a, b) in integers.iter().zip(integers.iter().rev()) {
        let (x, y) = (field(a), field(b));
        assert_eq!(value(x), *a);
        assert_eq!(value(x.add(&y)), (a + b) % &prime);
        assert_eq!(value(x.double()), (a + a) % &prime);
        assert_eq!(value(x.subtract(&y)), (a + &prime - b) % &prime);
        assert_eq!(value(x.negate()), (&prime - a) % &prime);
        assert_eq!(value(x.multiply(&y)), (a * b) % &prime);
        assert_eq!(value(x.square()), (a * a) % &prime);
        assert_eq!(x.multiply_anywhere(&y), x.multiply(&y));
        assert_eq!(x.square_anywhere(), x.square());
        assert_eq!(x.halve().double(), x);
        assert_eq!(x.is_zero(), a.bits() == 0);
    }
    assert_eq!(FieldElement::from_integer(&small(&prime)), None);
    assert_eq!(value(FieldElement::ONE), BigUint::from(1u8));
}

#[test]
fn field_inverses_and_roots_are_such() {
    let prime = prime();
    let exponent = (&prime - 1u8) / 2u8;
    for a in integers(&prime, 2).iter().step_by(4) {
        let x = field(a);
        assert_eq!(value(x.invert()), a.modpow(&(&prime - 2u8), &prime));
        let is_square = a.modpow(&exponent, &prime) <= BigUint::from(1u8);
        assert_eq!(x.square_root().is_some(), is_square, "{a}");
        if let Some(root) = x.square_root() {
            assert_eq!(root.square(), x);
        }
    }
}

#[test]
fn many_inverses_are_each_ones() {
    let mut elements: Vec<FieldElement> =
        integers(&prime(), 3).iter().map(field).filter(|x| !x.is_zero()).take(77).collect();
    let expected: Vec<FieldElement> = elements.iter().map(FieldElement::invert).collect();
    invert_all(&mut elements);
    assert_eq!(elements, expected);
}

#[test]
fn arithmetic_modulo_the_order_is_that_of_integers() {
    let order = order();
    let integers = integers(&order, 4);
    for (a, b) in integers.iter().zip(integers.iter().rev()) {
        let (x, y) = (OrderElement::from_integer(&small(a)), OrderElement::from_integer(&small(b)));
        assert_eq!(order_value(&x), *a);
        assert_eq!(order_value(&x.multiply(&y)), (a * b) % &order);
        assert_eq!(big(&x.multiply_integer(&small(b))), (a * b) % &order);
    }
    for a in integers.iter().step_by(4) {
        let inverse = OrderElement::from_integer(&small(a)).invert();
        assert_eq!(order_value(&inverse), a.modpow(&(&order - 2u8), &order));
    }
    // What is not below the order is reduced.
    let most = [u64::MAX; 4];
    assert_eq!(order_value(&OrderElement::from_integer(&most)), big(&most) % &order);
    assert_eq!(OrderElement::ONE.multiply_integer(&most), small(&(big(&most) % &order)));
}
