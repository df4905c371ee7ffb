//! Residues modulo n, the prime order of the group, in Montgomery's form.

use super::integer::{U256, add_carry, multiply_add, multiply_wide, reduce_once};
use super::inversion::Inverter;

/// A residue modulo n in Montgomery's form, below n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderElement(U256);

pub(crate) const ORDER: U256 =
    [0xf3b9_cac2_fc63_2551, 0xbce6_faad_a717_9e84, 0xffff_ffff_ffff_ffff, 0xffff_ffff_0000_0000];
/// 2^512 modulo n.
const R_SQUARED: OrderElement = OrderElement([
    0x8324_4c95_be79_eea2,
    0x4699_799c_49bd_6fa6,
    0x2845_b239_2b6b_ec59,
    0x66e1_2d94_f3d9_5620,
]);
/// 2^768 modulo n.
const R_CUBED: OrderElement = OrderElement([
    0xac8e_bec9_0b65_a624,
    0x111f_28ae_0c05_55c9,
    0x2543_b924_6ba5_e93f,
    0x503a_54e7_6407_be65,
]);
/// -1 / n modulo 2^64.
const MINUS_INVERSE: u64 = 0xccd1_c8aa_ee00_bc4f;
static INVERTER: Inverter = Inverter::new(&ORDER);

impl OrderElement {
    pub(crate) const ONE: Self = Self([
        0x0c46_353d_039c_daaf,
        0x4319_0552_58e8_617b,
        0x0000_0000_0000_0000,
        0x0000_0000_ffff_ffff,
    ]);

    /// The residue of any integer below 2^256.
    pub(crate) fn from_integer(integer: &U256) -> Self {
        // 2^256 < 2 n.
        Self(reduce_once(integer, 0, &ORDER)).multiply(&R_SQUARED)
    }

    /// self * other, where the other is an integer and not in Montgomery's form: what comes out is
    /// an integer below n too.
    #[inline]
    pub(crate) fn multiply_integer(&self, integer: &U256) -> U256 {
        self.multiply(&Self(reduce_once(integer, 0, &ORDER))).0
    }

    #[inline]
    pub(crate) fn multiply(&self, other: &Self) -> Self {
        reduce(multiply_wide(&self.0, &other.0))
    }

    /// 1 / self; zero for zero.
    pub(crate) fn invert(&self) -> Self {
        Self(INVERTER.invert(&self.0)).multiply(&R_CUBED)
    }
}

/// Montgomery's reduction: `wide` / 2^256 modulo n, for `wide` below 2^256 n.
#[inline(always)]
fn reduce(mut wide: [u64; 8]) -> OrderElement {
    let mut top = 0;
    for i in 0..4 {
        let factor = wide[i].wrapping_mul(MINUS_INVERSE);
        let mut carry = 0;
        for j in 0..4 {
            (wide[i + j], carry) = multiply_add(wide[i + j], factor, ORDER[j], carry);
        }
        (wide[i + 4], top) = add_carry(wide[i + 4], carry, top);
    }
    OrderElement(reduce_once(&[wide[4], wide[5], wide[6], wide[7]], top, &ORDER))
}
