//! The engines in `third_party`: the published crate, changed by `patches/*.patch` in the order of
//! their names, trimmed to what compiles here. `vendor.toml` names the crate and what to leave out.
//!
//! To change an engine, add an empty patch, or rename those behind the one to change so that they
//! do not end in `.patch`. Run `cargo xtask vendor`, and edit `target/vendor/NAME/b`, which has the
//! crate's own tests. What `git diff --no-index --no-prefix a b` prints in `target/vendor/NAME` is
//! the last patch: put it below its words. Rename the others back, and run `cargo xtask vendor`.

mod trim;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::cargo::{home, printed};
use crate::dist::root;
use crate::files::{fresh, read, told};

const THIRD_PARTY: &str = "third_party";

/// The files in an engine's folder that this command does not generate.
const OURS: [&str; 3] = ["CHANGES.md", "patches", "vendor.toml"];

/// An engine's `vendor.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Origin {
    version: String,
    /// The checksum of the published archive, as in crates.io's index.
    sha256: String,
    /// Files and folders that no used feature compiles.
    #[serde(default)]
    without: Vec<PathBuf>,
}

/// What to do with the engines.
#[derive(Clone, Copy)]
pub enum Mode {
    /// Regenerate them.
    Write,
    /// Check that the folders are what would be written.
    Check,
}

/// Makes all engines.
///
/// # Errors
///
/// If a crate cannot be fetched, a patch does not apply, or, when checking, something differs.
pub fn run(mode: Mode) -> Result<(), String> {
    let root = root();
    let folders = fs::read_dir(root.join(THIRD_PARTY)).map_err(told(THIRD_PARTY))?;
    for folder in folders {
        let folder = folder.map_err(told(THIRD_PARTY))?;
        if !folder.path().join("vendor.toml").exists() {
            continue;
        }
        let name = folder.file_name().to_string_lossy().into_owned();
        let made = make(root, &name, &folder.path())?;
        let mut diff = Command::new("diff");
        diff.arg("-r").args(OURS.map(|ours| format!("--exclude={ours}")));
        let compared = printed(diff.arg(&made).arg(folder.path()));
        match (mode, compared) {
            // Untouched files need no new build.
            (_, Ok(_)) => {}
            (Mode::Write, Err(_)) => replace(&made, &folder.path())?,
            (Mode::Check, Err(why)) => {
                let is_other = "differs from what `cargo xtask vendor` generates";
                return Err(format!("{THIRD_PARTY}/{name} {is_other}: {why}"));
            }
        }
    }
    Ok(())
}

/// Makes one engine below `target/vendor`, and returns its path. `a` lacks the last patch.
fn make(root: &Path, name: &str, folder: &Path) -> Result<PathBuf, String> {
    let text = read(folder.join("vendor.toml"))?;
    let origin: Origin = toml::from_str(&text).map_err(told(name))?;
    let place = root.join("target/vendor").join(name);
    let archive = archive(&place, name, &origin)?;
    let entries = fs::read_dir(folder.join("patches")).map_err(told(name))?;
    let mut patches: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    patches.retain(|path| path.extension().is_some_and(|end| end == "patch"));
    patches.sort();
    let [a, b, made] = ["a", "b", "made"].map(|folder| place.join(folder));
    for (folder, left_out) in [(&a, 1), (&b, 0), (&made, 0)] {
        fresh(folder)?;
        let mut tar = Command::new("tar");
        printed(tar.arg("-xzf").arg(&archive).arg("--strip-components=1").arg("-C").arg(folder))?;
        for file in patches.iter().take(patches.len().saturating_sub(left_out)) {
            let mut patch = Command::new("patch");
            patch.args(["-s", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-d"]).arg(folder);
            printed(patch.arg("-i").arg(file)).map_err(told(file.display()))?;
        }
    }
    trim::crate_in(&made, &origin.without).map_err(told(name))?;
    Ok(made)
}

/// The published archive: cargo's copy, or one fetched before, or a new one.
fn archive(place: &Path, name: &str, origin: &Origin) -> Result<PathBuf, String> {
    let file = format!("{name}-{}.crate", origin.version);
    let registries = fs::read_dir(home().join("registry/cache")).into_iter().flatten().flatten();
    let cached = registries.map(|entry| entry.path().join(&file));
    let kept = place.join(&file);
    let found = cached.chain([kept.clone()]).find(|path| path.exists());
    let archive = match found {
        Some(archive) => archive,
        None => {
            let address = format!("https://static.crates.io/crates/{name}/{file}");
            let mut curl = Command::new("curl");
            printed(curl.args(["--create-dirs", "-sSfLo"]).arg(&kept).arg(address))?;
            kept
        }
    };
    let sum = printed(Command::new("sha256sum").arg("-b").arg(&archive))?;
    let expected = &origin.sha256;
    if sum.split_whitespace().next() != Some(expected) {
        return Err(format!("{}: expected SHA-256 {expected}, got {sum}", archive.display()));
    }
    Ok(archive)
}

/// Replaces all generated files.
fn replace(made: &Path, folder: &Path) -> Result<(), String> {
    let at = folder.display().to_string();
    for entry in fs::read_dir(folder).map_err(told(&at))? {
        let entry = entry.map_err(told(&at))?;
        if OURS.iter().any(|ours| entry.file_name() == *ours) {
            continue;
        }
        let path = entry.path();
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.map_err(told(&at))?;
    }
    printed(Command::new("cp").arg("-R").arg(made.join(".")).arg(folder)).map(drop)
}
