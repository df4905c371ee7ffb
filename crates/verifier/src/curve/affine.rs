//! Points by their two coordinates; never the one at infinity.

use std::array::from_fn;

use crate::arithmetic::FieldElement;

/// A point of the curve that is not the one at infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Affine {
    pub x: FieldElement,
    pub y: FieldElement,
}

/// b of the curve's equation.
const B: FieldElement = FieldElement::from_montgomery([
    0xd89c_df62_29c4_bddf,
    0xacf0_05cd_7884_3090,
    0xe5a2_20ab_f721_2ed6,
    0xdc30_061d_0487_4834,
]);

impl Affine {
    pub(crate) const GENERATOR: Self = Self {
        x: FieldElement::from_montgomery([
            0x79e7_30d4_18a9_143c,
            0x75ba_95fc_5fed_b601,
            0x79fb_732b_7762_2510,
            0x1890_5f76_a537_55c6,
        ]),
        y: FieldElement::from_montgomery([
            0xddf2_5357_ce95_560a,
            0x8b4a_b8e4_ba19_e45c,
            0xd2e8_8688_dd21_f325,
            0x8571_ff18_2588_5d85,
        ]),
    };

    pub(crate) fn is_on_curve(&self) -> bool {
        self.y.square() == right_side(&self.x)
    }

    /// The point with this x whose y is odd or even; none if there is none.
    pub(crate) fn from_x(x: FieldElement, y_is_odd: bool) -> Option<Self> {
        let y = right_side(&x).square_root()?;
        let is_odd = y.to_integer()[0] & 1 == 1;
        // There is no point with y = 0, since the order of the group is odd.
        Some(Self { x, y: if is_odd == y_is_odd { y } else { y.negate() } })
    }

    /// The limbs of x, then those of y, in Montgomery's form.
    pub(crate) fn limbs(&self) -> [u64; 8] {
        let (x, y) = (self.x.montgomery(), self.y.montgomery());
        from_fn(|place| if place < 4 { x[place] } else { y[place - 4] })
    }

    pub(crate) fn negate(&self) -> Self {
        Self { x: self.x, y: self.y.negate() }
    }

    /// Half of a sum: what its result needs, once the inverse of `denominator` is known.
    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> AffineSum {
        AffineSum {
            numerator: other.y.subtract(&self.y),
            denominator: other.x.subtract(&self.x),
            first: *self,
            second_x: other.x,
        }
    }

    /// Half of the sum of a point with itself.
    pub(crate) fn doubled(&self) -> AffineSum {
        let square = self.x.square().subtract(&FieldElement::ONE);
        AffineSum {
            numerator: square.double().add(&square),
            denominator: self.y.double(),
            first: *self,
            second_x: self.x,
        }
    }
}

/// A sum of two points before the division, so that many can share one inversion.
pub(crate) struct AffineSum {
    numerator: FieldElement,
    /// Zero if the points are equal, or opposite: then there is no result.
    pub denominator: FieldElement,
    first: Affine,
    second_x: FieldElement,
}

impl AffineSum {
    /// The sum, by 1 / `denominator`.
    #[inline(always)]
    pub(crate) fn finish(&self, inverse: &FieldElement) -> Affine {
        let slope = self.numerator.multiply(inverse);
        let x = slope.square().subtract(&self.first.x).subtract(&self.second_x);
        let y = slope.multiply(&self.first.x.subtract(&x)).subtract(&self.first.y);
        Affine { x, y }
    }
}

/// The sums, by the inverses of their denominators.
///
/// They are computed four at a time, step by step, so that products do not wait for one another.
pub(crate) fn finish_all<'a>(
    sums: &'a [AffineSum],
    inverses: &'a [FieldElement],
) -> impl Iterator<Item = Affine> + 'a {
    let (fours, rest) = sums.as_chunks::<4>();
    let (four_inverses, rest_inverses) = inverses.as_chunks::<4>();
    let fours =
        fours.iter().zip(four_inverses).flat_map(|(sums, inverses)| finish_four(sums, inverses));
    fours.chain(rest.iter().zip(rest_inverses).map(|(sum, inverse)| sum.finish(inverse)))
}

#[inline(always)]
fn finish_four(sums: &[AffineSum; 4], inverses: &[FieldElement; 4]) -> [Affine; 4] {
    let slopes: [_; 4] = from_fn(|i| sums[i].numerator.multiply(&inverses[i]));
    let xs: [_; 4] =
        from_fn(|i| slopes[i].square().subtract(&sums[i].first.x).subtract(&sums[i].second_x));
    from_fn(|i| {
        let first = &sums[i].first;
        let y = slopes[i].multiply(&first.x.subtract(&xs[i])).subtract(&first.y);
        Affine { x: xs[i], y }
    })
}

/// x^3 - 3 x + b.
fn right_side(x: &FieldElement) -> FieldElement {
    let three = FieldElement::ONE.double().add(&FieldElement::ONE);
    x.square().subtract(&three).multiply(x).add(&B)
}
