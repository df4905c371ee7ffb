//! Unsigned integers of 256 bits: four limbs of 64 bits, the least significant first.

pub(crate) type U256 = [u64; 4];

/// Reads 32 octets, the most significant first.
pub(crate) fn from_be_bytes(bytes: &[u8; 32]) -> U256 {
    let mut limbs = [0; 4];
    for (limb, octets) in limbs.iter_mut().rev().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_be_bytes(*octets);
    }
    limbs
}

/// Writes 32 octets, the most significant first.
pub(crate) fn to_be_bytes(integer: &U256) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (octets, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(integer.iter().rev()) {
        *octets = limb.to_be_bytes();
    }
    bytes
}

pub(crate) fn is_less(a: &U256, b: &U256) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

pub(crate) fn is_zero(a: &U256) -> bool {
    *a == [0; 4]
}

/// a + b + carry, and whether there is a carry out of it.
#[inline(always)]
pub(crate) fn add_with(a: u64, b: u64, carry: bool) -> (u64, bool) {
    #[cfg(target_arch = "x86_64")]
    {
        // Compilers make vectors of what comes before a plain sum, and their words come back slowly.
        let mut sum = 0;
        let carry = std::arch::x86_64::_addcarry_u64(carry.into(), a, b, &mut sum);
        (sum, carry != 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let (partial, first) = a.overflowing_add(b);
        let (sum, second) = partial.overflowing_add(u64::from(carry));
        (sum, first | second)
    }
}

/// a + b + carry, and the carry out of it.
#[inline(always)]
pub(crate) fn add_carry(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

/// accumulator + a * b + carry, and the carry out of it.
#[inline(always)]
pub(crate) fn multiply_add(accumulator: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(accumulator) + u128::from(a) * u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

/// a + b modulo 2^256, and the carry out of it.
#[inline(always)]
pub(crate) fn add_wide(a: &U256, b: &U256) -> (U256, u64) {
    let mut sum = [0; 4];
    let mut carry = false;
    for i in 0..4 {
        (sum[i], carry) = add_with(a[i], b[i], carry);
    }
    (sum, u64::from(carry))
}

/// a - b modulo 2^256, and the borrow (0 or 1) out of it.
#[inline(always)]
pub(crate) fn sub_borrow(a: &U256, b: &U256) -> (U256, u64) {
    let mut difference = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (partial, first) = a[i].overflowing_sub(b[i]);
        let (limb, second) = partial.overflowing_sub(u64::from(borrow));
        difference[i] = limb;
        borrow = first | second;
    }
    (difference, u64::from(borrow))
}

/// `high * 2^256 + low`, which is below twice `modulus`, less `modulus` if it is not below it.
#[inline(always)]
pub(crate) fn reduce_once(low: &U256, high: u64, modulus: &U256) -> U256 {
    let (difference, borrow) = sub_borrow(low, modulus);
    // All ones if the integer was below the modulus and is unchanged.
    let keep = 0u64.wrapping_sub(u64::from(borrow > high));
    let mut reduced = [0; 4];
    for i in 0..4 {
        reduced[i] = (low[i] & keep) | (difference[i] & !keep);
    }
    reduced
}

/// a + b modulo `modulus`, of which both are below it.
#[inline(always)]
pub(crate) fn add_modular(a: &U256, b: &U256, modulus: &U256) -> U256 {
    // As a - (modulus - b): the sum itself may have a bit more, and compilers choose between two sums by a branch.
    sub_modular(a, &sub_borrow(modulus, b).0, modulus)
}

/// a - b modulo `modulus`, of which both are below it.
#[inline(always)]
pub(crate) fn sub_modular(a: &U256, b: &U256, modulus: &U256) -> U256 {
    let (difference, borrow) = sub_borrow(a, b);
    let mask = 0u64.wrapping_sub(borrow);
    let correction = modulus.map(|limb| limb & mask);
    add_wide(&difference, &correction).0
}

/// a * b, low and high.
#[inline(always)]
pub(crate) fn multiply_limbs(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

/// a * b for a limb b.
#[inline(always)]
fn multiply_by_limb(a: &U256, b: u64) -> [u64; 5] {
    let mut product = [0; 5];
    let mut before = 0;
    let mut carry = false;
    for i in 0..4 {
        let (low, high) = multiply_limbs(a[i], b);
        (product[i], carry) = add_with(low, before, carry);
        before = high;
    }
    product[4] = before + u64::from(carry);
    product
}

/// The product, of eight limbs.
#[inline(always)]
pub(crate) fn multiply_wide(a: &U256, b: &U256) -> [u64; 8] {
    let mut product = [0; 8];
    for i in 0..4 {
        let row = multiply_by_limb(a, b[i]);
        let mut carry = false;
        for j in 0..4 {
            (product[i + j], carry) = add_with(product[i + j], row[j], carry);
        }
        product[i + 4] = row[4] + u64::from(carry);
    }
    product
}

/// The square, of eight limbs: each mixed product is worked out once and doubled.
#[inline(always)]
pub(crate) fn square_wide(a: &U256) -> [u64; 8] {
    let mut product = [0; 8];
    for i in 0..3 {
        let mut carry = 0;
        for j in i + 1..4 {
            (product[i + j], carry) = multiply_add(product[i + j], a[j], a[i], carry);
        }
        product[i + 4] = carry;
    }
    for i in (1..8).rev() {
        product[i] = (product[i] << 1) | (product[i - 1] >> 63);
    }
    let mut carry = 0;
    for i in 0..4 {
        let square = u128::from(a[i]) * u128::from(a[i]);
        (product[2 * i], carry) = add_carry(product[2 * i], square as u64, carry);
        (product[2 * i + 1], carry) = add_carry(product[2 * i + 1], (square >> 64) as u64, carry);
    }
    product
}
