//! Points as (X, Y, Z), which stands for x = X / Z^2 and y = Y / Z^3: no divisions on the way.
//! Formulae of the Explicit-Formulas Database for a = -3.

use crate::arithmetic::FieldElement;

use super::Affine;

/// A point of the curve; Z = 0 is the one at infinity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jacobian {
    pub x: FieldElement,
    pub y: FieldElement,
    pub z: FieldElement,
}

impl Jacobian {
    pub(crate) const INFINITY: Self =
        Self { x: FieldElement::ONE, y: FieldElement::ONE, z: FieldElement::ZERO };

    pub(crate) fn from_affine(point: &Affine) -> Self {
        Self { x: point.x, y: point.y, z: FieldElement::ONE }
    }

    pub(crate) fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// The affine point, by 1 / Z.
    pub(crate) fn to_affine(self, inverse: &FieldElement) -> Affine {
        let square = inverse.square();
        let y = self.y.multiply(&square.multiply(inverse));
        Affine { x: self.x.multiply(&square), y }
    }

    /// Whether x is `x`, for a point that is not at infinity.
    pub(crate) fn has_x(&self, x: &FieldElement) -> bool {
        x.multiply(&self.z.square()) == self.x
    }

    /// With 2 Y in place of Y: six sums fewer than "dbl-2001-b" has, which are not free beside products.
    pub(crate) fn double(&self) -> Self {
        let twice = self.y.double();
        let delta = self.z.square();
        let square = twice.square();
        let z = twice.multiply(&self.z);
        let product = self.x.subtract(&delta).multiply(&self.x.add(&delta));
        let beta = self.x.multiply(&square);
        let half_fourth = square.square().halve();
        let alpha = product.double().add(&product);
        let x = alpha.square().subtract(&beta.double());
        let y = alpha.multiply(&beta.subtract(&x)).subtract(&half_fourth);
        Self { x, y, z }
    }

    /// The sum, for any two points.
    pub(crate) fn add_affine(&self, other: &Affine) -> Self {
        if self.is_infinity() {
            return Self::from_affine(other);
        }
        let sum = self.add_different(other);
        if !sum.is_infinity() {
            return sum;
        }
        // The same x. Opposite points' sum is at infinity; for equal ones the formula fails.
        let cube = self.z.square().multiply(&self.z);
        if other.y.multiply(&cube) == self.y { self.double() } else { Self::INFINITY }
    }

    /// The sum, if neither point is at infinity and they are not equal. Otherwise Z = 0 comes out,
    /// and stays whatever is added.
    #[inline]
    pub(crate) fn add_different(&self, other: &Affine) -> Self {
        let z_square = self.z.square();
        let scaled_y = other.y.multiply(&self.z);
        let h = other.x.multiply(&z_square).subtract(&self.x);
        let r = scaled_y.multiply(&z_square).subtract(&self.y);
        let h_square = h.square();
        let r_square = r.square();
        let z = self.z.multiply(&h);
        let h_cube = h.multiply(&h_square);
        let v = self.x.multiply(&h_square);
        let x = r_square.subtract(&h_cube).subtract(&v.double());
        let y_part = self.y.multiply(&h_cube);
        let y = r.multiply(&v.subtract(&x)).subtract(&y_part);
        Self { x, y, z }
    }

    /// The sum of two points, both with Z; as [`Self::add_different`] it fails to Z = 0.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for vectors"))]
    pub(crate) fn add_projective(&self, other: &Self) -> Self {
        let (z_1, z_2) = (self.z.square(), other.z.square());
        // Both brought to the common Z of their product.
        let first = Self {
            x: self.x.multiply(&z_2),
            y: self.y.multiply(&z_2.multiply(&other.z)),
            z: FieldElement::ONE,
        };
        let second =
            Affine { x: other.x.multiply(&z_1), y: other.y.multiply(&z_1.multiply(&self.z)) };
        let sum = first.add_different(&second);
        Self { z: sum.z.multiply(&self.z).multiply(&other.z), ..sum }
    }
}
