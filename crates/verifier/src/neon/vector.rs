//! Eight field elements at a time: ten limbs of 26 bits each, as 2^260 a modulo p, by NEON.
//!
//! Limbs are unsigned words of 32 bits. Those of products, squares, tidied, loaded and negated
//! elements are below 2^26, the last one too, because elements are below 2^260. Sums and differences
//! of these are not carried, so that their limbs grow; what each operation takes is in its
//! documentation. Operands of products may have limbs below 2^30: ten products are below 10 * 2^60,
//! and what the reduction adds to a column is below 2^54, together less than 2^64.

use std::arch::aarch64::{
    uint32x4_t, uint64x2_t, vaddq_u32, vandq_u32, vbslq_u32, vdupq_n_u32, vdupq_n_u64,
    vget_low_u32, vmlal_high_laneq_u32, vmlal_high_u32, vmlal_laneq_u32, vmlal_u32, vmlaq_n_u32,
    vmlsq_n_u32, vreinterpretq_u32_u64, vshlq_n_u32, vshrq_n_u32, vshrq_n_u64, vsraq_n_u32,
    vsubq_u32, vtstq_u32, vuzp1q_u32,
};

use crate::wide::{Mask, PRIME, multiple};

use super::lanes::words;

/// Eight elements, four in each half.
#[derive(Clone, Copy)]
pub(crate) struct Vector(pub [Half; 2]);

/// Four elements; limb by limb, the least significant first.
pub(super) type Half = [uint32x4_t; LIMBS];

pub(super) const LIMBS: usize = 10;
pub(super) const BITS: usize = 26;
pub(super) const LIMB: u32 = (1 << BITS) - 1;

/// Limbs of 26 bits from those of 52.
const fn split(limbs: [u64; 5]) -> [u32; LIMBS] {
    let mut halves = [0; LIMBS];
    let mut i = 0;
    while i < LIMBS {
        halves[i] = (limbs[i / 2] >> (BITS * (i % 2))) as u32 & LIMB;
        i += 1;
    }
    halves
}

/// `factor` times p, where each limb has borrowed 2^`bits` from the next one: limbs that are not above
/// 2^`bits` - 2^(`bits` - 26) can be subtracted from it. The last limb may be negative (modulo 2^32).
const fn minuend(factor: u64, bits: usize) -> [u32; LIMBS] {
    let mut limbs = split(multiple(factor));
    let mut i = 0;
    while i + 1 < LIMBS {
        limbs[i] = limbs[i].wrapping_add(1 << bits);
        limbs[i + 1] = limbs[i + 1].wrapping_sub(1 << (bits - BITS));
        i += 1;
    }
    limbs
}

impl Vector {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn same(limbs: [u64; 5]) -> Self {
        let limbs = split(limbs);
        let half = std::array::from_fn(|i| vdupq_n_u32(limbs[i]));
        Self([half; 2])
    }

    /// A vector made of the places (half, limb) of others.
    #[target_feature(enable = "neon")]
    #[inline]
    fn by_limb(mut self, of: impl Fn(usize, usize) -> uint32x4_t) -> Self {
        for (half, limbs) in self.0.iter_mut().enumerate() {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = of(half, i);
            }
        }
        self
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn less(&self, other: &Self, minuend: [u32; LIMBS]) -> Self {
        self.by_limb(|half, i| {
            let minuend = vaddq_u32(self.0[half][i], vdupq_n_u32(minuend[i]));
            vsubq_u32(minuend, other.0[half][i])
        })
    }

    /// Brings all limbs but the last below 2^26; before, they are not negative and below 2^32 - 2^6. The
    /// last one may be negative before, and is not afterwards if the elements are not.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn carried(mut self) -> Self {
        for limbs in &mut self.0 {
            for i in 0..LIMBS - 1 {
                limbs[i + 1] = vsraq_n_u32::<26>(limbs[i + 1], limbs[i]);
                limbs[i] = vandq_u32(limbs[i], vdupq_n_u32(LIMB));
            }
        }
        self
    }

    /// The product, of limbs below 2^30.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn multiply(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        Self([product(a, c), product(b, d)])
    }

    /// The square, of limbs below 2^30.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn square(&self) -> Self {
        let [a, b] = &self.0;
        Self([square(a), square(b)])
    }

    /// The sum; bounds of limbs add up.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn add(&self, other: &Self) -> Self {
        self.by_limb(|half, i| vaddq_u32(self.0[half][i], other.0[half][i]))
    }

    /// The difference, for limbs of `other` up to 2^27 - 2; limbs are below those of self plus 2^27 + 2^26.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn subtract<const FACTOR: u64>(&self, other: &Self) -> Self {
        // With `FACTOR` times p alone, the last limb might come out negative: it is FACTOR 2^22 - 1 of
        // `other` at most, and two more were borrowed from it.
        self.less(other, const { minuend(FACTOR + 1, 27) })
    }

    /// The difference, for limbs of b + c up to 2^30 - 2^4, and of self below 2^31.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn subtract_both<const FACTOR: u64>(&self, b: &Self, c: &Self) -> Self {
        self.less(&b.add(c), const { minuend(FACTOR, 30) }).tidy()
    }

    /// The same residues, of limbs below 2^32 - 2^6.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn tidy(&self) -> Self {
        // 2^256 = 2^224 - 2^192 - 2^96 + 1 modulo p; bit 256 is bit 22 of the last limb. What is above
        // is below 16, so that no limb but the last is negative once it has borrowed 2^30.
        let nothing = const { minuend(0, 30) };
        let mut tidy = self.carried();
        for limbs in &mut tidy.0 {
            let high = vshrq_n_u32::<22>(limbs[9]);
            limbs[9] = vandq_u32(limbs[9], vdupq_n_u32((1 << 22) - 1));
            for (limb, more) in limbs.iter_mut().zip(nothing) {
                *limb = vaddq_u32(*limb, vdupq_n_u32(more));
            }
            limbs[0] = vaddq_u32(limbs[0], high);
            limbs[3] = vmlsq_n_u32(limbs[3], high, 1 << 18);
            limbs[7] = vmlsq_n_u32(limbs[7], high, 1 << 10);
            limbs[8] = vmlaq_n_u32(limbs[8], high, 1 << 16);
        }
        tidy.carried()
    }

    #[target_feature(enable = "neon")]
    pub(super) fn zeros(&self) -> Mask {
        // The product with the integer 1 is at most p: it is zero, or p, for zero.
        let reduced = self.multiply(&Self::same([1, 0, 0, 0, 0])).elements_by_lane();
        (0..8).fold(0, |mask, lane| mask | Mask::from(reduced[lane].is_zero()) << lane)
    }

    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn blend(&self, other: &Self, mask: Mask) -> Self {
        let lanes = words([1, 2, 4, 8]);
        let masks = [mask, mask >> 4].map(|mask| vtstq_u32(vdupq_n_u32(mask.into()), lanes));
        self.by_limb(|half, i| vbslq_u32(masks[half], other.0[half][i], self.0[half][i]))
    }

    /// Minus self in the lanes of `mask`, for limbs below 2^26.
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn negate_where(&self, mask: Mask) -> Self {
        let negative = Self::same([0; 5]).less(self, const { minuend(2, 27) });
        self.blend(&negative, mask).carried()
    }
}

