//! Suites and stacks that others wrote, run against Trackbed's: docs/judges.md. Each case is a run on the emulated
//! substrate, so it needs namespaces.

mod page;
mod quic;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::ledger::Ledger;
use crate::tools;

/// A judge: a suite, or another stack.
pub struct Judge {
    pub name: &'static str,
    /// What it judges.
    pub about: &'static str,
    program: &'static str,
    /// The command that prints its version.
    version: &'static str,
}

/// A case, and what was wrong.
pub struct Case {
    pub name: String,
    pub failure: Option<String>,
}

/// The version of a judge and its cases; `None` if it is not installed.
pub type Verdict = Option<(String, Vec<Case>)>;

/// All judges: a line each of `judges.txt`, with tabs between the fields.
fn judges() -> impl Iterator<Item = Judge> {
    include_str!("judges.txt").lines().map(|line| {
        let mut fields = line.split('\t');
        let [name, about, program, version] = [(); 4].map(|()| fields.next().unwrap_or_default());
        Judge { name, about, program, version }
    })
}

/// Runs all judges that are there, and writes the page.
///
/// # Errors
/// If a run cannot begin, or a case fails for no known reason.
pub fn run(trackbed: &Path, ledger: &mut Ledger) -> Result<(), String> {
    let trackbed = trackbed.canonicalize().map_err(|why| why.to_string())?;
    let folder = std::env::temp_dir().join(format!("trackbed-judges-{}", std::process::id()));
    let bench = Bench { trackbed, folder };
    let judge = |judge: Judge| judge.judge(&bench).map(|verdict| (judge, verdict));
    let all = bench.open().and_then(|()| judges().map(judge).collect::<Result<Vec<_>, _>>());
    let _ = fs::remove_dir_all(&bench.folder);
    let all = all?;
    for (judge, verdict) in &all {
        match verdict {
            None => ledger.skip(&format!("no {}", judge.program)),
            Some(_) => ledger.passed += 1,
        }
    }
    let page = page::render(&all);
    fs::write("docs/judges.md", &page).map_err(|why| why.to_string())?;
    match page.contains(page::UNKNOWN) {
        true => Err("cases fail for no known reason: docs/judges.md lists them".to_owned()),
        false => Ok(()),
    }
}

impl Judge {
    fn judge(&self, bench: &Bench) -> Result<Verdict, String> {
        if !tools::is_there(self.program) {
            return Ok(None);
        }
        eprintln!("    {}", self.name);
        let play = match self.name {
            "h2spec" => reports::h2spec,
            "a client that breaks rules" => reports::http3,
            "Paho's suite" => reports::paho,
            "tlsfuzzer" => reports::tls,
            "ngtcp2's client" => quic::ngtcp2,
            _ => quic::server,
        };
        Ok(Some((shell(self.version)?, play(bench, self.program)?)))
    }
}

/// What a command prints.
pub fn shell(command: &str) -> Result<String, String> {
    let output = Command::new("sh").args(["-c", command]).output();
    let output = output.map_err(|why| format!("{command}: {why}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Where Trackbed is, and a folder that any user can write to: as root it starts programs as another user.
pub struct Bench {
    trackbed: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn open(&self) -> Result<(), String> {
        let open = || {
            fs::create_dir_all(&self.folder)?;
            fs::write(self.path("cell.toml"), CELL)?;
            for script in ["http3.py", "paho.py", "tls.py"] {
                fs::copy(format!("contrib/judges/{script}"), self.path(script))?;
            }
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            fs::set_permissions(&self.folder, mode)
        };
        open().map_err(|why| format!("{}: {why}", self.folder.display()))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs the scenario with these settings, and returns its cells.
    ///
    /// # Errors
    /// If it does not begin.
    pub fn cells(&self, settings: &[&str]) -> Result<Vec<Value>, String> {
        let out = self.path("out");
        let _ = fs::remove_dir_all(&out);
        let mut trackbed = Command::new(&self.trackbed);
        // What this machine cannot keep up with is late, but not wrong.
        trackbed.args(["run", "--keep-invalid", "--json", "--out"]).arg(&out);
        trackbed.arg(self.path("cell.toml"));
        for setting in settings {
            trackbed.args(["--set", setting]);
        }
        let output = trackbed.output().map_err(|why| format!("trackbed: {why}"))?;
        let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let cells = document.as_ref().and_then(|document| document["cells"].as_array()).cloned();
        cells.ok_or_else(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// Why runs of a cell failed.
pub fn failure(cell: &Value) -> Option<String> {
    let reason = cell["failures"][0]["reason"].as_str()?;
    Some(reason.lines().next_back().unwrap_or_default().trim().to_owned())
}

const CELL: &str = include_str!("cell.toml");
