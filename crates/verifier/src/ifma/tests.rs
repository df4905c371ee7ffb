//! Vectors against single elements and points.

use crate::arithmetic::{FieldElement, U256};
use crate::curve::{Affine, Entry, Form, Jacobian, Table, Windows, multiples};

use super::points::{JacobianPoints, Points};
use super::vector::Vector;
use super::{Ifma, inverses, lanes};

/// Runs code that needs the instructions, or reports a skip.
fn with_ifma(test: unsafe fn()) {
    if Ifma::detect().is_none() {
        eprintln!("skipped: this processor has no AVX-512 IFMA");
        return;
    }
    // SAFETY: the processor has the instructions.
    unsafe { test() }
}

/// Elements, many of which are close to the edges.
fn elements(seed: u64, count: usize) -> Vec<[FieldElement; 8]> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut element = || loop {
        let limbs: U256 = std::array::from_fn(|_| match random.u8(0..6) {
            0 => 0,
            1 => u64::MAX,
            2 => 1,
            _ => random.u64(..),
        });
        let offset = FieldElement::from_integer(&[random.u64(..3), 0, 0, 0]);
        if let (Some(element), Some(offset)) = (FieldElement::from_integer(&limbs), offset) {
            return if random.bool() { element } else { offset.negate() };
        }
    };
    (0..count).map(|_| std::array::from_fn(|_| element())).collect()
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn vector(elements: &[FieldElement; 8]) -> Vector {
    let integers = elements.map(FieldElement::to_integer);
    Vector::of_integers(&lanes::load_integers(integers.each_ref()))
}

/// The elements of a vector, whatever their multiple of p.
#[target_feature(enable = "avx512f,avx512ifma")]
fn values(vector: &Vector) -> [FieldElement; 8] {
    lanes::to_elements(&vector.to_portable_form())
}

