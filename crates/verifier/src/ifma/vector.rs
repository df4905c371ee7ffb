//! Eight field elements at a time: five limbs of 52 bits each, as 2^260 a modulo p (Montgomery's form
//! for these limbs), by AVX-512 IFMA.
//!
//! Elements are not kept below p. Each operation documents the multiple of p that bounds its
//! operands, and its result; all limbs but the last are below 2^52. That nothing is lost needs only
//! that operands of products are below 2^260, about 16 p.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_or_si512, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64, _mm512_xor_si512,
};

use crate::wide::{LIMB, Mask, PRIME, multiple};

/// Eight elements; limb by limb, the least significant first.
#[derive(Clone, Copy)]
pub(crate) struct Vector(pub [__m512i; 5]);

impl Vector {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn same(limbs: [u64; 5]) -> Self {
        let [a, b, c, d, e] = limbs;
        Self([limb(a), limb(b), limb(c), limb(d), limb(e)])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn multiply(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        let zero = _mm512_setzero_si512();
        let mut columns = [zero; 10];
        for i in 0..5 {
            for j in 0..5 {
                columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], a[j], b[i]);
            }
            for j in 0..5 {
                columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], a[j], b[i]);
            }
        }
        reduce(columns)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn square(&self) -> Self {
        let a = &self.0;
        let zero = _mm512_setzero_si512();
        let mut columns = [zero; 10];
        for i in 0..4 {
            for j in i + 1..5 {
                columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], a[j], a[i]);
                columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], a[j], a[i]);
            }
        }
        for column in &mut columns {
            *column = _mm512_add_epi64(*column, *column);
        }
        for i in 0..5 {
            columns[2 * i] = _mm512_madd52lo_epu64(columns[2 * i], a[i], a[i]);
            columns[2 * i + 1] = _mm512_madd52hi_epu64(columns[2 * i + 1], a[i], a[i]);
        }
        reduce(columns)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn add(&self, other: &Self) -> Self {
        let mut sum = self.0;
        for (limb, other) in sum.iter_mut().zip(other.0) {
            *limb = _mm512_add_epi64(*limb, other);
        }
        carry(sum)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn subtract<const FACTOR: u64>(&self, other: &Self) -> Self {
        let multiple = const { multiple(FACTOR) };
        let mut difference = self.0;
        for ((minuend, subtrahend), more) in difference.iter_mut().zip(other.0).zip(multiple) {
            *minuend = _mm512_sub_epi64(_mm512_add_epi64(*minuend, limb(more)), subtrahend);
        }
        carry(difference)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn subtract_both<const FACTOR: u64>(&self, b: &Self, c: &Self) -> Self {
        let multiple = const { multiple(FACTOR) };
        let mut difference = self.0;
        for (((minuend, b), c), more) in difference.iter_mut().zip(b.0).zip(c.0).zip(multiple) {
            let first = _mm512_sub_epi64(_mm512_add_epi64(*minuend, limb(more)), b);
            *minuend = _mm512_sub_epi64(first, c);
        }
        carry(difference).tidy()
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn tidy(&self) -> Self {
        // 2^256 = 2^224 - 2^192 - 2^96 + 1 modulo p.
        let [a, b, c, d, e] = self.0;
        let high = _mm512_srli_epi64::<48>(e);
        let e = _mm512_and_si512(e, limb((1 << 48) - 1));
        carry([
            _mm512_add_epi64(a, high),
            _mm512_sub_epi64(b, _mm512_slli_epi64::<44>(high)),
            c,
            _mm512_sub_epi64(d, _mm512_slli_epi64::<36>(high)),
            _mm512_add_epi64(e, _mm512_slli_epi64::<16>(high)),
        ])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn zeros(&self) -> Mask {
        // The product with the integer 1 is at most p: it is zero, or p, for zero.
        let reduced = self.multiply(&Self::same([1, 0, 0, 0, 0])).0;
        let mut any = reduced[0];
        let mut other = _mm512_xor_si512(reduced[0], limb(PRIME[0]));
        for i in 1..5 {
            any = _mm512_or_si512(any, reduced[i]);
            other = _mm512_or_si512(other, _mm512_xor_si512(reduced[i], limb(PRIME[i])));
        }
        let zero = _mm512_setzero_si512();
        _mm512_cmpeq_epi64_mask(any, zero) | _mm512_cmpeq_epi64_mask(other, zero)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn blend(&self, other: &Self, mask: Mask) -> Self {
        let mut blended = self.0;
        for (limb, other) in blended.iter_mut().zip(other.0) {
            *limb = _mm512_mask_blend_epi64(mask, *limb, other);
        }
        Self(blended)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn negate_where(&self, mask: Mask) -> Self {
        let zero = Self([_mm512_setzero_si512(); 5]);
        self.blend(&zero.subtract::<2>(self), mask)
    }
}

/// The same limb in all lanes.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn limb(limb: u64) -> __m512i {
    _mm512_set1_epi64(limb.cast_signed())
}

/// Montgomery's reduction of ten columns, limb by limb.
///
/// p = -1 modulo 2^52, so that the factor that clears a column is the column itself; p times it, less
/// what clears, is it times 2^96 + 2^192 - 2^224 + 2^256. The products take the lowest 52 bits of a
/// factor by themselves.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(mut columns: [__m512i; 10]) -> Vector {
    let (at_96, at_192, top) = (limb(1 << 44), limb(PRIME[3]), limb(PRIME[4]));
    for i in 0..5 {
        let factor = columns[i];
        let carry = _mm512_srli_epi64::<52>(factor);
        columns[i + 3] = _mm512_madd52lo_epu64(columns[i + 3], factor, at_192);
        columns[i + 2] = _mm512_madd52hi_epu64(columns[i + 2], factor, at_96);
        columns[i + 4] = _mm512_madd52hi_epu64(columns[i + 4], factor, at_192);
        let next = _mm512_madd52lo_epu64(columns[i + 1], factor, at_96);
        columns[i + 1] = _mm512_add_epi64(next, carry);
        columns[i + 4] = _mm512_madd52lo_epu64(columns[i + 4], factor, top);
        columns[i + 5] = _mm512_madd52hi_epu64(columns[i + 5], factor, top);
    }
    let [_, _, _, _, _, a, b, c, d, e] = columns;
    carry([a, b, c, d, e])
}

/// Brings all limbs but the last below 2^52; they may be negative before.
#[target_feature(enable = "avx512f")]
#[inline]
fn carry(mut limbs: [__m512i; 5]) -> Vector {
    for i in 0..4 {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srai_epi64::<52>(limbs[i]));
        limbs[i] = _mm512_and_si512(limbs[i], limb(LIMB));
    }
    Vector(limbs)
}
