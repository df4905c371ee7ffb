//! The result of a verification.

/// Whether a signature is valid; if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The key's owner has signed the digest.
    Valid,
    /// r or s is zero, or not below the order of the group (FIPS 186-5 section 6.4.2 step 1).
    OutOfRange,
    /// The signature belongs to another digest or another key, or to none.
    Mismatch,
}

impl Verdict {
    /// Whether the signature is valid.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        matches!(self, Self::Valid)
    }
}
