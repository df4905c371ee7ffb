//! Vectors against single elements and points.

use crate::arithmetic::{FieldElement, U256};
use crate::curve::{Affine, Entry, Form, Jacobian, Table, Windows, multiples};

use super::inverses::{self, invert};
use super::points::{JacobianPoints, Points};
use super::{Vector, build_table};

/// Runs a test for each kind of vector whose instructions there are, and reports those that there are not.
macro_rules! for_each {
    ($test:ident) => {
        #[cfg(target_arch = "aarch64")]
        $test::<crate::neon::Vector>();
        #[cfg(target_arch = "x86_64")]
        match crate::Path::Ifma.is_available() {
            true => $test::<crate::ifma::Vector>(),
            false => eprintln!("skipped: this processor has no AVX-512 IFMA"),
        }
    };
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

fn vector<V: Vector>(elements: &[FieldElement; 8]) -> V {
    V::of_integers(&V::load_integers(elements.map(FieldElement::to_integer).each_ref()))
}

/// The elements of a vector, whatever their multiple of p.
fn values<V: Vector>(vector: &V) -> [FieldElement; 8] {
    vector.in_portable_form().elements_by_lane()
}

fn pairwise(
    a: &[FieldElement; 8],
    b: &[FieldElement; 8],
    operation: impl Fn(&FieldElement, &FieldElement) -> FieldElement,
) -> [FieldElement; 8] {
    std::array::from_fn(|lane| operation(&a[lane], &b[lane]))
}

fn compare_field_operations<V: Vector>() {
    let elements = elements(1, 2_000);
    for (a, b) in elements.iter().zip(elements.iter().rev()) {
        let (x, y) = (vector::<V>(a), vector::<V>(b));
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
        assert_eq!(
            far.tidy().elements_by_lane(),
            vector::<V>(&far_value).tidy().elements_by_lane()
        );
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
    for_each!(compare_field_operations);
}

fn compare_inverses<V: Vector>() {
    for a in elements(2, 200) {
        let (inverse, zeros) = invert(&vector::<V>(&a));
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
        vectors.push(vector::<V>(eight));
    }
    inverses::invert_all(&mut vectors, &mut Vec::new());
    for (eight, vector) in elements.iter().zip(&vectors) {
        assert_eq!(values(vector), eight.map(|element| element.invert()));
    }
}

#[test]
fn inverses_are_those_of_single_elements() {
    for_each!(compare_inverses);
}

fn load<V: Vector>(points: &[Affine], negative: u8) -> Points<V> {
    let entries: [Entry; 8] = std::array::from_fn(|lane| Entry::new(&points[lane], Form::Vector));
    let (x, y) = V::load_points(entries.each_ref(), negative);
    Points { x, y }
}

fn affine(point: &Jacobian) -> Affine {
    point.to_affine(&point.z.invert())
}

fn compare_points<V: Vector>() {
    let multiples: Vec<Affine> = multiples(100).collect();
    let (first, second) = (&multiples[..8], &multiples[40..48]);
    let (a, b) = (load::<V>(first, 0), load::<V>(second, 0));
    let single = |lane: usize| Jacobian::from_affine(&first[lane]);
    let sums: Vec<Affine> = (0..8).map(|it| affine(&single(it).add_affine(&second[it]))).collect();

    let (inverse, _) = invert(&a.denominator(&b).tidy());
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
    for_each!(compare_points);
}

fn compare_tables<V: Vector>() {
    for point in multiples(100).step_by(23) {
        for windows in [Windows::new(4), Windows::new(5)] {
            let table = build_table::<V>(&point, windows);
            assert_eq!(table.entries, Table::new(&point, windows, Form::Vector).entries);
        }
    }
}

#[test]
fn tables_are_those_of_the_portable_way() {
    for_each!(compare_tables);
}
