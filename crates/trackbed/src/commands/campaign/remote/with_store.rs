//! Results in object stores, by the crate that speaks to them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use trackbed_archive::{About, RunDirectory};
use trackbed_store::{Fetched, Mirror, PERIOD, Store};

use super::temporary;
use crate::output::{shell_word, tell, tell_error};

/// Copies what is at `address` into `directory`.
///
/// # Errors
/// If the store does not give it, or files cannot be written.
pub fn fetch(address: &str, directory: &Path) -> anyhow::Result<Fetched> {
    Ok(Store::open(address)?.fetch(directory)?)
}

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
        let mirror = restored.mirror(PERIOD, tried_again);
        // What is here came from the store, and there is nothing else yet.
        let mirror = mirror.inspect_err(|_| drop(fs::remove_dir_all(&directory)))?;
        let address = store.address().to_owned();
        Ok((opened, Remote { address, mirror: Some(mirror), directory }))
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
        // It is told once.
        stopped.inspect_err(|_| self.mirror = None).with_context(|| self.what_is_here())
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

impl Drop for Remote {
    /// A campaign that ends with an error sends what it has, too.
    fn drop(&mut self) {
        if let Err(why) = self.stop() {
            tell_error(format_args!("error: {why:#}"));
        }
    }
}
