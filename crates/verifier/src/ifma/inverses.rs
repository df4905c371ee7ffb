//! Many inverses at the cost of one, by Montgomery's trick along vectors and across lanes.

use super::lanes;
use super::vector::{Mask, Vector};

/// Products are computed in this many independent chains: in a single one, each would wait for the
/// last.
const CHAINS: usize = 4;

/// Chains of products, which take turns.
pub(super) struct Chains([Vector; CHAINS]);

impl Chains {
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn new() -> Self {
        Self([Vector::one(); CHAINS])
    }

    /// The chain of the element with this number.
    #[inline]
    pub(super) fn of(&mut self, number: usize) -> &mut Vector {
        &mut self.0[number % CHAINS]
    }

    /// The chains' inverses with one inversion, and the lanes in which an element is zero: there,
    /// something else comes out.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn invert(&self) -> (Self, Mask) {
        let [a, b, c, d] = &self.0;
        let (first, second) = (a.multiply(b), c.multiply(d));
        let (inverse, zeros) = lanes::invert(&first.multiply(&second));
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

/// Inverts all elements, which are below 4 p and not zero: below 2 p.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn invert_all(elements: &mut [Vector], products: &mut Vec<Vector>) {
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