fn pairwise(
    a: &[FieldElement; 8],
    b: &[FieldElement; 8],
    operation: impl Fn(&FieldElement, &FieldElement) -> FieldElement,
) -> [FieldElement; 8] {
    std::array::from_fn(|lane| operation(&a[lane], &b[lane]))
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn compare_field_operations() {
    let elements = elements(1, 2_000);
    for (a, b) in elements.iter().zip(elements.iter().rev()) {
        let (x, y) = (vector(a), vector(b));
        assert_eq!(values(&x), *a);
        assert_eq!(values(&x.multiply(&y)), pairwise(a, b, FieldElement::multiply));
        assert_eq!(values(&x.square()), a.map(|a| a.square()));
        assert_eq!(values(&x.add(&y)), pairwise(a, b, FieldElement::add));
        assert_eq!(values(&x.subtract::<2>(&y)), pairwise(a, b, FieldElement::subtract));
        // The largest operands that products are allowed: seven p and more, times as much.
        let (far, other) = (x.subtract::<12>(&y), y.subtract::<12>(&x));
        let (far_value, other_value) =
            (pairwise(a, b, FieldElement::subtract), pairwise(b, a, FieldElement::subtract));
        assert_eq!(
            values(&far.multiply(&other).tidy()),
            pairwise(&far_value, &other_value, FieldElement::multiply)
        );
        assert_eq!(values(&far.square().tidy()), far_value.map(|a| a.square()));
        assert_eq!(lanes::to_elements(&far.tidy()), lanes::to_elements(&vector(&far_value).tidy()));
        let both = x.subtract_both::<6>(&y.add(&y), &y);
        let triple = b.map(|b| b.double().add(&b));
        assert_eq!(values(&both), pairwise(a, &triple, FieldElement::subtract));
        let mask = 0b1010_0110;
        let is_masked = |lane: usize| mask >> lane & 1 == 1;
        let negate = |lane| if is_masked(lane) { a[lane].negate() } else { a[lane] };
        assert_eq!(values(&x.negate_where(mask)), std::array::from_fn(negate));
        let zeros = |values: &[FieldElement; 8]| {
            (0..8).filter(|lane| values[*lane].is_zero()).fold(0, |mask, lane| mask | 1 << lane)
        };
        assert_eq!(x.zeros(), zeros(a));
        assert_eq!(far.zeros(), zeros(&far_value));
        assert_eq!(x.subtract::<2>(&x).zeros(), 0xff);
    }
}

#[test]
fn field_operations_are_those_of_single_elements() {
    with_ifma(compare_field_operations);
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn compare_inverses() {
    for a in elements(2, 200) {
        let (inverse, zeros) = lanes::invert(&vector(&a));
        let inverse = values(&inverse);
        for lane in 0..8 {
            assert_eq!(zeros >> lane & 1 == 1, a[lane].is_zero());
            let expected = if a[lane].is_zero() { inverse[lane] } else { a[lane].invert() };
            assert_eq!(inverse[lane], expected);
        }
    }
    let one = |element: FieldElement| if element.is_zero() { FieldElement::ONE } else { element };
    let elements: Vec<_> = elements(3, 77).iter().map(|eight| eight.map(one)).collect();
    let mut vectors = Vec::new();
    for eight in &elements {
        vectors.push(vector(eight));
    }
    inverses::invert_all(&mut vectors, &mut Vec::new());
    for (eight, vector) in elements.iter().zip(&vectors) {
        assert_eq!(values(vector), eight.map(|element| element.invert()));
    }
}

#[test]
fn inverses_are_those_of_single_elements() {
    with_ifma(compare_inverses);
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn load(points: &[Affine], negative: u8) -> Points {
    let entries: [Entry; 8] = std::array::from_fn(|lane| Entry::new(&points[lane], Form::Vector));
    let (x, y) = lanes::load_points(entries.each_ref(), negative);
    Points { x, y }
}

fn affine(point: &Jacobian) -> Affine {
    point.to_affine(&point.z.invert())
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn compare_points() {
    let multiples: Vec<Affine> = multiples(100).collect();
    let (first, second) = (&multiples[..8], &multiples[40..48]);
    let (a, b) = (load(first, 0), load(second, 0));
    let single = |lane: usize| Jacobian::from_affine(&first[lane]);
    let sums: Vec<Affine> =
        (0..8).map(|lane| affine(&single(lane).add_affine(&second[lane]))).collect();

    let (inverse, _) = lanes::invert(&a.denominator(&b).tidy());
    let affine_sums = a.plus(&b, &inverse);
    let (x, y) = (values(&affine_sums.x), values(&affine_sums.y));
    let jacobian = JacobianPoints::from_affine(&a).add_different(&b).to_points();
    let doubles = JacobianPoints::from_affine(&a).double().double().add_different(&b).to_points();
    for lane in 0..8 {
        assert_eq!(Affine { x: x[lane], y: y[lane] }, sums[lane]);
        assert_eq!(affine(&jacobian[lane]), sums[lane]);
        let expected = single(lane).double().double().add_affine(&second[lane]);
        assert_eq!(affine(&doubles[lane]), affine(&expected));
    }
    // Equal points, and opposite ones, fail to Z = 0 and stay there.
    for negative in [0, 0xff] {
        let failed = JacobianPoints::from_affine(&a).add_different(&load(first, negative));
        assert_eq!(failed.z.zeros(), 0xff);
        assert_eq!(failed.add_different(&b).double().z.zeros(), 0xff);
    }
}

#[test]
fn points_are_those_of_single_ones() {
    with_ifma(compare_points);
}

#[test]
fn tables_are_those_of_the_portable_way() {
    let Some(ifma) = Ifma::detect() else {
        eprintln!("skipped: this processor has no AVX-512 IFMA");
        return;
    };
    for point in multiples(100).step_by(23) {
        for windows in [Windows::new(4), Windows::new(5)] {
            let table = ifma.build_table(&point, windows);
            let expected = Table::new(&point, windows, Form::Vector);
            assert_eq!(table.entries, expected.entries);
        }
    }
}
