//! Where numbers come from functions that round differently on other processors: the results of virtual time,
//! and what is computed from them, are the same everywhere.

use crate::crates;
use crate::tree::look_into;

/// Methods of `f64` whose last digits the platform's C library decides; the crate `libm` has the same
/// functions. Square roots and whole powers are exact or plain products.
const METHODS: [&str; 24] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
    "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log10", "log2", "powf", "sin", "sin_cos", "sinh",
    "tan", "tanh",
];

/// The crates that may use them, and what for.
const FREE: [(&str, &str); 2] =
    [("inference", "a network for the processors of real devices"), ("report", "drawings")];

#[test]
fn results_do_not_depend_on_the_c_library() {
    let calls_one = |code: &str| METHODS.iter().any(|name| code.contains(&format!(".{name}(")));
    let mut found = Vec::new();
    for name in crates().iter().filter(|name| FREE.iter().all(|(free, _)| free != name)) {
        look_into(name, &calls_one, &mut found);
    }
    assert!(found.is_empty(), "take these functions from `libm`: {found:?}");
}
