//! The path by AVX2: limbs of 26 bits, in twice four lanes.
//!
//! The widest products of AVX2 are those of 32 bits. Limbs of 26 bits leave room for sums of products without
//! carries, and are halves of those of 52 bits, so that both paths have the same Montgomery form. The limbs of sums
//! and differences are not carried either: only products and tidy elements have limbs below 2^26, and only these may be
//! subtracted. The others stay below 2^29, of which the sums of ten products fit 64 bits if one factor is tidy or
//! both are below 2^28.5.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_pd,
    _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_mul_epu32, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_sub_epi64,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use crate::arithmetic::{FieldElement, U256};
use crate::curve::{Affine, Entry, Table, Windows};
use crate::job::{Outcome, Scalars};
use crate::wide::{self, Mask, ONE, PRIME, R_SQUARED, TO_PORTABLE, multiple};

/// The minimum number of signatures without tables for which eight lanes are faster than one by
/// one.
const PLAIN_WORTHWHILE: usize = 6;

wide::vector!(Vector);
wide::backend!(Vector, "avx2", "avx2");

/// Eight elements.
#[derive(Clone, Copy)]
pub(crate) struct Vector([Half; 2]);

/// Four elements; limb by limb, the least significant first.
type Half = [__m256i; LIMBS];

const LIMBS: usize = 10;
const BITS: usize = 26;
const LIMB: u64 = (1 << BITS) - 1;

/// The halves of limbs of 52 bits.
const fn halves(limbs: [u64; 5]) -> [u64; LIMBS] {
    let mut halves = [0; LIMBS];
    let mut i = 0;
    while i < LIMBS {
        halves[i] = (limbs[i / 2] >> (BITS * (i % 2))) & LIMB;
        i += 1;
    }
    halves
}

/// `factor` times p, with so much in each limb but the last that a difference of limbs is not negative: 2^`bits`,
/// which the next limb has less.
const fn minuend(factor: u64, bits: usize) -> [u64; LIMBS] {
    let mut limbs = halves(multiple(factor));
    let mut i = 0;
    while i + 1 < LIMBS {
        limbs[i] = limbs[i].wrapping_add(1 << bits);
        limbs[i + 1] = limbs[i + 1].wrapping_sub(1 << (bits - BITS));
        i += 1;
    }
    limbs
}

impl Vector {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn same(limbs: [u64; LIMBS]) -> Self {
        Self([limbs.map(|value| limb(value)); 2])
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn one() -> Self {
        Self::same(const { halves(ONE) })
    }

    #[target_feature(enable = "avx2")]
    fn of_integers(integers: &Self) -> Self {
        integers.multiply(&Self::same(const { halves(R_SQUARED) }))
    }

