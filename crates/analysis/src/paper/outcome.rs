//! In which setting a statement is tested, and with which outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, VariantArray};

/// The setting in which a statement was tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The study's: its link and parameters, as far as it gives them.
    #[default]
    Study,
    /// Ours, to which the study's statement is transferred.
    Ours,
}

/// The verdict of runs on a statement.
#[derive(
    Clone,
    Copy,
    Debug,
    Display,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies within the margin around the study's value, or on its side of zero
    /// if it gives only a direction.
    Holds,
    /// The whole interval of a difference lies on the study's side of zero, but outside the margin.
    #[strum(serialize = "same direction")]
    SameDirection,
    /// The whole interval lies on the other side of zero, or around zero (less than 5 % either way), where the
    /// study has a difference; there is one where it has none; or the value is another one.
    Contradicted,
    /// The interval crosses one of these limits, or there are too few runs.
    Undecided,
    /// It cannot be tested here.
    #[strum(serialize = "not testable here")]
    NotTestable,
    /// A cell that it refers to was not run.
    #[strum(serialize = "not run")]
    NotRun,
}

impl Verdict {
    /// All of them, from the best to the worst.
    pub const ALL: &'static [Verdict] = Verdict::VARIANTS;

    /// Whether it needs an explanation.
    pub fn differs(self) -> bool {
        !matches!(self, Verdict::Holds | Verdict::NotTestable | Verdict::NotRun)
    }
}
