//! Installs programs and packages that some tests use, after asking.

use std::io::{self, IsTerminal as _, Write as _};

use crate::ledger::Ledger;
use crate::{judges, python, tools};

/// Who agrees to an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The user, at the terminal; without a terminal, the answer is no.
    Ask,
    /// The command line has (`--install`): then nothing may be missing afterwards.
    Given,
}

/// Installs what is missing, if it may.
///
/// # Errors
/// If consent was given and something cannot be installed. Without consent the tests skip.
pub fn provide(consent: Consent, ledger: &mut Ledger) -> Result<(), String> {
    ledger.strict = consent == Consent::Given;
    let packages = tools::missing();
    if !packages.is_empty() {
        let what = format!("Debian packages (as root, apt-get install): {}", packages.join(" "));
        settle(consent, &what, || tools::install(&packages))?;
    }
    if !STACKS.split(' ').all(tools::is_there) {
        let what = "h2spec and other stacks (as root, in /usr/local/sbin; needs Go and Python)";
        settle(consent, what, || judges::shell(STACKS_COMMAND).is_ok())?;
    }
    if !python::is_complete() {
        let what =
            format!("Python packages (1 GB in target/python): {}", python::packages().join(" "));
        settle(consent, &what, python::install)?;
    }
    Ok(())
}

const STACKS: &str =
    "h2spec trackbed-quic-go trackbed-aioquic trackbed-s2n-quic trackbed-quiche trackbed-wolfssl";
const STACKS_COMMAND: &str =
    "sh contrib/stacks/install.sh h2spec quic-go aioquic s2n-quic quiche wolfssl";

fn settle(consent: Consent, what: &str, install: impl FnOnce() -> bool) -> Result<(), String> {
    if consent == Consent::Ask && !is_answered_by_yes(what) {
        eprintln!("    not installed: {what}; the tests that use them will be skipped");
        return Ok(());
    }
    match install() {
        true => Ok(()),
        false if consent == Consent::Given => Err(format!("cannot install {what}")),
        false => {
            eprintln!("    cannot install {what}; the tests that use them will be skipped");
            Ok(())
        }
    }
}

fn is_answered_by_yes(what: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    eprint!("    missing {what}\n    Install them? [y/N] ");
    let _ = io::stderr().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