    #[target_feature(enable = "avx2")]
    fn in_portable_form(&self) -> Self {
        self.multiply(&Self::same(const { halves(TO_PORTABLE) }))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn multiply(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        Self([product(a, c), product(b, d)])
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn square(&self) -> Self {
        let [a, b] = &self.0;
        Self([square(a), square(b)])
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn add(&self, other: &Self) -> Self {
        self.by_limb(|i, half| _mm256_add_epi64(self.0[half][i], other.0[half][i]))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn subtract<const FACTOR: u64>(&self, other: &Self) -> Self {
        self.less(other, const { minuend(FACTOR, 27) })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn less(&self, other: &Self, more: [u64; LIMBS]) -> Self {
        self.by_limb(|i, half| {
            let minuend = _mm256_add_epi64(self.0[half][i], limb(more[i]));
            _mm256_sub_epi64(minuend, other.0[half][i])
        })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn subtract_both<const FACTOR: u64>(&self, b: &Self, c: &Self) -> Self {
        let both = b.by_limb(|i, half| _mm256_add_epi64(b.0[half][i], c.0[half][i]));
        self.less(&both, const { minuend(FACTOR, 30) }).tidy()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn tidy(&self) -> Self {
        // 2^256 = 2^224 - 2^192 - 2^96 + 1 modulo p; bit 256 is bit 22 of the last limb.
        let nothing = const { minuend(0, 30) };
        let mut tidy = self.carried();
        for limbs in &mut tidy.0 {
            let high = _mm256_srli_epi64::<22>(limbs[9]);
            limbs[9] = _mm256_and_si256(limbs[9], limb((1 << 22) - 1));
            for (value, more) in limbs.iter_mut().zip(nothing) {
                *value = _mm256_add_epi64(*value, limb(more));
            }
            limbs[0] = _mm256_add_epi64(limbs[0], high);
            limbs[3] = _mm256_sub_epi64(limbs[3], _mm256_slli_epi64::<18>(high));
            limbs[7] = _mm256_sub_epi64(limbs[7], _mm256_slli_epi64::<10>(high));
            limbs[8] = _mm256_add_epi64(limbs[8], _mm256_slli_epi64::<16>(high));
        }
        tidy.carried()
    }

    #[target_feature(enable = "avx2")]
    fn zeros(&self) -> Mask {
        // The product with the integer 1 is at most p: it is zero, or p, for zero.
        let reduced = self.multiply(&Self::same([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        let prime = const { halves(PRIME) };
        let zero = _mm256_setzero_si256();
        let of = |half: &Half| {
            let (mut any, mut other) = (zero, zero);
            for (value, prime) in half.iter().zip(prime) {
                any = _mm256_or_si256(any, *value);
                other = _mm256_or_si256(other, _mm256_xor_si256(*value, limb(prime)));
            }
            let equal =
                _mm256_or_si256(_mm256_cmpeq_epi64(any, zero), _mm256_cmpeq_epi64(other, zero));
            _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as Mask
        };
        of(&reduced.0[0]) | of(&reduced.0[1]) << 4
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn blend(&self, other: &Self, mask: Mask) -> Self {
        let lane = _mm256_set_epi64x(8, 4, 2, 1);
        let masks = [mask, mask >> 4]
            .map(|mask| _mm256_cmpeq_epi64(_mm256_and_si256(limb(mask.into()), lane), lane));
        self.by_limb(|i, half| _mm256_blendv_epi8(self.0[half][i], other.0[half][i], masks[half]))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn negate_where(&self, mask: Mask) -> Self {
        let zero = Self([[_mm256_setzero_si256(); LIMBS]; 2]);
        self.blend(&zero.subtract::<2>(self), mask).carried()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_points(entries: [&Entry; 8], negative: Mask) -> (Self, Self) {
        let x = load(entries.map(|entry| entry.0[..4].as_ptr()));
        let y = load(entries.map(|entry| entry.0[4..].as_ptr()));
        (x, y.negate_where(negative))
    }

    #[target_feature(enable = "avx2")]
    fn load_integers(integers: [&U256; 8]) -> Self {
        load(integers.map(|integer| integer.as_ptr()))
    }

    #[target_feature(enable = "avx2")]
    fn elements_by_lane(&self) -> [FieldElement; 8] {
        let words = |limb: __m256i| {
            // SAFETY: a vector register is four times 64 bits, and any bits are integers.
            unsafe { std::mem::transmute::<__m256i, [u64; 4]>(limb) }
        };
        let limbs = self.carried().0.map(|half| half.map(words));
        std::array::from_fn(|lane| {
            let mut words = [0; 5];
            for (i, limb) in limbs[lane / 4].iter().enumerate() {
                let wide = u128::from(limb[lane % 4]) << (BITS * i % 64);
                words[BITS * i / 64] |= wide as u64;
                words[BITS * i / 64 + 1] |= (wide >> 64) as u64;
            }
            let [a, b, c, d, high] = words;
            FieldElement::from_montgomery_below_2p(&[a, b, c, d], high)
        })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn carried(&self) -> Self {
        let [a, b] = self.0;
        Self([carry(a), carry(b)])
    }

    /// Each limb of each half.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn by_limb(&self, of: impl Fn(usize, usize) -> __m256i) -> Self {
        let mut result = *self;
        for (half, limbs) in result.0.iter_mut().enumerate() {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = of(i, half);
            }
        }
        result
    }
}

/// The same limb in four lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn limb(limb: u64) -> __m256i {
    _mm256_set1_epi64x(limb.cast_signed())
}

#[target_feature(enable = "avx2")]
#[inline]
fn product(a: &Half, b: &Half) -> Half {
    reduced(|column| {
        let mut sum = _mm256_setzero_si256();
        for i in column.saturating_sub(LIMBS - 1)..=column.min(LIMBS - 1) {
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(a[i], b[column - i]));
        }
        sum
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn square(a: &Half) -> Half {
    let twice = a.map(|limb| _mm256_add_epi64(limb, limb));
    reduced(|column| {
        let mut sum = _mm256_setzero_si256();
        for i in column.saturating_sub(LIMBS - 1)..column.div_ceil(2) {
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(twice[i], a[column - i]));
        }
        match column % 2 {
            0 if column < 2 * LIMBS - 1 => {
                let middle = a[column / 2];
                _mm256_add_epi64(sum, _mm256_mul_epu32(middle, middle))
            }
            _ => sum,
        }
    })
}

/// Montgomery's reduction of the columns of a product, which are worked out when they are needed: all at once would
/// not fit the registers. As p = -1 modulo 2^26, the factor that clears a column is the column itself, and p times
/// it, less what clears, is it times 2^96 + 2^192 - 2^224 + 2^256.
#[target_feature(enable = "avx2")]
#[inline]
fn reduced(of: impl Fn(usize) -> __m256i) -> Half {
    let (mask, ninth) = (limb(LIMB), limb(const { halves(PRIME)[8] }));
    let zero = _mm256_setzero_si256();
    let (mut carry, mut factors, mut result) = (zero, [zero; LIMBS], [zero; LIMBS]);
    macro_rules! columns {
        ($($column:literal)+) => {$(
            let mut sum = _mm256_add_epi64(of($column), carry);
            let factor = |back: usize| ($column as usize).checked_sub(back).and_then(|at| factors.get(at));
            if let Some(factor) = factor(3) {
                sum = _mm256_add_epi64(sum, _mm256_slli_epi64::<18>(*factor));
            }
            if let Some(factor) = factor(7) {
                sum = _mm256_add_epi64(sum, _mm256_slli_epi64::<10>(*factor));
            }
            if let Some(factor) = factor(8) {
                sum = _mm256_add_epi64(sum, _mm256_mul_epu32(*factor, ninth));
            }
            if let Some(factor) = factor(9) {
                sum = _mm256_add_epi64(sum, _mm256_sub_epi64(_mm256_slli_epi64::<22>(*factor), *factor));
            }
            let low = _mm256_and_si256(sum, mask);
            let of_result = ($column as usize).checked_sub(LIMBS).and_then(|at| result.get_mut(at));
            match (factors.get_mut($column as usize), of_result) {
                (Some(factor), _) => *factor = low,
                // The last limb keeps all.
                (None, Some(limb)) => *limb = if $column == 19 { sum } else { low },
                (None, None) => {}
            }
            carry = _mm256_srli_epi64::<26>(sum);
        )+};
    }
    columns!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    let _ = carry;
    result
}

/// Brings all limbs but the last below 2^26.
#[target_feature(enable = "avx2")]
#[inline]
fn carry(mut limbs: Half) -> Half {
    for i in 0..LIMBS - 1 {
        limbs[i + 1] = _mm256_add_epi64(limbs[i + 1], _mm256_srli_epi64::<26>(limbs[i]));
        limbs[i] = _mm256_and_si256(limbs[i], limb(LIMB));
    }
    limbs
}

/// Eight integers of four limbs of 64 bits, each behind a pointer.
#[target_feature(enable = "avx2")]
#[inline]
fn load(integers: [*const u64; 8]) -> Vector {
    let half = |first: usize| {
        // SAFETY: both callers pass pointers to four limbs.
        let row = |lane: usize| unsafe { _mm256_loadu_si256(integers[first + lane].cast()) };
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (even_2, odd_2) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        let words = [
            _mm256_permute2x128_si256::<0x20>(even, even_2),
            _mm256_permute2x128_si256::<0x20>(odd, odd_2),
            _mm256_permute2x128_si256::<0x31>(even, even_2),
            _mm256_permute2x128_si256::<0x31>(odd, odd_2),
        ];
        std::array::from_fn(|i| {
            let (word, shift) = (BITS * i / 64, (BITS * i % 64) as u64);
            let low = _mm256_srlv_epi64(words[word], limb(shift));
            let next = words.get(word + 1).filter(|_| shift > 0);
            let all = next.map_or(low, |next| {
                _mm256_or_si256(low, _mm256_sllv_epi64(*next, limb(64 - shift)))
            });
            _mm256_and_si256(all, limb(LIMB))
        })
    };
    Vector([half(0), half(4)])
}
