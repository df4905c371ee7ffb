//! Converts items to the remaining computation: u1 G + u2 Q, and whether its x-coordinate is r.

use crate::arithmetic::{FieldElement, ORDER, OrderElement, U256};
use crate::arithmetic::{add_wide, from_be_bytes, is_less, is_zero};
use crate::curve::{Affine, Jacobian, Table};
use crate::{Digest, Signature};

/// The scalars of a signature (FIPS 186-5 section 6.4.2 steps 3 and 4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalars {
    /// e / s, below n; may be zero.
    pub u1: U256,
    /// r / s, from 1 to n - 1.
    pub u2: U256,
    /// From 1 to n - 1.
    pub r: U256,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Valid,
    Mismatch,
    /// Its formulae do not hold for these points: complete ones are needed.
    Undecided,
}

/// The scalars of all signatures in order, with one inversion; none where r or s is out of range.
pub(crate) fn scalars<'a>(
    signatures: impl Iterator<Item = (&'a Digest, &'a Signature)> + Clone,
    scalars: &mut Vec<Option<Scalars>>,
) {
    scalars.clear();
    let mut inverted: Vec<(OrderElement, OrderElement)> = Vec::new();
    let mut product = OrderElement::ONE;
    for (digest, signature) in signatures {
        let (r, s) = (from_be_bytes(&signature.r), from_be_bytes(&signature.s));
        if [r, s].iter().any(|integer| is_zero(integer) || !is_less(integer, &ORDER)) {
            scalars.push(None);
            continue;
        }
        // Until the inverses are computed, u1 is the digest.
        scalars.push(Some(Scalars { u1: from_be_bytes(&digest.0), u2: r, r }));
        let s = OrderElement::from_integer(&s);
        inverted.push((s, product));
        product = product.multiply(&s);
    }
    let mut inverse = product.invert();
    for (scalars, (s, before)) in scalars.iter_mut().rev().flatten().zip(inverted.iter().rev()) {
        let own = inverse.multiply(before);
        inverse = inverse.multiply(s);
        scalars.u1 = own.multiply_integer(&scalars.u1);
        scalars.u2 = own.multiply_integer(&scalars.r);
    }
}

impl Scalars {
    /// Whether `sum`, which is not at infinity, has an x-coordinate that is r modulo n.
    pub(crate) fn accept(&self, sum: &Jacobian) -> bool {
        let is_x =
            |integer: &U256| FieldElement::from_integer(integer).is_some_and(|x| sum.has_x(&x));
        is_x(&self.r) || self.second_x().is_some_and(|x| is_x(&x))
    }

    /// r + n, if that is a coordinate too. It hardly ever is: n is close to p.
    pub(crate) fn second_x(&self) -> Option<U256> {
        let (sum, carry) = add_wide(&self.r, &ORDER);
        (carry == 0).then_some(sum)
    }
}

impl Outcome {
    pub(crate) const fn new(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::Mismatch }
    }
}

/// Sums of points for a batch, by some instructions: what differs between the backends on the processor.
pub(crate) trait Lanes: Send {
    /// Replaces `outcomes` with those of signatures by keys with tables in this backend's form, all
    /// with the same windows.
    fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>);

    /// Replaces `outcomes` with those of signatures by keys without tables.
    fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>);
}
