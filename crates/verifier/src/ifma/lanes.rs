//! Between lanes of vectors and single elements and points.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_load_si512, _mm512_or_si512, _mm512_shuffle_i64x2,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use crate::arithmetic::{FieldElement, U256};
use crate::curve::Entry;

use crate::wide::{LIMB, Mask};

use super::vector::{Vector, limb};

/// Eight elements by lanes: the integers that the limbs are, below 2^260.
type Lanes = [[u64; 5]; 8];

impl Vector {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn load_points(entries: [&Entry; 8], negative: Mask) -> (Self, Self) {
        let [a, b, c, d, e, f, g, h] = transpose(entries.map(|entry| load(entry)));
        let y = from_limbs_of_64([e, f, g, h]).negate_where(negative);
        (from_limbs_of_64([a, b, c, d]), y)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load_integers(integers: [&U256; 8]) -> Self {
        let rows = integers.map(|integer| {
            let mut row = [0; 8];
            row[..4].copy_from_slice(integer);
            load(&Entry(row))
        });
        let [a, b, c, d, ..] = transpose(rows);
        from_limbs_of_64([a, b, c, d])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn elements_by_lane(&self) -> [FieldElement; 8] {
        to_lanes(self).map(|[a, b, c, d, e]| {
            let low = [
                a | (b << 52),
                (b >> 12) | (c << 40),
                (c >> 24) | (d << 28),
                (d >> 36) | (e << 16),
            ];
            FieldElement::from_montgomery_below_2p(&low, e >> 48)
        })
    }
}

fn to_lanes(vector: &Vector) -> Lanes {
    // SAFETY: a vector register is eight times 64 bits, and any bits are integers.
    let limbs = vector.0.map(|limb| unsafe { std::mem::transmute::<__m512i, [u64; 8]>(limb) });
    std::array::from_fn(|lane| limbs.map(|limb| limb[lane]))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(entry: &Entry) -> __m512i {
    // SAFETY: an entry is 64 octets, aligned to as many.
    unsafe { _mm512_load_si512(std::ptr::from_ref(entry).cast()) }
}

/// Limbs of 52 bits from those of 64.
#[target_feature(enable = "avx512f")]
#[inline]
fn from_limbs_of_64(limbs: [__m512i; 4]) -> Vector {
    let [a, b, c, d] = limbs;
    let mask = limb(LIMB);
    let and = |value| _mm512_and_si512(value, mask);
    Vector([
        and(a),
        and(_mm512_or_si512(_mm512_srli_epi64::<52>(a), _mm512_slli_epi64::<12>(b))),
        and(_mm512_or_si512(_mm512_srli_epi64::<40>(b), _mm512_slli_epi64::<24>(c))),
        and(_mm512_or_si512(_mm512_srli_epi64::<28>(c), _mm512_slli_epi64::<36>(d))),
        _mm512_srli_epi64::<16>(d),
    ])
}

/// Eight rows of eight to columns.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // Each has the even, or the odd, columns of two rows.
    let even = [
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpacklo_epi64(e, f),
        _mm512_unpacklo_epi64(g, h),
    ];
    let odd = [
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpackhi_epi64(c, d),
        _mm512_unpackhi_epi64(e, f),
        _mm512_unpackhi_epi64(g, h),
    ];
    let ([a, c, e, g], [b, d, f, h]) = (gather(even), gather(odd));
    [a, b, c, d, e, f, g, h]
}

/// From pairs of rows four columns of all rows.
#[target_feature(enable = "avx512f")]
#[inline]
fn gather(pairs: [__m512i; 4]) -> [__m512i; 4] {
    let [a, b, c, d] = pairs;
    let first = _mm512_shuffle_i64x2::<0x88>(a, b);
    let second = _mm512_shuffle_i64x2::<0xdd>(a, b);
    let third = _mm512_shuffle_i64x2::<0x88>(c, d);
    let fourth = _mm512_shuffle_i64x2::<0xdd>(c, d);
    [
        _mm512_shuffle_i64x2::<0x88>(first, third),
        _mm512_shuffle_i64x2::<0x88>(second, fourth),
        _mm512_shuffle_i64x2::<0xdd>(first, third),
        _mm512_shuffle_i64x2::<0xdd>(second, fourth),
    ]
}
