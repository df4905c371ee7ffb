//! What a call verifies, and its result.

use crate::{Digest, KeyTable, Path, PublicKey, Signature};

/// A key, with or without a table.
#[derive(Debug, Clone, Copy)]
pub enum Key<'a> {
    /// By itself.
    Plain(&'a PublicKey),
    /// With a precomputed table.
    Table(&'a KeyTable),
}

/// An item to verify.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The signer's key.
    pub key: Key<'a>,
    /// The signed digest.
    pub digest: &'a Digest,
    /// The signature.
    pub signature: &'a Signature,
}

impl<'a> Key<'a> {
    pub(crate) const fn public(self) -> &'a PublicKey {
        match self {
            Self::Plain(key) => key,
            Self::Table(table) => table.key(),
        }
    }

    /// Its table, if it was made for `path`.
    pub(crate) fn table_for(self, path: Path) -> Option<&'a KeyTable> {
        match self {
            Self::Table(table) if table.path() == path => Some(table),
            _ => None,
        }
    }
}

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
