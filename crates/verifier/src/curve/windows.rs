//! Scalars as odd signed digits: no digit is zero, so that what a digit costs is always one addition
//! and no sum begins at infinity. Digits of w bits are +-1, +-3, ... +-(2^w - 1).

use crate::arithmetic::{ORDER, U256, sub_borrow};

/// How the 256 bits of a scalar are cut into windows, from the least significant one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Bits of each window but the first ones.
    bits: usize,
    /// How many windows at the low end have one bit more.
    wider: usize,
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit {
    /// Which odd multiple of the window: (|digit| - 1) / 2.
    pub index: usize,
    pub is_negative: bool,
}

impl Windows {
    /// Windows of `bits` bits, the first of which have one more, so that 256 bits come out.
    pub(crate) const fn new(bits: usize) -> Self {
        let count = 256 / bits;
        Self { bits, wider: 256 - count * bits, count }
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    pub(crate) const fn bits_of(&self, window: usize) -> usize {
        self.bits + (window < self.wider) as usize
    }

    /// Where a window begins, in bits.
    pub(crate) const fn shift_of(&self, window: usize) -> usize {
        window * self.bits + if window < self.wider { window } else { self.wider }
    }

    pub(crate) const fn multiples_of(&self, window: usize) -> usize {
        1 << (self.bits_of(window) - 1)
    }

    /// Where a window's multiples begin in a table of all.
    pub(crate) const fn offset_of(&self, window: usize) -> usize {
        let wide = if window < self.wider { window } else { self.wider };
        (window + wide) << (self.bits - 1)
    }

    /// How many odd multiples all windows have.
    pub(crate) const fn points(&self) -> usize {
        (self.count + self.wider) << (self.bits - 1)
    }

    /// The digits of `scalar` (from 1 to n - 1), the least significant first: their sum, each
    /// shifted by its window's place, is the scalar modulo n.
    #[inline]
    pub(crate) fn digits(&self, scalar: &U256) -> impl Iterator<Item = Digit> {
        // Only odd numbers have odd digits; of an even one, n minus it is odd.
        let is_even = scalar[0] & 1 == 0;
        let odd = if is_even { sub_borrow(&ORDER, scalar).0 } else { *scalar };
        let windows = *self;
        (0..self.count).map(move |window| {
            let bits = windows.bits_of(window);
            let value = bits_from(&odd, windows.shift_of(window)) | 1;
            if window + 1 == windows.count {
                let index = ((value & ((1 << bits) - 1)) >> 1) as usize;
                return Digit { index, is_negative: is_even };
            }
            // The lowest bit of the next window, which will be set there in any case, decides
            // whether this digit is the window's value or 2^bits less.
            let low = value & ((1 << bits) - 1);
            if (value >> bits) & 1 == 1 {
                Digit { index: (low >> 1) as usize, is_negative: is_even }
            } else {
                let magnitude = (1 << bits) - low;
                Digit { index: (magnitude >> 1) as usize, is_negative: !is_even }
            }
        })
    }
}

/// The bits of `integer` from `shift` (below 256) on, at least 52 of them if there are that many.
#[inline(always)]
fn bits_from(integer: &U256, shift: usize) -> u64 {
    let (limb, bit) = (shift / 64, shift % 64);
    let low = integer[limb] >> bit;
    match integer.get(limb + 1) {
        Some(next) if bit > 0 => low | (next << (64 - bit)),
        _ => low,
    }
}