/// A column of four lanes: two sums of 64 bits in each.
type Column = [uint64x2_t; 2];

/// Plus the products of four lanes.
#[target_feature(enable = "neon")]
#[inline]
fn plus(sum: Column, a: uint32x4_t, b: uint32x4_t) -> Column {
    [vmlal_u32(sum[0], vget_low_u32(a), vget_low_u32(b)), vmlal_high_u32(sum[1], a, b)]
}

/// Plus four lanes times one lane of `b`.
#[target_feature(enable = "neon")]
#[inline]
fn plus_by_lane<const LANE: i32>(sum: Column, a: uint32x4_t, b: uint32x4_t) -> Column {
    let low = vmlal_laneq_u32::<LANE>(sum[0], vget_low_u32(a), b);
    [low, vmlal_high_laneq_u32::<LANE>(sum[1], a, b)]
}

// Not inlined: these are some 400 instructions each, and many places call them.
#[target_feature(enable = "neon")]
#[inline(never)]
fn product(a: &Half, b: &Half) -> Half {
    reduced(|column, mut sum| {
        for i in 0..LIMBS {
            if i <= column && column < i + LIMBS {
                sum = plus(sum, a[i], b[column - i]);
            }
        }
        sum
    })
}

#[target_feature(enable = "neon")]
#[inline(never)]
fn square(a: &Half) -> Half {
    let twice = a.map(|limb| vshlq_n_u32::<1>(limb));
    reduced(|column, mut sum| {
        for i in 0..LIMBS {
            if 2 * i < column && column < i + LIMBS {
                sum = plus(sum, twice[i], a[column - i]);
            }
        }
        if column % 2 == 0 { plus(sum, a[column / 2], a[column / 2]) } else { sum }
    })
}

/// The low halves of four sums.
#[target_feature(enable = "neon")]
#[inline]
fn low_words(sum: Column) -> uint32x4_t {
    vuzp1q_u32(vreinterpretq_u32_u64(sum[0]), vreinterpretq_u32_u64(sum[1]))
}

/// Montgomery's reduction of columns, to each of which `of` adds its products.
///
/// p = -1 modulo 2^26, so that the factor that clears a column is its lowest 26 bits; p times it, less
/// what clears, is it times 2^96 + 2^192 + 2^256 - 2^224. The last two terms are two limbs of p.
#[target_feature(enable = "neon")]
#[inline]
fn reduced(of: impl Fn(usize, Column) -> Column) -> Half {
    const PARTS: [u32; 4] = [1 << 18, 1 << 10, split(PRIME)[8], split(PRIME)[9]];
    // Hidden from the compiler: of a product with a power of two that it knows, it makes a shift and
    // a sum.
    let parts = words(*std::hint::black_box(&PARTS));
    let mut sum = [vdupq_n_u64(0); 2];
    let mut limbs = [vdupq_n_u32(0); 2 * LIMBS];
    // A loop would not be unrolled, and would keep the limbs in memory.
    macro_rules! columns {
        ($($column:literal)+) => {$(
            sum = of($column, sum);
            let factor = |back: usize| {
                let from = ($column as usize).wrapping_sub(back);
                (from < LIMBS).then(|| limbs[from])
            };
            if let Some(factor) = factor(3) {
                sum = plus_by_lane::<0>(sum, factor, parts);
            }
            if let Some(factor) = factor(7) {
                sum = plus_by_lane::<1>(sum, factor, parts);
            }
            if let Some(factor) = factor(8) {
                sum = plus_by_lane::<2>(sum, factor, parts);
            }
            if let Some(factor) = factor(9) {
                sum = plus_by_lane::<3>(sum, factor, parts);
            }
            limbs[$column] = vandq_u32(low_words(sum), vdupq_n_u32(LIMB));
            sum = sum.map(|sum| vshrq_n_u64::<26>(sum));
        )+};
    }
    columns!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);
    // The last one has what was carried only.
    limbs[19] = low_words(sum);
    std::array::from_fn(|i| limbs[LIMBS + i])
}
