//! The field of P-256 (FIPS 186-5 and SP 800-186 section 3.2.1.3): residues modulo
//! p = 2^256 - 2^224 + 2^192 + 2^96 - 1, as a 2^256 modulo p (Montgomery's form).

use super::integer::{
    self, U256, add_modular, add_wide, add_with, multiply_limbs, multiply_wide, reduce_once,
    square_wide, sub_modular,
};
use super::inversion::Inverter;

/// A residue modulo p in Montgomery's form, below p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldElement(U256);

const PRIME: U256 = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
/// 2^512 modulo p.
const R_SQUARED: U256 =
    [0x0000_0000_0000_0003, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x0000_0004_ffff_fffd];
/// 2^768 modulo p.
const R_CUBED: FieldElement = FieldElement([
    0xffff_fffd_0000_000a,
    0xffff_ffed_ffff_fff7,
    0x0000_0005_ffff_fffc,
    0x0000_0018_0000_0001,
]);
static INVERTER: Inverter = Inverter::new(&PRIME);

impl FieldElement {
    pub(crate) const ZERO: Self = Self([0; 4]);
    pub(crate) const ONE: Self = Self([
        0x0000_0000_0000_0001,
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_ffff,
        0x0000_0000_ffff_fffe,
    ]);

    /// A residue whose Montgomery form is `limbs`, an integer below p.
    pub(crate) const fn from_montgomery(limbs: U256) -> Self {
        Self(limbs)
    }

    /// A residue whose Montgomery form is `high * 2^256 + low`, which is below 2 p.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for vectors"))]
    pub(crate) fn from_montgomery_below_2p(low: &U256, high: u64) -> Self {
        Self(reduce_once(low, high, &PRIME))
    }

    pub(crate) const fn montgomery(&self) -> &U256 {
        &self.0
    }

    /// The residue of an integer; none unless it is below p.
    pub(crate) fn from_integer(integer: &U256) -> Option<Self> {
        integer::is_less(integer, &PRIME).then(|| Self(*integer).multiply(&Self(R_SQUARED)))
    }

    pub(crate) fn to_integer(self) -> U256 {
        let [a, b, c, d] = self.0;
        reduce([a, b, c, d, 0, 0, 0, 0]).0
    }

    pub(crate) fn is_zero(&self) -> bool {
        integer::is_zero(&self.0)
    }

    #[inline(always)]
    pub(crate) fn add(&self, other: &Self) -> Self {
        Self(add_modular(&self.0, &other.0, &PRIME))
    }

    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        self.add(self)
    }

    #[inline(always)]
    pub(crate) fn subtract(&self, other: &Self) -> Self {
        Self(sub_modular(&self.0, &other.0, &PRIME))
    }

    /// Half of it: an odd one plus p is even.
    #[inline(always)]
    pub(crate) fn halve(&self) -> Self {
        let odd = 0u64.wrapping_sub(self.0[0] & 1);
        let ([a, b, c, d], top) = add_wide(&self.0, &PRIME.map(|limb| limb & odd));
        let join = |low: u64, high: u64| (low >> 1) | (high << 63);
        Self([join(a, b), join(b, c), join(c, d), join(d, top)])
    }

    #[inline(always)]
    pub(crate) fn negate(&self) -> Self {
        Self::ZERO.subtract(self)
    }

    #[inline(always)]
    pub(crate) fn multiply(&self, other: &Self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(product) = super::adx::multiply(&self.0, &other.0) {
            return Self(product);
        }
        self.multiply_anywhere(other)
    }

    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(square) = super::adx::square(&self.0) {
            return Self(square);
        }
        self.square_anywhere()
    }

    /// The product without instructions that not every processor has.
    #[cfg_attr(target_arch = "x86_64", cold, inline(never))]
    pub(super) fn multiply_anywhere(&self, other: &Self) -> Self {
        #[cfg(target_arch = "x86_64")]
        super::adx::detect();
        reduce(multiply_wide(&self.0, &other.0))
    }

    #[cfg_attr(target_arch = "x86_64", cold, inline(never))]
    pub(super) fn square_anywhere(&self) -> Self {
        reduce(square_wide(&self.0))
    }

    /// 1 / self; zero for zero.
    pub(crate) fn invert(&self) -> Self {
        // The Montgomery form a R has the inverse a^-1 R^-1, and that times R^3 / R is a^-1 R.
        Self(INVERTER.invert(&self.0)).multiply(&R_CUBED)
    }

    /// A square root; none if there is none.
    pub(crate) fn square_root(&self) -> Option<Self> {
        // p = 3 modulo 4: a^((p + 1) / 4), where (p + 1) / 4 = 2^254 - 2^222 + 2^190 + 2^94.
        let repeat = |element: &Self, times| (0..times).fold(*element, |e, _| e.square());
        let x2 = repeat(self, 1).multiply(self);
        let x4 = repeat(&x2, 2).multiply(&x2);
        let x8 = repeat(&x4, 4).multiply(&x4);
        let x16 = repeat(&x8, 8).multiply(&x8);
        let x32 = repeat(&x16, 16).multiply(&x16);
        let root = repeat(&x32, 32).multiply(self);
        let root = repeat(&root, 96).multiply(self);
        let root = repeat(&root, 94);
        (root.square() == *self).then_some(root)
    }
}

/// Inverts every element with one inversion, by Montgomery's trick. None may be zero.
pub(crate) fn invert_all(elements: &mut [FieldElement]) {
    // Four chains of products take turns: in one, each product would wait for the last.
    let mut chains = [FieldElement::ONE; 4];
    let mut products = Vec::with_capacity(elements.len());
    for (number, element) in elements.iter().enumerate() {
        let chain = &mut chains[number % 4];
        products.push(*chain);
        *chain = chain.multiply(element);
    }
    let [a, b, c, d] = &chains;
    let (first, second) = (a.multiply(b), c.multiply(d));
    let inverse = first.multiply(&second).invert();
    let (of_first, of_second) = (inverse.multiply(&second), inverse.multiply(&first));
    let mut inverses =
        [of_first.multiply(b), of_first.multiply(a), of_second.multiply(d), of_second.multiply(c)];
    for (number, (element, before)) in elements.iter_mut().zip(products).enumerate().rev() {
        let chain = &mut inverses[number % 4];
        let rest = chain.multiply(element);
        *element = chain.multiply(&before);
        *chain = rest;
    }
}

/// Montgomery's reduction: `wide` / 2^256 modulo p, for `wide` below 2^256 p.
///
/// p = -1 modulo 2^64, so that the factor that clears a limb is the limb itself, and adding p times
/// it is adding it 96 bits further up and, times 2^64 - 2^32 + 1, 192 bits further up.
#[inline(always)]
fn reduce(wide: [u64; 8]) -> FieldElement {
    let [mut a, mut b, mut c, mut d, high @ ..] = wide;
    // The upper half waits until the end, so that a round's carries end with the round.
    for _ in 0..4 {
        let (low, above) = multiply_limbs(a, PRIME[3]);
        let carry;
        (b, carry) = add_with(b, a << 32, false);
        let carry_2;
        (c, carry_2) = add_with(c, a >> 32, carry);
        let carry_3;
        (d, carry_3) = add_with(d, low, carry_2);
        (a, b, c, d) = (b, c, d, above + u64::from(carry_3));
    }
    let (sum, carry) = add_wide(&[a, b, c, d], &high);
    FieldElement(reduce_once(&sum, carry, &PRIME))
}
