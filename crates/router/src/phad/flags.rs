//! The flags set in the kernel, and a file that records them, so that they can be cleared after a crash.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackbed_linux::mptcp_pm::{EndpointFlags, PathManager, PathManagerError};
use trackbed_outward::files::{Fresh, append, read_bounded};

use crate::phad::paths::Target;

/// Sets flags in the kernel after recording them, and clears all when dropped.
#[derive(Debug)]
pub struct Flags {
    manager: PathManager,
    ledger: Ledger,
    dry_run: bool,
}

/// Why a flag could not be set or cleared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum FlagError {
    #[error("{0}")]
    Kernel(#[from] PathManagerError),
    #[error(
        "cannot write {path}, which records the flags that are set: {why}\n  help: choose another \
         file with --state"
    )]
    File { path: PathBuf, why: io::Error },
    #[error(
        "cannot read the flags recorded in {path}: {why}\n  help: check `ip mptcp endpoint`, \
         clear wrong backup flags there, and delete the file"
    )]
    Garbled { path: PathBuf, why: String },
    #[error("another phad uses {path}\n  help: stop it, or choose another file with --state")]
    Taken { path: PathBuf },
}

impl Flags {
    /// Opens the flags of the calling thread's namespace, recorded in the file `state`. Flags left by a crash
    /// are cleared first, and their number is returned too. With `dry_run`, neither the file nor the kernel is
    /// changed.
    ///
    /// # Errors
    /// If the kernel has no MPTCP, or the file belongs to another daemon or cannot be used.
    pub fn open(state: &Path, dry_run: bool) -> Result<(Flags, usize), FlagError> {
        let manager = PathManager::open()?;
        let ledger = if dry_run { Ledger::default() } else { Ledger::open(state)? };
        let mut flags = Flags { manager, ledger, dry_run };
        let restored = flags.restore()?;
        Ok((flags, restored))
    }

    /// The path manager with the endpoints.
    pub fn manager(&mut self) -> &mut PathManager {
        &mut self.manager
    }

    /// The number of flags set here.
    pub fn count(&self) -> usize {
        self.ledger.set.len()
    }

    /// Whether the flag of this endpoint was set here.
    pub fn is_set(&self, target: Target) -> bool {
        self.ledger.set.contains(&target)
    }

    /// Sets or clears the backup flags of endpoints. All of them are tried.
    ///
    /// # Errors
    /// The first failure.
    pub fn set(&mut self, targets: &[Target], backup: bool) -> Result<(), FlagError> {
        let mut result = Ok(());
        for target in targets {
            let done = if backup { self.flag(*target) } else { self.unflag(*target).map(drop) };
            result = result.and(done);
        }
        result
    }

    /// Clears the backup flags of endpoints again. The kernel signals only changes, so the flags are set for a
    /// moment.
    ///
    /// # Errors
    /// The first failure.
    pub fn clear_again(&mut self, targets: &[Target]) -> Result<(), FlagError> {
        let mut result = Ok(());
        for target in targets {
            let flagged = self.flag(*target);
            result = result.and(flagged).and(self.unflag(*target).map(drop));
        }
        result
    }

    fn flag(&mut self, target: Target) -> Result<(), FlagError> {
        if self.dry_run {
            self.ledger.set.insert(target);
            return Ok(());
        }
        self.ledger.note(target)?;
        Ok(self.manager.set_backup(target.id, true)?)
    }

    /// Clears a flag; false if it was clear. The flag of a removed endpoint is gone with it.
    fn unflag(&mut self, target: Target) -> Result<bool, FlagError> {
        let mut was_set = false;
        if !self.dry_run {
            was_set = self.manager.endpoints()?.iter().any(|endpoint| {
                Target::from(endpoint) == target && endpoint.flags.contains(EndpointFlags::BACKUP)
            });
            if was_set {
                self.manager.set_backup(target.id, false)?;
            }
        }
        self.ledger.strike(target)?;
        Ok(was_set)
    }

    /// Clears all flags in the file, and returns their number.
    fn restore(&mut self) -> Result<usize, FlagError> {
        let mut restored = 0;
        for target in self.ledger.set.clone() {
            restored += usize::from(self.unflag(target)?);
        }
        Ok(restored)
    }
}

