//! Eight signatures, or eight parts of one, at a time, by any instructions for vectors: the formulae for a
//! [`Vector`], of which each set of instructions has one.
//!
//! Functions here are inlined into those of a [`backend`], which are compiled for its instructions.

mod inverses;
mod plain;
mod points;
mod table;
mod tables;

use crate::arithmetic::{FieldElement, U256};
use crate::curve::Entry;

pub(crate) use plain::verify as verify_plain;
pub(crate) use table::build as build_table;
pub(crate) use tables::{Scratch, verify as verify_with_tables};

/// A bit for each of the eight lanes.
pub(crate) type Mask = u8;

/// Bits of a limb of the constants below.
const LIMB_BITS: usize = 52;
pub(crate) const LIMB: u64 = (1 << LIMB_BITS) - 1;
pub(crate) const PRIME: [u64; 5] =
    [0x000f_ffff_ffff_ffff, 0x0000_0fff_ffff_ffff, 0, 0x0000_0010_0000_0000, 0xffff_ffff_0000];
/// 2^520 modulo p.
const R_SQUARED: [u64; 5] = [
    0x0000_0000_0000_0300,
    0x000f_ffff_fff0_0000,
    0x000f_fffe_ffff_fffb,
    0x000f_dfff_ffff_ffff,
    0x0000_0000_04ff_ffff,
];
/// 2^256 modulo p: a product with it leads to Montgomery's form for limbs of 64 bits.
const TO_PORTABLE: [u64; 5] = [
    0x0000_0000_0000_0001,
    0x000f_f000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x000f_ffef_ffff_ffff,
    0x0000_0000_0000_ffff,
];
/// 2^260 modulo p.
const ONE: [u64; 5] = [
    0x0000_0000_0000_0010,
    0x000f_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x000f_feff_ffff_ffff,
    0x0000_0000_000f_ffff,
];

/// `factor` times p.
pub(crate) const fn multiple(factor: u64) -> [u64; 5] {
    let mut limbs = [0; 5];
    let mut carry = 0;
    let mut i = 0;
    while i < 5 {
        let product = PRIME[i] * factor + carry;
        limbs[i] = product & LIMB;
        carry = product >> LIMB_BITS;
        i += 1;
    }
    limbs
}

/// Eight field elements a, as 2^260 a modulo p in limbs of its own. They are not kept below p: each operation
/// documents the multiple of p that bounds its operands, below 16 p, and its result.
///
/// Only code of a backend that has found the processor's instructions may call it.
pub(crate) trait Vector: Copy {
    /// The same integer in all lanes.
    fn same(limbs: [u64; 5]) -> Self;
    /// One, below p.
    #[inline(always)]
    fn one() -> Self {
        Self::same(ONE)
    }
    /// Of integers below 16 p the residues, below 2 p.
    #[inline(always)]
    fn of_integers(integers: &Self) -> Self {
        integers.multiply(&Self::same(R_SQUARED))
    }
    /// Montgomery's form for limbs of 64 bits, below 2 p; of elements below 16 p.
    #[inline(always)]
    fn in_portable_form(&self) -> Self {
        self.multiply(&Self::same(TO_PORTABLE))
    }
    /// The product, for a below A p and b below B p: below (A B / 16 + 1) p.
    fn multiply(&self, other: &Self) -> Self;
    /// The square, for a below A p: below (A A / 16 + 1) p.
    fn square(&self) -> Self;
    /// a + b; the bounds add up.
    fn add(&self, other: &Self) -> Self;
    /// a - b for b below `FACTOR` p, in limbs that are at most twice those of a product: below what a is, plus
    /// (`FACTOR` + 1) p.
    fn subtract<const FACTOR: u64>(&self, other: &Self) -> Self;
    /// a - b - c, for b + c below `FACTOR` p and a below (15 - `FACTOR`) p: below 1.01 p.
    fn subtract_both<const FACTOR: u64>(&self, b: &Self, c: &Self) -> Self;
    /// The same residues, of elements below 16 p, below 1.01 p.
    fn tidy(&self) -> Self;
    /// Which lanes are zero modulo p, of elements below 16 p.
    fn zeros(&self) -> Mask;
    /// `other` in the lanes of `mask`, self in the rest.
    fn blend(&self, other: &Self, mask: Mask) -> Self;
    /// Minus self in the lanes of `mask`, for elements below 2 p: below 2 p.
    fn negate_where(&self, mask: Mask) -> Self;
    /// The coordinates of eight points of tables, negated in the lanes of `negative`: below 2 p.
    fn load_points(entries: [&Entry; 8], negative: Mask) -> (Self, Self);
    fn load_integers(integers: [&U256; 8]) -> Self;
    /// The lanes of elements below 2 p, each as an element whose Montgomery form is what the limbs are.
    fn elements_by_lane(&self) -> [FieldElement; 8];
}

