//! Inverses modulo an odd prime of 256 bits by division steps (Bernstein and Yang, "Fast
//! constant-time gcd computation and modular inversion", TCHES 2019), 62 steps at a time, in
//! variable time: about a third of what Fermat's theorem takes.

use super::integer::U256;

/// An integer in limbs of 62 bits, the least significant first; the last one has the sign.
type Signed = [i64; 5];

/// What 62 division steps do to f and g, times 2^62.
struct Steps {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// Inverts modulo one prime.
pub(super) struct Inverter {
    modulus: Signed,
    /// 1 / modulus modulo 2^62.
    inverse: u64,
}

const LIMB: u64 = u64::MAX >> 2;
const LIMB_WIDE: i128 = LIMB as i128;

impl Inverter {
    pub(super) const fn new(modulus: &U256) -> Self {
        // Newton's iteration: each step doubles the bits that are right, and an odd number is its
        // own inverse modulo 8.
        let mut inverse = modulus[0];
        let mut step = 0;
        while step < 5 {
            let product = modulus[0].wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(product));
            step += 1;
        }
        Self { modulus: to_signed(modulus), inverse: inverse & LIMB }
    }

    /// 1 / integer, for an integer below the modulus; zero for zero.
    pub(super) fn invert(&self, integer: &U256) -> U256 {
        let (mut d, mut e) = ([0; 5], [1, 0, 0, 0, 0]);
        let (mut f, mut g) = (self.modulus, to_signed(integer));
        let mut eta = -1;
        // Ends: at most 741 steps for 256 bits, which the paper proves.
        while g != [0; 5] {
            let steps;
            (eta, steps) = division_steps(eta, f[0] as u64, g[0] as u64);
            let Steps { u, v, q, r } = steps;
            (d, e) = (self.combine(u, &d, v, &e), self.combine(q, &d, r, &e));
            let product = |a, b| shifted(|i| dot(a, f[i], b, g[i]));
            (f, g) = (product(u, v), product(q, r));
        }
        self.normalise(d, f[4] < 0)
    }

    /// a d + b e, divided by 2^62 modulo the modulus; in (-2 m, m), as d and e are.
    fn combine(&self, a: i64, d: &Signed, b: i64, e: &Signed) -> Signed {
        let factor = (a & (d[4] >> 63)) + (b & (e[4] >> 63));
        // With a multiple of the modulus that clears the lowest 62 bits.
        let factor = factor - self.clearing(dot(a, d[0], b, e[0]), factor);
        shifted(|i| dot(a, d[i], b, e[i]) + i128::from(self.modulus[i]) * i128::from(factor))
    }

    fn clearing(&self, sum: i128, factor: i64) -> i64 {
        let product = self.inverse.wrapping_mul(sum as u64).wrapping_add(factor as u64);
        (product & LIMB) as i64
    }

    /// The residue in [0, m) of d in (-2 m, m), or of -d.
    fn normalise(&self, mut d: Signed, negate: bool) -> U256 {
        if d[4] < 0 {
            self.accumulate(&mut d);
        }
        if negate {
            d = d.map(|limb| -limb);
            carry(&mut d);
        }
        if d[4] < 0 {
            self.accumulate(&mut d);
        }
        let [a, b, c, d, e] = d.map(|limb| limb as u64);
        [a | (b << 62), (b >> 2) | (c << 60), (c >> 4) | (d << 58), (d >> 6) | (e << 56)]
    }

    fn accumulate(&self, d: &mut Signed) {
        for (limb, modulus) in d.iter_mut().zip(self.modulus) {
            *limb += modulus;
        }
        carry(d);
    }
}

const fn to_signed(integer: &U256) -> Signed {
    let [a, b, c, d] = *integer;
    [
        (a & LIMB) as i64,
        (((a >> 62) | (b << 2)) & LIMB) as i64,
        (((b >> 60) | (c << 4)) & LIMB) as i64,
        (((c >> 58) | (d << 6)) & LIMB) as i64,
        (d >> 56) as i64,
    ]
}

/// Brings all limbs but the last into [0, 2^62).
fn carry(d: &mut Signed) {
    for i in 0..4 {
        d[i + 1] += d[i] >> 62;
        d[i] &= LIMB as i64;
    }
}

fn dot(a: i64, b: i64, c: i64, d: i64) -> i128 {
    i128::from(a) * i128::from(b) + i128::from(c) * i128::from(d)
}

/// 62 division steps on the lowest 62 bits of f (odd) and g. `eta` is minus delta of the paper.
fn division_steps(mut eta: i64, mut f: u64, mut g: u64) -> (i64, Steps) {
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left: u32 = 62;
    loop {
        // While g is even, a step only halves it. The mask ends the count where the steps end.
        let zeros = (g | (u64::MAX << left)).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            let [u, v, q, r] = [u, v, q, r].map(|factor| factor as i64);
            return (eta, Steps { u, v, q, r });
        }
        let swapped = eta < 0;
        if swapped {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // As many low bits of g as can be cleared by adding a multiple of f before the next swap.
        let limit = left.min(u32::try_from(eta + 1).unwrap_or(u32::MAX));
        let factor = if swapped {
            // -1 / f modulo 64.
            let mask = (u64::MAX >> (64 - limit)) & 63;
            f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & mask
        } else {
            // 1 / f modulo 16, which mostly is enough here.
            let mask = (u64::MAX >> (64 - limit)) & 15;
            let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
            inverse.wrapping_neg().wrapping_mul(g) & mask
        };
        g = g.wrapping_add(f.wrapping_mul(factor));
        q = q.wrapping_add(u.wrapping_mul(factor));
        r = r.wrapping_add(v.wrapping_mul(factor));
    }
}

/// The sum of limbs of any size, of which the lowest 62 bits are zero, divided by 2^62.
#[inline(always)]
fn shifted(limb: impl Fn(usize) -> i128) -> Signed {
    let mut shifted = [0; 5];
    let mut sum = limb(0) >> 62;
    for i in 1..5 {
        sum += limb(i);
        shifted[i - 1] = (sum & LIMB_WIDE) as i64;
        sum >>= 62;
    }
    shifted[4] = sum as i64;
    shifted
}
