//! `trackbed fetch`

use std::fs;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::campaign::remote;
use crate::ending::Ending;
use crate::output::{shell_word, tell};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fetch.txt"))]
pub struct Arguments {
    /// The address to copy from: s3://BUCKET/FOLDER, gs://, az:// or file://
    pub address: String,
    /// The folder to copy to, which must be empty or not exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Copies a run directory, or the folders of shards, from a store.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { address, directory } = arguments;
    let word = shell_word(directory);
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!(
            "{word}: is not empty; name a new folder, or delete the leftovers of an interrupted \
             fetch"
        );
    }
    let fetched = remote::fetch(address, directory)?;
    let megabytes = fetched.bytes as f64 / 1e6;
    tell(format_args!("copied {} objects ({megabytes:.1} MB) to {word}", fetched.objects));
    Ok(Ending::Success)
}