/// Makes the methods of a type, which are compiled for some instructions, those of a [`Vector`].
macro_rules! vector {
    ($vector:ty; $($name:ident[$($this:ident)?]($($value:ident: $type:ty),*) -> $result:ty;)*) => {
        impl $crate::wide::Vector for $vector {
            $(#[inline(always)]
            fn $name($(&$this,)? $($value: $type),*) -> $result {
                // SAFETY: only code of a backend calls it, which has found the instructions.
                unsafe { <$vector>::$name($($this,)? $($value),*) }
            })*

            #[inline(always)]
            fn subtract<const FACTOR: u64>(&self, other: &Self) -> Self {
                // SAFETY: as above.
                unsafe { <$vector>::subtract::<FACTOR>(self, other) }
            }

            #[inline(always)]
            fn subtract_both<const FACTOR: u64>(&self, b: &Self, c: &Self) -> Self {
                // SAFETY: as above.
                unsafe { <$vector>::subtract_both::<FACTOR>(self, b, c) }
            }
        }
    };
    ($vector:ty) => {
        $crate::wide::vector! { $vector;
            same[](limbs: [u64; 5]) -> Self;
            multiply[self](other: &Self) -> Self;
            square[self]() -> Self;
            add[self](other: &Self) -> Self;
            tidy[self]() -> Self;
            zeros[self]() -> Mask;
            blend[self](other: &Self, mask: Mask) -> Self;
            negate_where[self](mask: Mask) -> Self;
            load_points[](entries: [&Entry; 8], negative: Mask) -> (Self, Self);
            load_integers[](integers: [&U256; 8]) -> Self;
            elements_by_lane[self]() -> [FieldElement; 8];
        }
    };
}
pub(crate) use vector;

/// The path by some instructions, whose names and literals these are, after what finds them: what proves that the
/// processor has them, and the functions that are compiled for them.
macro_rules! backend {
    ($vector:ty, $detected:ident, $features:literal, $($feature:tt)+) => {
        /// The path, and memory reused for each batch. It exists only where the processor has the instructions.
        pub(crate) struct Lanes {
            tables: $crate::wide::Scratch<$vector>,
            products: Vec<$vector>,
        }

        impl Lanes {
            pub(crate) fn detect() -> Option<Self> {
                let has = $($detected!($feature))&&+;
                has.then(|| Self { tables: $crate::wide::Scratch::new(), products: Vec::new() })
            }

            pub(crate) fn build_table(&self, point: &Affine, windows: Windows) -> Table {
                // SAFETY: `self` proves that the processor has the instructions.
                unsafe { self.table(point, windows) }
            }

            #[target_feature(enable = $features)]
            fn table(&self, point: &Affine, windows: Windows) -> Table {
                $crate::wide::build_table::<$vector>(point, windows)
            }

            #[target_feature(enable = $features)]
            fn by_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>) {
                $crate::wide::verify_with_tables(jobs, &mut self.tables, outcomes);
            }

            #[target_feature(enable = $features)]
            fn by_points(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>) {
                $crate::wide::verify_plain(jobs, &mut self.products, outcomes);
            }
        }

        impl $crate::job::Lanes for Lanes {
            fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)], outcomes: &mut Vec<Outcome>) {
                // SAFETY: as above.
                unsafe { self.by_tables(jobs, outcomes) }
            }

            fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)], outcomes: &mut Vec<Outcome>) {
                if jobs.len() < PLAIN_WORTHWHILE {
                    outcomes.clear();
                    return outcomes.resize(jobs.len(), Outcome::Undecided);
                }
                // SAFETY: as above.
                unsafe { self.by_points(jobs, outcomes) }
            }
        }
    };
}
pub(crate) use backend;

#[cfg(test)]
mod tests;