/// Every orderly end of the daemon, including a panic, clears all flags.
impl Drop for Flags {
    fn drop(&mut self) {
        for target in self.ledger.set.clone() {
            // Flags that cannot be cleared are still in the file.
            let _ = self.unflag(target);
        }
    }
}

/// Clears the flags that a crashed daemon left behind, and returns their number.
///
/// # Errors
/// If a daemon is running, or a flag cannot be cleared.
pub fn restore(state: &Path) -> Result<usize, FlagError> {
    if !fs::exists(state).unwrap_or(false) {
        return Ok(0);
    }
    Ok(Flags::open(state, false)?.1)
}

/// The record of set flags, in memory and in a file.
#[derive(Debug, Default)]
struct Ledger {
    set: BTreeSet<Target>,
    /// The path of the file, and the lock that excludes other daemons; `None` in a dry run.
    file: Option<(PathBuf, File)>,
}

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    flagged: Vec<Target>,
}

impl Ledger {
    fn open(path: &Path) -> Result<Ledger, FlagError> {
        let failed = |why: io::Error| FlagError::File { path: path.to_owned(), why };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let lock = append(&path.with_extension("lock")).map_err(failed)?;
        lock.try_lock().map_err(|_| FlagError::Taken { path: path.to_owned() })?;
        let set = match read_bounded(path, BYTES_MAX) {
            Ok(text) => {
                parse(&text).map_err(|why| FlagError::Garbled { path: path.to_owned(), why })?
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(why) => return Err(failed(why)),
        };
        Ok(Ledger { set, file: Some((path.to_owned(), lock)) })
    }

    fn note(&mut self, target: Target) -> Result<(), FlagError> {
        if self.set.insert(target) { self.write() } else { Ok(()) }
    }

    fn strike(&mut self, target: Target) -> Result<(), FlagError> {
        if self.set.remove(&target) { self.write() } else { Ok(()) }
    }

    /// Replaces the file atomically.
    fn write(&self) -> Result<(), FlagError> {
        let Some((path, _)) = &self.file else { return Ok(()) };
        let contents = Contents { version: VERSION, flagged: self.set.iter().copied().collect() };
        let write = || {
            if contents.flagged.is_empty() {
                return fs::remove_file(path);
            }
            let mut file = Fresh::begin(path)?;
            file.write_all(&serde_json::to_vec(&contents)?)?;
            file.keep()
        };
        match write() {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                Err(FlagError::File { path: path.clone(), why })
            }
            _ => Ok(()),
        }
    }
}

fn parse(text: &[u8]) -> Result<BTreeSet<Target>, String> {
    let contents: Contents = serde_json::from_slice(text).map_err(|why| why.to_string())?;
    if contents.version != VERSION {
        return Err(format!("it has version {}, not {VERSION}", contents.version));
    }
    Ok(contents.flagged.into_iter().collect())
}

const VERSION: u32 = 1;
/// A record of all endpoints of the kernel is far smaller.
const BYTES_MAX: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_is_set_and_is_gone_with_the_last_flag() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flags.json");
        let target = |id| Target { id, address: [10, 0, 0, id].into() };
        let mut ledger = Ledger::open(&path).unwrap();
        assert!(matches!(Ledger::open(&path), Err(FlagError::Taken { .. })));
        ledger.note(target(1)).unwrap();
        ledger.note(target(2)).unwrap();
        ledger.strike(target(1)).unwrap();
        // Killed: no flag is cleared, but the lock is released.
        drop(ledger);
        let mut ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.set, BTreeSet::from([target(2)]));
        ledger.strike(target(2)).unwrap();
        assert!(!path.exists());
        drop(ledger);
        // Another user's link.
        let lock = path.with_extension("lock");
        fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink(folder.path().join("mine"), &lock).unwrap();
        assert!(
            Ledger::open(&path).unwrap_err().to_string().contains("flags.lock is a symbolic link")
        );
        fs::remove_file(&lock).unwrap();
        for text in ["", "{}", "{\"version\":2,\"flagged\":[]}", "\u{fffd}"] {
            fs::write(&path, text).unwrap();
            let error = Ledger::open(&path).unwrap_err();
            assert!(error.to_string().contains("ip mptcp endpoint"), "{error}");
        }
    }
}
