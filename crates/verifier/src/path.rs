//! The choice of instructions.

use crate::curve::Form;

/// A way to do the arithmetic. All give the same verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// Limbs of 64 bits, one signature after the other: everywhere.
    Portable,
    /// Eight signatures at a time, by AVX-512 IFMA.
    Ifma,
    /// Eight signatures at a time, by NEON. Counts of instructions promise a gain over [`Self::Portable`], but no time
    /// was measured on such a processor, so that it is used only where it is asked for.
    Neon,
    /// One signature on each thread of a graphics processor: for large batches.
    Gpu,
}

impl Path {
    /// All paths, those on the processor first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Ifma, Self::Neon, Self::Gpu];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Ifma => "ifma",
            Self::Neon => "neon",
            Self::Gpu => "gpu",
        }
    }

    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Portable | Self::Gpu => Form::Portable,
            Self::Ifma | Self::Neon => Form::Vector,
        }
    }
}
