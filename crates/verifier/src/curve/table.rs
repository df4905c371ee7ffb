//! Odd multiples of a point for every window of a scalar: with them, a product is a sum of one point
//! a window, without any doubling.

use std::sync::OnceLock;

use crate::arithmetic::{FieldElement, invert_all};

use super::affine::finish_all;
use super::{Affine, Digit, Jacobian, Windows};

/// A point of a table: the limbs of x, then those of y, in the form of the table. One cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Entry(pub [u64; 8]);

/// The form of a table's coordinates: 2^256 a or 2^260 a modulo p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// What [`FieldElement`] has.
    Portable,
    /// The form for vectors with limbs of 52 or 26 bits, still in limbs of 64 bits here.
    Vector,
}

/// The odd multiples of a point times the place value of each window.
#[derive(Debug)]
pub(crate) struct Table {
    pub windows: Windows,
    pub entries: Box<[Entry]>,
}

/// The windows of G's tables: 28 additions a scalar, by 512 KiB, which a second-level cache holds.
const GENERATOR_WINDOWS: Windows = Windows::new(9);

/// The table of G, computed at first use.
pub(crate) fn generator(form: Form) -> &'static Table {
    static PORTABLE: OnceLock<Table> = OnceLock::new();
    static VECTOR: OnceLock<Table> = OnceLock::new();
    let table = match form {
        Form::Portable => &PORTABLE,
        Form::Vector => &VECTOR,
    };
    table.get_or_init(|| Table::new(&Affine::GENERATOR, GENERATOR_WINDOWS, form))
}

impl Table {
    pub(crate) fn new(point: &Affine, windows: Windows, form: Form) -> Self {
        let bases = place_values(point, windows);
        let points = odd_multiples(&bases, windows);
        let entries = points.iter().map(|point| Entry::new(point, form)).collect();
        Self { windows, entries }
    }

    /// The entries in order, the least significant octet of a limb first.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(size_of_val(&*self.entries));
        let limbs = self.entries.iter().flat_map(|entry| &entry.0);
        limbs.for_each(|limb| octets.extend_from_slice(&limb.to_le_bytes()));
        octets
    }

    /// The point of an entry, or its negative, for a table in [`Form::Portable`].
    #[inline]
    pub(crate) fn point(&self, index: usize, is_negative: bool) -> Affine {
        let point = self.entries[index].to_affine();
        if is_negative { point.negate() } else { point }
    }

    /// The point of a digit, for a table in [`Form::Portable`].
    pub(crate) fn point_of(&self, window: usize, digit: Digit) -> Affine {
        self.point(self.windows.offset_of(window) + digit.index, digit.is_negative)
    }
}

impl Entry {
    pub(crate) fn new(point: &Affine, form: Form) -> Self {
        let in_form = |element: &FieldElement| match form {
            Form::Portable => *element,
            Form::Vector => element.double().double().double().double(),
        };
        let mut limbs = [0; 8];
        limbs[..4].copy_from_slice(in_form(&point.x).montgomery());
        limbs[4..].copy_from_slice(in_form(&point.y).montgomery());
        Self(limbs)
    }

    #[inline(always)]
    fn to_affine(self) -> Affine {
        let [a, b, c, d, e, f, g, h] = self.0;
        Affine {
            x: FieldElement::from_montgomery([a, b, c, d]),
            y: FieldElement::from_montgomery([e, f, g, h]),
        }
    }
}

/// `point` times 2 to the place of each window.
pub(crate) fn place_values(point: &Affine, windows: Windows) -> Vec<Affine> {
    let mut multiple = Jacobian::from_affine(point);
    let mut multiples = vec![multiple];
    for window in 1..windows.count() {
        for _ in 0..windows.bits_of(window - 1) {
            multiple = multiple.double();
        }
        multiples.push(multiple);
    }
    let mut inverses: Vec<FieldElement> = multiples.iter().map(|multiple| multiple.z).collect();
    invert_all(&mut inverses);
    multiples.iter().zip(&inverses).map(|(multiple, inverse)| multiple.to_affine(inverse)).collect()
}

/// For each window its base times 1, 3, 5 and so on, in the order of a table.
///
/// The multiples that are there grow twofold by adding 2, 4, 8, ... times the base to each, and all
/// additions of all windows share one inversion. No two points that meet can be equal or opposite:
/// both are multiples of a point of large prime order by different small numbers.
fn odd_multiples(bases: &[Affine], windows: Windows) -> Vec<Affine> {
    let mut points = vec![Affine::GENERATOR; windows.points()];
    for (window, base) in bases.iter().enumerate() {
        points[windows.offset_of(window)] = *base;
    }
    let mut steps = bases.to_vec();
    double_all(&mut steps);
    let mut have = 1;
    let most = windows.multiples_of(0);
    while have < most {
        let growing = (0..bases.len()).filter(|window| windows.multiples_of(*window) > have);
        let places: Vec<(usize, usize)> = growing
            .flat_map(|window| (0..have).map(move |k| (window, windows.offset_of(window) + k)))
            .collect();
        let sums: Vec<_> =
            places.iter().map(|(window, place)| points[*place].plus(&steps[*window])).collect();
        let mut inverses: Vec<_> = sums.iter().map(|sum| sum.denominator).collect();
        invert_all(&mut inverses);
        for (sum, (_, place)) in finish_all(&sums, &inverses).zip(&places) {
            points[place + have] = sum;
        }
        have *= 2;
        if have < most {
            double_all(&mut steps);
        }
    }
    points
}

fn double_all(points: &mut [Affine]) {
    let sums: Vec<_> = points.iter().map(Affine::doubled).collect();
    let mut inverses: Vec<_> = sums.iter().map(|sum| sum.denominator).collect();
    invert_all(&mut inverses);
    for (point, sum) in points.iter_mut().zip(finish_all(&sums, &inverses)) {
        *point = sum;
    }
}
