//! Random choices for scenarios.

use std::fmt::Display;

use trackbed_tests::random::Dice;

/// A share up to `most` millionths, each order of magnitude as likely as the other, as a scenario
/// writes it.
pub fn any_share(dice: &mut Dice, most: u64) -> String {
    share(dice.magnitude(100, most))
}

/// This many millionths, as written in a scenario.
pub fn share(millionths: u64) -> String {
    quoted(format_args!("{}.{:04} %", millionths / 10_000, millionths % 10_000))
}

/// A quantity as a scenario writes it.
pub fn quoted(text: impl Display) -> String {
    format!("\"{text}\"")
}
