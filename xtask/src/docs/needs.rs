//! What commands of the book need besides Trackbed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ledger::Ledger;
use crate::{python, tools};

/// The `trackbed` to test: `built`, unless `TRACKBED` names another.
pub fn program_or(built: &Path) -> PathBuf {
    std::env::var_os("TRACKBED").map_or_else(|| built.to_owned(), PathBuf::from)
}

/// Whether a need is met, checked once; for needs other than programs as by the tool itself.
pub fn is_met(need: &str, trackbed: &Path, known: &mut BTreeMap<String, bool>) -> bool {
    *known.entry(need.to_owned()).or_insert_with(|| match need {
        "namespaces" => succeeds(trackbed, &["link", "--", "true"]),
        "onnxruntime" => {
            succeeds(trackbed, &["infer", "--duration", "500ms", "--warm-up", "100ms"])
        }
        "mptcp" => Path::new("/proc/sys/net/mptcp/enabled").is_file(),
        program => tools::is_there(program),
    })
}

/// Reports a skip because of an unmet need; in strict mode it is a failure.
pub fn skip(place: &str, need: &str, ledger: &mut Ledger) -> Result<(), String> {
    let package = tools::package(need).map(|package| format!(" (Debian package {package})"));
    let package = package.unwrap_or_default();
    let message = format!("{place}: needs {need}{package}");
    if ledger.strict {
        return Err(format!("{message}; skips are not allowed in this mode"));
    }
    eprintln!("    skipped: {message}");
    ledger.skip(&format!("commands of the documentation need {need}{package}"));
    Ok(())
}

fn succeeds(program: &Path, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    python::succeeds(command.args(words).envs(python::variable()).stderr(Stdio::null()))
}
