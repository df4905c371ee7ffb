//! Run directories whose home is an object store.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use trackbed_lab::directory::{About, RunDirectory};
use trackbed_store::{Mirror, PERIOD, Store};

use crate::output::{shell_word, tell};

/// A run directory on this machine as long as runs go on, and its image in a store.
#[derive(Debug)]
pub struct Remote {
    address: String,
    mirror: Option<Mirror>,
    /// Gone when everything is sent.
    directory: PathBuf,
}

impl Remote {
    /// Opens the run directory at `address`. Results that the store already holds of these very runs stay.
    ///
    /// # Errors
    /// If the store cannot be used, or holds other runs.
    pub fn open(address: &str, about: About) -> anyhow::Result<(RunDirectory, Remote)> {
        let store = Store::open(address)?;
        let directory = temporary("run")?;
        let restored = Mirror::restore(&store, &directory)
            .inspect_err(|_| drop(fs::remove_dir_all(&directory)))?;
        let opened = RunDirectory::continue_or_create(&directory, about);
        let opened =
            opened.with_context(|| format!("the results at {address} cannot be continued"));
        let opened = opened.inspect_err(|_| drop(fs::remove_dir_all(&directory)))?;
        let tried_again =
            |why: &trackbed_store::StoreError| tell(format_args!("note: {why}; it is tried again"));
        let mirror = Some(restored.mirror(PERIOD, tried_again)?);
        Ok((opened, Remote { address: store.address().to_owned(), mirror, directory }))
    }

    /// Where its home is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends the results that are there; from now on they may be put in order.
    ///
    /// # Errors
    /// If the store does not take them.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        let stopped = self.mirror.as_mut().map_or(Ok(()), Mirror::stop);
        stopped.with_context(|| self.what_is_here())
    }

    /// Sends everything else, too.
    ///
    /// # Errors
    /// If the store does not take it.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        if let Some(mirror) = self.mirror.take() {
            mirror.finish().with_context(|| self.what_is_here())?;
            // It is of no use any more, and of no harm.
            let _ = fs::remove_dir_all(&self.directory);
        }
        Ok(())
    }

    fn what_is_here(&self) -> String {
        let directory = shell_word(&self.directory);
        format!("not everything could be sent; all results are in {directory} on this machine")
    }
}

/// A new folder of this process's own, for what has its home elsewhere. Its name is not only the
/// process's number: in containers that share a folder for temporary files many have the same.
///
/// # Errors
/// If there is no place for it.
pub fn temporary(purpose: &str) -> anyhow::Result<PathBuf> {
    let (all, process) = (std::env::temp_dir(), std::process::id());
    let mut number = 0;
    loop {
        let path = all.join(format!("trackbed-{purpose}-{process}-{number}"));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(why) => {
                let folder = path.display();
                let remedy = "set TMPDIR to a folder with room, where you may write";
                return Err(why).with_context(|| format!("cannot make {folder}; {remedy}"));
            }
        }
    }
}

/// The address that a user gave in place of a path.
pub fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| trackbed_lab::cluster::is_url(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has it: a process of the same number in another container, or one that was killed.
    #[test]
    fn a_folder_that_is_there_is_nobody_elses() {
        let folders = [(); 3].map(|()| temporary("test").unwrap());
        fs::write(folders[0].join("results"), "of another").unwrap();
        assert!(folders[0] != folders[1] && folders[1] != folders[2] && folders[0] != folders[2]);
        assert_eq!(fs::read_dir(&folders[1]).unwrap().count(), 0);
        folders.iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
    }
}
