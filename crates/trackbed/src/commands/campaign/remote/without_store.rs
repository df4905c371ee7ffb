//! The replacement for object stores in builds without them.

use std::path::Path;

use anyhow::bail;
use trackbed_archive::{About, RunDirectory};

/// Cannot exist in this build.
#[derive(Debug)]
pub enum Remote {}

/// The result of a fetch, which never succeeds in this build.
#[derive(Debug)]
pub struct Fetched {
    pub objects: usize,
    pub bytes: u64,
}

pub fn fetch(address: &str, _directory: &Path) -> anyhow::Result<Fetched> {
    absent(address)
}

impl Remote {
    pub fn open(address: &str, _about: About) -> anyhow::Result<(RunDirectory, Remote)> {
        absent(address)
    }

    pub fn address(&self) -> &str {
        match *self {}
    }

    pub fn stop(&mut self) -> anyhow::Result<()> {
        match *self {}
    }

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
