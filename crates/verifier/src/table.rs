//! Precomputation for a key that signs often.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::curve::{Table, Windows};
use crate::{Path, PublicKey};

/// A public key with the odd multiples of all its windows: 52 KiB. It pays from about five
/// signatures on.
///
/// It works only with the path it was made for. With another path, only its key is used.
#[derive(Debug)]
pub struct KeyTable {
    key: PublicKey,
    path: Path,
    table: Table,
    number: u64,
}

/// One window of 6 bits and fifty of 5. Wider ones would be more than 64 KiB.
const WINDOWS: Windows = Windows::new(5);

impl KeyTable {
    /// The size of a table in bytes.
    pub const BYTES: usize = WINDOWS.points() * size_of::<crate::curve::Entry>();

    /// Computes the table of `key` for `path`, even if this processor does not support it.
    #[must_use]
    pub fn new(key: &PublicKey, path: Path) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { key: *key, path, table: build(key, path), number }
    }

    /// The key that it was made of.
    #[must_use]
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The path that it was made for.
    #[must_use]
    pub const fn path(&self) -> Path {
        self.path
    }

    pub(crate) const fn table(&self) -> &Table {
        &self.table
    }

    /// A number, from 1 on, that no other table of this process has.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

fn build(key: &PublicKey, path: Path) -> Table {
    #[cfg(target_arch = "x86_64")]
    if let (Path::Ifma, Some(lanes)) = (path, crate::ifma::Lanes::detect()) {
        return lanes.build_table(key.point(), WINDOWS);
    }
    #[cfg(target_arch = "aarch64")]
    if let (Path::Neon, Some(lanes)) = (path, crate::neon::Lanes::detect()) {
        return lanes.build_table(key.point(), WINDOWS);
    }
    Table::new(key.point(), WINDOWS, path.form())
}
