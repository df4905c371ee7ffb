//! Many inverses at the cost of one, by Montgomery's trick along vectors and across lanes.

use crate::arithmetic::FieldElement;

use super::{Mask, Vector};

/// Products are computed in this many independent chains: in a single one, each would wait for the
/// last.
const CHAINS: usize = 4;

/// Chains of products, which take turns.
pub(super) struct Chains<V>([V; CHAINS]);

impl<V: Vector> Chains<V> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([V::one(); CHAINS])
    }

    /// The chain of the element with this number.
    #[inline(always)]
    pub(super) fn of(&mut self, number: usize) -> &mut V {
        &mut self.0[number % CHAINS]
    }

    /// The chains' inverses with one inversion, and the lanes in which an element is zero: there,
    /// something else comes out.
    #[inline(always)]
    pub(super) fn invert(&self) -> (Self, Mask) {
        let [a, b, c, d] = &self.0;
        let (first, second) = (a.multiply(b), c.multiply(d));
        let (inverse, zeros) = invert(&first.multiply(&second));
        let (of_first, of_second) = (inverse.multiply(&second), inverse.multiply(&first));
        let inverses = [
            of_first.multiply(b),
            of_first.multiply(a),
            of_second.multiply(d),
            of_second.multiply(c),
        ];
        (Self(inverses), zeros)
    }
}

/// 1 / each lane, of elements below 2 p, by one inversion; and which lanes are zero, where one comes
/// out in place of an inverse.
#[inline(always)]
pub(super) fn invert<V: Vector>(vector: &V) -> (V, Mask) {
    let mut elements = vector.elements_by_lane();
    let mut zeros = 0;
    for (lane, element) in elements.iter_mut().enumerate() {
        if element.is_zero() {
            *element = FieldElement::ONE;
            zeros |= 1 << lane;
        }
    }
    let mut products = [FieldElement::ONE; 8];
    for lane in 1..8 {
        products[lane] = products[lane - 1].multiply(&elements[lane - 1]);
    }
    // A lane is 2^260 a, taken for the form 2^256 b of b = 2^4 a. Its inverse is to be 2^260 / a,
    // the form of 2^4 / a, which is 2^8 / b.
    let mut inverse = products[7].multiply(&elements[7]).invert().multiply(&TWO_TO_8);
    for lane in (0..8).rev() {
        let next = inverse.multiply(&elements[lane]);
        elements[lane] = inverse.multiply(&products[lane]);
        inverse = next;
    }
    (V::load_integers(elements.each_ref().map(FieldElement::montgomery)), zeros)
}

const TWO_TO_8: FieldElement = FieldElement::from_montgomery([
    0x0000_0000_0000_0100,
    0xffff_ff00_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x0000_00ff_ffff_feff,
]);

/// Inverts all elements, which are below 5 p and not zero: below 2 p.
#[inline(always)]
pub(super) fn invert_all<V: Vector>(elements: &mut [V], products: &mut Vec<V>) {
    products.clear();
    let mut chains = Chains::new();
    for (number, element) in elements.iter().enumerate() {
        let chain = chains.of(number);
        products.push(*chain);
        *chain = chain.multiply(element);
    }
    let (mut inverses, _) = chains.invert();
    for (number, (element, before)) in elements.iter_mut().zip(products).enumerate().rev() {
        let chain = inverses.of(number);
        let rest = chain.multiply(element);
        *element = chain.multiply(before);
        *chain = rest;
    }
}
