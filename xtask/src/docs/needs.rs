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

/// The known needs: each is checked once.
#[derive(Debug)]
pub struct Needs<'a> {
    trackbed: &'a Path,
    known: BTreeMap<String, bool>,
}

impl<'a> Needs<'a> {
    pub fn new(trackbed: &'a Path) -> Needs<'a> {
        Needs { trackbed, known: BTreeMap::new() }
    }

    pub fn trackbed(&self) -> &'a Path {
        self.trackbed
    }

    /// Whether a need is met; for needs other than programs, checked as by the tool itself.
    pub fn is_met(&mut self, need: &str) -> bool {
        if let Some(known) = self.known.get(need) {
            return *known;
        }
        let met = match need {
            "namespaces" => succeeds(self.trackbed, &["link", "--", "true"]),
            "onnxruntime" => {
                succeeds(self.trackbed, &["infer", "--duration", "500ms", "--warm-up", "100ms"])
            }
            "mptcp" => Path::new("/proc/sys/net/mptcp/enabled").is_file(),
            program => tools::is_there(program),
        };
        self.known.insert(need.to_owned(), met);
        met
    }
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
