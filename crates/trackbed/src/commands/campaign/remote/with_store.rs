//! Results in object stores, through `trackbed_archive::store`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use trackbed_archive::store::{Fetched, Mirror, PERIOD, Store};
use trackbed_archive::{About, RunDirectory};

use super::temporary;
use crate::output::{shell_word, tell, tell_error};

/// Copies the objects at `address` to `directory`.
pub fn fetch(address: &str, directory: &Path) -> anyhow::Result<Fetched> {
    Ok(Store::open(address)?.fetch(directory)?)
}

/// A temporary run directory on this machine, and its copy in an object store.
#[derive(Debug)]
pub struct Remote {
    address: String,
    mirror: Option<Mirror>,
    /// Deleted when everything is uploaded.
    directory: PathBuf,
}

impl Remote {
    /// Opens the run directory at `address`. Results of the same command in the store are kept.
    pub fn open(address: &str, about: About) -> anyhow::Result<(RunDirectory, Remote)> {
        let store = Store::open(address)?;
        // Deleted after an error: what is here came from the store, and there is nothing else yet.
        let directory = temporary("run")?;
        let restored = Mirror::restore(&store, directory.path())?;
        let opened = RunDirectory::continue_or_create(directory.path(), about)
            .with_context(|| format!("the results at {address} cannot be continued"))?;
        let tried_again =
            |why: &trackbed_archive::store::StoreError| tell(format_args!("note: {why}; retrying"));
        let mirror = Some(restored.mirror(PERIOD, tried_again)?);
        let address = store.address().to_owned();
        Ok((opened, Remote { address, mirror, directory: directory.keep() }))
    }

    /// The URL of the run directory.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Uploads all results; afterwards the file may be sorted.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        let stopped = self.mirror.as_mut().map_or(Ok(()), Mirror::stop);
        // The error is reported once.
        stopped.inspect_err(|_| self.mirror = None).with_context(|| self.what_is_here())
    }

    /// Uploads the other files too.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        if let Some(mirror) = self.mirror.take() {
            mirror.finish().with_context(|| self.what_is_here())?;
            // A leftover folder does no harm.
            let _ = fs::remove_dir_all(&self.directory);
        }
        Ok(())
    }

    fn what_is_here(&self) -> String {
        let directory = shell_word(&self.directory);
        format!("the upload is incomplete; all results are in {directory} on this machine")
    }
}

impl Drop for Remote {
    /// Uploads the results of a campaign that ends with an error too.
    fn drop(&mut self) {
        if let Err(why) = self.stop() {
            tell_error(format_args!("error: {why:#}"));
        }
    }
}
