//! What is said of object stores by a program that was built without them.

use std::path::Path;

use anyhow::bail;
use trackbed_archive::{About, RunDirectory};

/// There are none.
#[derive(Debug)]
pub enum Remote {}

/// What was fetched: never anything.
#[derive(Debug)]
pub struct Fetched {
    /// How many objects.
    pub objects: usize,
    /// How much they hold.
    pub bytes: u64,
}

/// Copies nothing.
///
/// # Errors
/// Always.
pub fn fetch(address: &str, _directory: &Path) -> anyhow::Result<Fetched> {
    absent(address)
}

impl Remote {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always.
    pub fn open(address: &str, _about: About) -> anyhow::Result<(RunDirectory, Remote)> {
        absent(address)
    }

    /// Where its home is.
    pub fn address(&self) -> &str {
        match *self {}
    }

    /// Sends nothing.
    ///
    /// # Errors
    /// None.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        match *self {}
    }

    /// Sends nothing.
    ///
    /// # Errors
    /// None.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        match *self {}
    }
}

fn absent<T>(address: &str) -> anyhow::Result<T> {
    bail!(
        "{address}: this trackbed was built without object stores; build it with `cargo build \
         --release --features store`"
    )
}
