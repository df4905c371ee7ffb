//! The artefacts, tested as users install them by `installed.sh`.

use std::process::Command;

use crate::ledger::Ledger;

/// Tests what is in `target/dist`.
///
/// # Errors
/// If a trial fails. One that cannot run here is skipped.
pub fn run(ledger: &mut Ledger) -> Result<(), String> {
    if !super::folder().join("SHA256SUMS").exists() {
        return Err("there is nothing in target/dist: run `cargo xtask dist`".to_owned());
    }
    let mut shell = Command::new("bash");
    let script = super::root().join("xtask/src/dist/installed.sh");
    let output = shell.arg(script).arg(super::root()).output();
    let output = output.map_err(|why| format!("cannot start bash: {why}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    eprint!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let mut failed = Vec::new();
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("PASSED", _)) => ledger.passed += 1,
            Some(("SKIPPED", why)) => ledger.skip(why),
            Some(("FAILED", about)) => failed.push(about),
            _ => {}
        }
    }
    ledger.failed += failed.len() as u64;
    match failed.as_slice() {
        [] if output.status.success() => Ok(()),
        [] => Err(format!("installed.sh: {}", output.status)),
        failed => Err(failed.join("; ")),
    }
}
