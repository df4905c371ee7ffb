//! Between lanes of vectors and single elements and points.

use std::arch::aarch64::{
    uint32x4_t, vandq_u32, vdupq_n_u32, vld1q_u32, vreinterpretq_u32_u64, vreinterpretq_u64_u32,
    vshrq_n_u32, vsliq_n_u32, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
};

use crate::arithmetic::{FieldElement, U256};
use crate::curve::Entry;
use crate::wide::Mask;

use super::vector::{BITS, Half, LIMB, LIMBS, Vector};

impl Vector {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn load_points(entries: [&Entry; 8], negative: Mask) -> (Self, Self) {
        let coordinates = |number: usize| entries.map(|entry| &entry.0.as_chunks().0[number]);
        let y = Self::load_integers(coordinates(1)).negate_where(negative);
        (Self::load_integers(coordinates(0)), y)
    }

    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn load_integers(integers: [&U256; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = integers;
        Self([load([a, b, c, d]), load([e, f, g, h])])
    }

    #[target_feature(enable = "neon")]
    pub(super) fn elements_by_lane(&self) -> [FieldElement; 8] {
        let limbs = self.carried().limbs();
        std::array::from_fn(|lane| {
            let mut words = [0; 5];
            for (i, limb) in limbs[lane / 4].iter().enumerate() {
                let shifted = u128::from(limb[lane % 4]) << (BITS * i % 64);
                words[BITS * i / 64] |= shifted as u64;
                words[BITS * i / 64 + 1] |= (shifted >> 64) as u64;
            }
            let [a, b, c, d, high] = words;
            FieldElement::from_montgomery_below_2p(&[a, b, c, d], high)
        })
    }

    /// The limbs of each half's four lanes.
    pub(super) fn limbs(&self) -> [[[u32; 4]; LIMBS]; 2] {
        // SAFETY: a vector register is four times 32 bits, and any bits are integers.
        self.0.map(|half| half.map(|limb| unsafe { std::mem::transmute(limb) }))
    }
}

#[inline]
pub(super) fn words(words: [u32; 4]) -> uint32x4_t {
    // SAFETY: a vector register is four times 32 bits, and may have any.
    unsafe { std::mem::transmute(words) }
}

/// Four integers of 256 bits.
#[target_feature(enable = "neon")]
#[inline]
fn load(integers: [&U256; 4]) -> Half {
    let ([a, b, c, d], [e, f, g, h]) = (transposed(integers, 0), transposed(integers, 4));
    let limb = |limb| vandq_u32(limb, vdupq_n_u32(LIMB));
    // Limb i begins at bit 26 i, which is in word 26 i / 32.
    [
        limb(a),
        limb(vsliq_n_u32::<6>(vshrq_n_u32::<26>(a), b)),
        limb(vsliq_n_u32::<12>(vshrq_n_u32::<20>(b), c)),
        limb(vsliq_n_u32::<18>(vshrq_n_u32::<14>(c), d)),
        limb(vsliq_n_u32::<24>(vshrq_n_u32::<8>(d), e)),
        limb(vshrq_n_u32::<2>(e)),
        limb(vsliq_n_u32::<4>(vshrq_n_u32::<28>(e), f)),
        limb(vsliq_n_u32::<10>(vshrq_n_u32::<22>(f), g)),
        limb(vsliq_n_u32::<16>(vshrq_n_u32::<16>(g), h)),
        vshrq_n_u32::<10>(h),
    ]
}

/// Four words of 32 bits of each of four integers, from the word `first` on, by words.
#[target_feature(enable = "neon")]
#[inline]
fn transposed(integers: [&U256; 4], first: usize) -> [uint32x4_t; 4] {
    // SAFETY: an integer is eight words, the least significant first, and `first` is 0 or 4.
    let row = |integer: &U256| unsafe { vld1q_u32(integer.as_ptr().cast::<u32>().add(first)) };
    let [a, b, c, d] = integers.map(row);
    let pairs = |pairs| vreinterpretq_u64_u32(pairs);
    let (e, f) = (pairs(vtrn1q_u32(a, b)), pairs(vtrn2q_u32(a, b)));
    let (g, h) = (pairs(vtrn1q_u32(c, d)), pairs(vtrn2q_u32(c, d)));
    [vtrn1q_u64(e, g), vtrn1q_u64(f, h), vtrn2q_u64(e, g), vtrn2q_u64(f, h)]
        .map(|words| vreinterpretq_u32_u64(words))
}
