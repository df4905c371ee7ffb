//! The tests of the Python package.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ledger::Ledger;
use crate::libtest::count;
use crate::python;

/// Runs the tests of `python/` with the program `trackbed`, and counts them.
///
/// # Errors
/// If a test fails or, in strict mode, is skipped.
pub fn run(trackbed: &Path, ledger: &mut Ledger) -> Result<(), String> {
    if !python::is_complete() {
        ledger.skip("the tests of the Python package need Python packages (xtask/src/python.txt)");
        return Ok(());
    }
    let folder = env::current_dir().map_err(|why| why.to_string())?;
    let python = python::provided().map(|folder| folder.join("bin/python3"));
    let output = Command::new(python.unwrap_or_else(|| PathBuf::from("python3")))
        .args(["-m", "pytest", "-rs", "--color=no", "python/tests"])
        .env("TRACKBED_BIN", folder.join(trackbed))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| format!("cannot start python3: {why}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let skips = read(&text, ledger);
    if !output.status.success() {
        return Err(format!("{text}pytest: {}", output.status));
    }
    if ledger.strict && skips > 0 {
        return Err(format!("{text}skips are not allowed in this mode"));
    }
    Ok(())
}

/// Reads the output of pytest into the ledger, and returns the number of skipped tests.
fn read(text: &str, ledger: &mut Ledger) -> u64 {
    // SKIPPED [2] tests/test_link.py:46: why
    for line in text.lines().filter_map(|line| line.strip_prefix("SKIPPED ")) {
        ledger.skip(line.splitn(3, ' ').last().unwrap_or(line));
    }
    // ===== 1 failed, 30 passed, 2 skipped in 54.66s =====
    let last = text.lines().last().unwrap_or_default();
    ledger.passed += count(last, "passed");
    ledger.failed +=
        ["failed", "error", "errors"].map(|word| count(last, word)).iter().sum::<u64>();
    count(last, "skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_and_skips_have_their_reason() {
        let output = "
=========================== short test summary info ============================
SKIPPED [2] tests/test_link.py:46: no namespaces here
============= 1 failed, 30 passed, 2 skipped, 1 error in 54.66s ===============
";
        let mut ledger = Ledger::default();
        assert_eq!(read(output, &mut ledger), 2);
        assert_eq!((ledger.passed, ledger.failed, ledger.skips()), (30, 2, 1));
        assert!(ledger.to_string().contains("1 x: no namespaces here"), "{ledger}");
    }
}
