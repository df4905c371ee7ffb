//! Eight points at a time. Coordinates are below 2 p, unless it says otherwise.

use crate::curve::Jacobian;

use super::{Mask, Vector};

#[derive(Clone, Copy)]
pub(super) struct Points<V> {
    pub x: V,
    pub y: V,
}

/// Eight points as X / Z^2 and Y / Z^3. Z is below 2.5 p.
#[derive(Clone, Copy)]
pub(super) struct JacobianPoints<V> {
    pub x: V,
    pub y: V,
    pub z: V,
}

impl<V: Vector> Points<V> {
    /// The difference of the coordinates x, below 5 p: what a sum divides by.
    #[inline(always)]
    pub(super) fn denominator(&self, other: &Self) -> V {
        other.x.subtract::<2>(&self.x)
    }

    /// The sum, by the inverse of the denominator.
    #[inline(always)]
    pub(super) fn plus(&self, other: &Self, inverse: &V) -> Self {
        let slope = other.y.subtract::<2>(&self.y).multiply(inverse);
        self.chord(&other.x, &slope)
    }

    /// The third point of the line through self, and a point with `other_x`, mirrored.
    #[inline(always)]
    pub(super) fn chord(&self, other_x: &V, slope: &V) -> Self {
        let x = slope.square().subtract_both::<4>(&self.x, other_x);
        let y = slope.multiply(&self.x.subtract::<2>(&x)).subtract::<2>(&self.y).tidy();
        Self { x, y }
    }

    #[inline(always)]
    pub(super) fn negate_where(&self, mask: Mask) -> Self {
        Self { x: self.x, y: self.y.negate_where(mask) }
    }
}

impl<V: Vector> JacobianPoints<V> {
    #[inline(always)]
    pub(super) fn from_affine(points: &Points<V>) -> Self {
        Self { x: points.x, y: points.y, z: V::one() }
    }

    /// The sums, where the points are neither equal nor opposite; Z = 0 where they are, and from
    /// then on.
    #[inline(always)]
    pub(super) fn add_different(&self, other: &Points<V>) -> Self {
        let z_square = self.z.square();
        let x_2 = other.x.multiply(&z_square);
        let y_2 = other.y.multiply(&self.z.multiply(&z_square));
        let h = x_2.subtract::<2>(&self.x);
        let r = y_2.subtract::<2>(&self.y);
        let h_square = h.square();
        let h_cube = h.multiply(&h_square);
        let v = self.x.multiply(&h_square);
        // h_cube and twice v are below 5 p.
        let x = r.square().subtract_both::<6>(&h_cube, &v.add(&v));
        let y = r.multiply(&v.subtract::<2>(&x)).subtract::<2>(&self.y.multiply(&h_cube)).tidy();
        Self { x, y, z: self.z.multiply(&h) }
    }

    /// "dbl-2001-b".
    #[inline(always)]
    pub(super) fn double(&self) -> Self {
        let delta = self.z.square();
        let gamma = self.y.square();
        let beta = self.x.multiply(&gamma);
        let product = self.x.subtract::<2>(&delta).multiply(&self.x.add(&delta));
        let alpha = product.add(&product.add(&product)).tidy();
        let beta_2 = beta.add(&beta);
        let beta_4 = beta_2.add(&beta_2);
        // Four and four times beta are below 10 p, and the square below 1.1 p.
        let x = alpha.square().subtract_both::<10>(&beta_4, &beta_4);
        let gamma_square = gamma.square();
        let gamma_2 = gamma_square.add(&gamma_square);
        let gamma_4 = gamma_2.add(&gamma_2);
        let y = alpha.multiply(&beta_4.subtract::<2>(&x)).subtract_both::<12>(&gamma_4, &gamma_4);
        let half_z = self.y.multiply(&self.z);
        Self { x, y, z: half_z.add(&half_z) }
    }

    /// Self in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(super) fn keep_where(&self, other: &Self, mask: Mask) -> Self {
        Self {
            x: other.x.blend(&self.x, mask),
            y: other.y.blend(&self.y, mask),
            z: other.z.blend(&self.z, mask),
        }
    }

    #[inline(always)]
    pub(super) fn to_points(self) -> [Jacobian; 8] {
        let [x, y, z] = [self.x, self.y, self.z]
            .map(|coordinate| coordinate.in_portable_form().elements_by_lane());
        std::array::from_fn(|lane| Jacobian { x: x[lane], y: y[lane], z: z[lane] })
    }
}
