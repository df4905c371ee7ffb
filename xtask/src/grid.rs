//! The table of the TCP engine against the kernel's recorded times: recomputed, it must equal the
//! committed one.

use crate::cargo::{cargo, succeed};
use crate::files::read;

const PAGE: &str = "crates/tcp/kernel-agreement.md";

/// Rewrites the table.
///
/// # Errors
/// If it has changed; then the new one is kept for review.
pub fn run() -> Result<(), String> {
    let before = read(PAGE)?;
    succeed(cargo().args(["run", "--release", "-p", "trackbed-tcp", "--example", "kernel_grid"]))?;
    if read(PAGE)? == before {
        return Ok(());
    }
    Err(format!(
        "{PAGE} was out of date and has been regenerated; review the difference and commit it"
    ))
}
