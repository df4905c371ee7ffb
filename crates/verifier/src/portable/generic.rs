//! One signature without a table of its key, by complete formulae: what all others fall back on.

use crate::arithmetic::{FieldElement, invert_all, is_zero};
use crate::curve::{Affine, Form, Jacobian, Windows, generator};
use crate::job::Scalars;

/// 64 windows with eight odd multiples of the key each.
const WINDOWS: Windows = Windows::new(4);
const MULTIPLES: usize = 8;

/// Whether u1 G + u2 Q has the x-coordinate r.
pub(crate) fn verify(scalars: &Scalars, key: &Affine) -> bool {
    let mut sum = Jacobian::INFINITY;
    let multiples = odd_multiples(key);
    let mut digits: Vec<_> = WINDOWS.digits(&scalars.u2).collect();
    for (window, digit) in digits.drain(..).enumerate().rev() {
        for _ in 0..WINDOWS.bits_of(window) {
            sum = sum.double();
        }
        let point = &multiples[digit.index];
        sum = sum.add_affine(&if digit.is_negative { point.negate() } else { *point });
    }
    if !is_zero(&scalars.u1) {
        let table = generator(Form::Portable);
        for (window, digit) in table.windows.digits(&scalars.u1).enumerate() {
            sum = sum.add_affine(&table.point_of(window, digit));
        }
    }
    !sum.is_infinity() && scalars.accept(&sum)
}

/// The point times 1, 3, 5, ... 15.
fn odd_multiples(point: &Affine) -> [Affine; MULTIPLES] {
    // On an isomorphic curve twice the point has Z = 1: the formulae for additions do not know the
    // curve's coefficients, so that they hold there too. Its Z comes in again at the end.
    let double = Jacobian::from_affine(point).double();
    let z_square = double.z.square();
    let step = Affine { x: double.x, y: double.y };
    let first = Affine {
        x: point.x.multiply(&z_square),
        y: point.y.multiply(&z_square.multiply(&double.z)),
    };
    let mut multiples = [Jacobian::from_affine(&first); MULTIPLES];
    for index in 1..MULTIPLES {
        multiples[index] = multiples[index - 1].add_different(&step);
    }
    let mut inverses: [FieldElement; MULTIPLES] =
        std::array::from_fn(|index| multiples[index].z.multiply(&double.z));
    invert_all(&mut inverses);
    std::array::from_fn(|index| multiples[index].to_affine(&inverses[index]))
}
