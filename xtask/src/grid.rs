//! The table of the TCP engine against the kernel's recorded times: computed again, it must be the one
//! that is committed.

use std::fs;

use crate::cargo::cargo;

const PAGE: &str = "crates/tcp/kernel-agreement.md";

/// Writes the table anew.
///
/// # Errors
/// If it is another than before; then the new one is left for a look at the difference.
pub fn run() -> Result<(), String> {
    let read = || fs::read_to_string(PAGE).map_err(|why| format!("{PAGE}: {why}"));
    let before = read()?;
    let status = cargo()
        .args(["run", "--release", "-p", "trackbed-tcp", "--example", "kernel_grid"])
        .status()
        .map_err(|why| format!("cargo does not start: {why}"))?;
    if !status.success() {
        return Err(status.to_string());
    }
    if read()? == before {
        return Ok(());
    }
    Err(format!("{PAGE} was out of date; it is written anew: look at its difference and commit it"))
}
