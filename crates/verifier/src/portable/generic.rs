//! One signature without a table of its key, by complete formulae: the fallback of all other paths.

use crate::arithmetic::{FieldElement, U256, invert_all, is_zero};
use crate::curve::{Affine, Form, Jacobian, generator};
use crate::job::Scalars;

/// Odd multiples of the key that there are: those of digits of five bits.
const MULTIPLES: usize = 8;

/// Whether u1 G + u2 Q has the x-coordinate r.
pub(crate) fn verify(scalars: &Scalars, key: &Affine) -> bool {
    let mut sum = Jacobian::INFINITY;
    let multiples = odd_multiples(key);
    for digit in sparse_digits(&scalars.u2).iter().rev() {
        sum = sum.double();
        if *digit != 0 {
            let point = &multiples[usize::from(digit.unsigned_abs() >> 1)];
            sum = sum.add_affine(&if *digit < 0 { point.negate() } else { *point });
        }
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

/// Signed digits of bits, the least significant first: odd ones from -15 to 15, between which there
/// are at least four zeros.
fn sparse_digits(scalar: &U256) -> [i8; 257] {
    let bits = |from: usize, count: usize| {
        let (limb, shift) = (from / 64, from % 64);
        let low = scalar[limb] >> shift;
        let next =
            scalar.get(limb + 1).filter(|_| shift > 0).map_or(0, |next| next << (64 - shift));
        ((low | next) & ((1 << count) - 1)) as i8
    };
    let mut digits = [0; 257];
    let mut carry = 0;
    let mut bit = 0;
    while bit < 256 {
        if bits(bit, 1) == carry {
            bit += 1;
            continue;
        }
        let count = (256 - bit).min(5);
        let value = bits(bit, count) + carry;
        carry = (value >> 4) & 1;
        digits[bit] = value - (carry << 5);
        bit += count;
    }
    digits[256] = carry;
    digits
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::arithmetic::to_be_bytes;

    #[test]
    fn sparse_digits_sum_up_to_the_scalar() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut scalars =
            vec![[1, 0, 0, 0], [u64::MAX; 4], [0, 0, 0, 1 << 63], [0, 0, 0, 15 << 60]];
        scalars.extend((0..500).map(|_| std::array::from_fn(|_| random.u64(..) >> random.u8(..3))));
        for scalar in scalars {
            let digits = sparse_digits(&scalar);
            let terms = digits.iter().enumerate().map(|(bit, digit)| BigInt::from(*digit) << bit);
            let expected = BigInt::from_bytes_be(num_bigint::Sign::Plus, &to_be_bytes(&scalar));
            assert_eq!(terms.sum::<BigInt>(), expected);
            assert!(digits.iter().all(|digit| *digit == 0 || (digit % 2 != 0 && digit.abs() < 16)));
            let sparse = digits.windows(5).all(|five| five.iter().filter(|d| **d != 0).count() < 2);
            assert!(sparse, "{digits:?}");
        }
    }
}
