//! The table of the TCP engine against the kernel's recorded times: recomputed, it must equal the
//! committed one.

use std::fs;

use crate::cargo::cargo;

const PAGE: &str = "crates/tcp/kernel-agreement.md";

/// Rewrites the table.
///
/// # Errors
/// If it has changed; then the new one is kept for review.
pub fn run() -> Result<(), String> {
    let read = || fs::read_to_string(PAGE).map_err(|why| format!("{PAGE}: {why}"));
    let before = read()?;
    let status = cargo()
        .args(["run", "--release", "-p", "trackbed-tcp", "--example", "kernel_grid"])
        .status()
        .map_err(|why| format!("cannot start cargo: {why}"))?;
    if !status.success() {
        return Err(status.to_string());
    }
    if read()? == before {
        return Ok(());
    }
    Err(format!(
        "{PAGE} was out of date and has been regenerated; review the difference and commit it"
    ))
}
