//! Products modulo p by MULX, ADCX and ADOX: with two chains of carries side by side, which no compiler makes, and the
//! result chosen without a branch, which would be predicted wrongly in one of six products.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::integer::U256;

/// Whether the processor has the instructions, as far as [`detect`] has found out.
static AVAILABLE: AtomicBool = AtomicBool::new(false);

pub(super) fn detect() {
    AVAILABLE.store(is_x86_feature_detected!("adx") && is_x86_feature_detected!("bmi2"), Relaxed);
}

/// Adds the product of a and a limb of b. XOR clears both carries.
macro_rules! row {
    ($limb:literal, $a:literal $b:literal $c:literal $d:literal $e:literal) => {
        concat!(
            "mov rdx, [{b} + ",
            $limb,
            "]\n xor {lo:e}, {lo:e}\n",
            "mulx {hi}, {lo}, [{a}]\n adcx {",
            $a,
            "}, {lo}\n adox {",
            $b,
            "}, {hi}\n",
            "mulx {hi}, {lo}, [{a} + 8]\n adcx {",
            $b,
            "}, {lo}\n adox {",
            $c,
            "}, {hi}\n",
            "mulx {hi}, {lo}, [{a} + 16]\n adcx {",
            $c,
            "}, {lo}\n adox {",
            $d,
            "}, {hi}\n",
            "mulx {",
            $e,
            "}, {lo}, [{a} + 24]\n adcx {",
            $d,
            "}, {lo}\n mov {lo:e}, 0\n",
            "adox {",
            $e,
            "}, {lo}\n adcx {",
            $e,
            "}, {lo}\n",
        )
    };
}

/// Clears the lowest limb, as `field::reduce` does; what it carries out of four limbs takes its place.
macro_rules! clear {
    ($a:literal $b:literal $c:literal $d:literal) => {
        concat!(
            "mov rdx, {",
            $a,
            "}\n mov {hi}, {",
            $a,
            "}\n shl {hi}, 32\n shr {",
            $a,
            "}, 32\n",
            "add {",
            $b,
            "}, {hi}\n adc {",
            $c,
            "}, {",
            $a,
            "}\n",
            "mulx {",
            $a,
            "}, {lo}, {b}\n adc {",
            $d,
            "}, {lo}\n adc {",
            $a,
            "}, 0\n",
        )
    };
}

/// Runs `$lines`, which leave a product in r0 to r7, reduces it, and returns r0 to r3.
macro_rules! reduced {
    ($a:ident, $b:expr, $($lines:expr,)+) => {{
        if !AVAILABLE.load(Relaxed) {
            return None;
        }
        let (r0, r1, r2, r3);
        // SAFETY: the processor has the instructions; both pointers lead to four limbs, which are only read.
        unsafe {
            asm!(
                $($lines,)+
                "mov {b}, 0xffffffff00000001",
                clear!("r0" "r1" "r2" "r3"),
                clear!("r1" "r2" "r3" "r0"),
                clear!("r2" "r3" "r0" "r1"),
                clear!("r3" "r0" "r1" "r2"),
                "mov {lo:e}, 0\n mov {hi:e}, 0xffffffff",
                "add {r4}, {r0}\n adc {r5}, {r1}\n adc {r6}, {r2}\n adc {r7}, {r3}\n adc {lo}, 0",
                "mov {r0}, {r4}\n mov {r1}, {r5}\n mov {r2}, {r6}\n mov {r3}, {r7}",
                "sub {r0}, -1\n sbb {r1}, {hi}\n sbb {r2}, 0\n sbb {r3}, {b}\n sbb {lo}, 0",
                "cmovc {r0}, {r4}\n cmovc {r1}, {r5}\n cmovc {r2}, {r6}\n cmovc {r3}, {r7}",
                a = in(reg) $a, b = inout(reg) $b => _, lo = out(reg) _, hi = out(reg) _,
                r0 = out(reg) r0, r1 = out(reg) r1, r2 = out(reg) r2, r3 = out(reg) r3,
                r4 = out(reg) _, r5 = out(reg) _, r6 = out(reg) _, r7 = out(reg) _, out("rdx") _,
                options(pure, readonly, nostack),
            );
        }
        Some([r0, r1, r2, r3])
    }};
}

/// a b / 2^256 modulo p; none if the processor does not have the instructions.
#[inline(always)]
pub(super) fn multiply(a: &U256, b: &U256) -> Option<U256> {
    reduced!(
        a,
        b,
        "mov rdx, [{b}]\n mulx {r1}, {r0}, [{a}]",
        "mulx {r2}, {lo}, [{a} + 8]\n add {r1}, {lo}",
        "mulx {r3}, {lo}, [{a} + 16]\n adc {r2}, {lo}",
        "mulx {r4}, {lo}, [{a} + 24]\n adc {r3}, {lo}\n adc {r4}, 0",
        row!("8", "r1" "r2" "r3" "r4" "r5"),
        row!("16", "r2" "r3" "r4" "r5" "r6"),
        row!("24", "r3" "r4" "r5" "r6" "r7"),
    )
}

/// a a / 2^256 modulo p; none if the processor does not have the instructions.
#[inline(always)]
pub(super) fn square(a: &U256) -> Option<U256> {
    reduced!(
        a,
        a,
        // The mixed products.
        "mov rdx, [{a}]\n mulx {r2}, {r1}, [{a} + 8]",
        "mulx {r3}, {lo}, [{a} + 16]\n add {r2}, {lo}",
        "mulx {r4}, {lo}, [{a} + 24]\n adc {r3}, {lo}\n adc {r4}, 0",
        "mov rdx, [{a} + 8]\n xor {lo:e}, {lo:e}",
        "mulx {hi}, {lo}, [{a} + 16]\n adcx {r3}, {lo}\n adox {r4}, {hi}",
        "mulx {r5}, {lo}, [{a} + 24]\n adcx {r4}, {lo}\n mov {hi:e}, 0\n adox {r5}, {hi}",
        "mov rdx, [{a} + 16]\n mulx {r6}, {lo}, [{a} + 24]\n adcx {r5}, {lo}\n adcx {r6}, {hi}",
        // One chain doubles them, the other adds the squares.
        "xor {r7:e}, {r7:e}\n mulx {b}, {lo}, rdx",
        "mov rdx, [{a}]\n mulx {hi}, {r0}, rdx\n adcx {r1}, {r1}\n adox {r1}, {hi}",
        "mov rdx, [{a} + 8]\n mulx {hi}, rdx, rdx",
        "adcx {r2}, {r2}\n adox {r2}, rdx\n adcx {r3}, {r3}\n adox {r3}, {hi}",
        "adcx {r4}, {r4}\n adox {r4}, {lo}\n adcx {r5}, {r5}\n adox {r5}, {b}",
        "mov rdx, [{a} + 24]\n mulx {hi}, {lo}, rdx",
        "adcx {r6}, {r6}\n adox {r6}, {lo}\n adcx {r7}, {r7}\n adox {r7}, {hi}",
    )
}
