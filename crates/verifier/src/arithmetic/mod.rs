//! Integers of 256 bits, and residues modulo the prime of the field and the order of the group.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "instructions that not every processor has")]
mod adx;
mod field;
mod integer;
mod inversion;
mod order;

pub(crate) use field::{FieldElement, invert_all};
pub(crate) use integer::{
    U256, add_wide, from_be_bytes, is_less, is_zero, sub_borrow, to_be_bytes,
};
pub(crate) use order::{ORDER, OrderElement};

#[cfg(test)]
mod tests;
