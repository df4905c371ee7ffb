//! Run directories in object stores.

#[cfg(feature = "store")]
mod with_store;
#[cfg(not(feature = "store"))]
mod without_store;

#[cfg(feature = "store")]
pub use with_store::{Remote, fetch};
#[cfg(not(feature = "store"))]
pub use without_store::{Remote, fetch};

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::output::is_url;

/// Creates a temporary folder, which only this user can read.
pub fn temporary(purpose: &str) -> anyhow::Result<TempDir> {
    let prefix = format!("trackbed-{purpose}-");
    let private = Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir();
    made.with_context(|| {
        let remedy = "set TMPDIR to a writable folder with free space";
        format!("cannot create a folder in {}; {remedy}", std::env::temp_dir().display())
    })
}

/// The URL that the user gave instead of a path.
pub fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_url(text))
}
