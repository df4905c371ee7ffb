//! The choice of instructions.

use crate::curve::Form;

/// A way to do the arithmetic. All give the same verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// Limbs of 64 bits, one signature after the other: everywhere.
    Portable,
    /// Eight signatures at a time, by AVX-512 IFMA.
    Ifma,
}

impl Path {
    /// All paths, the slowest first.
    pub const ALL: [Self; 2] = [Self::Portable, Self::Ifma];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Ifma => "ifma",
        }
    }

    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Portable => Form::Portable,
            Self::Ifma => Form::Vector,
        }
    }
}
