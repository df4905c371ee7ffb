//! The positions of a batch's points in tables.

use crate::arithmetic::is_zero;
use crate::curve::{Affine, Digit, Entry, Table};
use crate::job::Scalars;

/// An entry of a table, and whether to negate its point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u32);

impl Place {
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Its point in a table in the portable form.
    #[inline]
    pub(crate) fn of(self, table: &Table) -> Affine {
        table.point(self.index(), self.is_negative())
    }

    #[inline(always)]
    pub(crate) const fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Finds the places of all points of all signatures, those of `base` before those of the key's
/// table, and prefetches them: with many keys, fetching takes longer than adding.
///
/// A product with zero has no digits. In place of u1 = 0 stands 1; such signatures are not for tables.
pub(crate) fn find(jobs: &[(Scalars, &Table)], base: &Table, places: &mut Vec<Place>) {
    places.clear();
    for (scalars, table) in jobs {
        let u1 = if is_zero(&scalars.u1) { [1, 0, 0, 0] } else { scalars.u1 };
        for (table, scalar) in [(base, &u1), (*table, &scalars.u2)] {
            let windows = &table.windows;
            let digits = windows.digits(scalar).enumerate();
            places.extend(digits.map(|(window, Digit { index, is_negative })| {
                let index = windows.offset_of(window) + index;
                prefetch(&table.entries[index]);
                Place((index << 1) as u32 | u32::from(is_negative))
            }));
        }
    }
}

/// Asks the processor to bring an entry into the second-level cache.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the instruction takes any address")]
#[inline(always)]
fn prefetch(entry: &Entry) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: it is a hint, which every processor of this architecture takes.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(entry).cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch(_: &Entry) {}
