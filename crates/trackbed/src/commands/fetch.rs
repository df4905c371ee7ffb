//! `trackbed fetch`

use std::fs;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::campaign::remote;
use crate::ending::Ending;
use crate::output::{shell_word, tell};

const EXAMPLES: &str = "\
Examples:
  trackbed run sweep.toml --runs 1000 --out s3://bucket/sweep --shard 1/2     on one machine
  trackbed run sweep.toml --runs 1000 --out s3://bucket/sweep --shard 2/2     on another machine
  trackbed merge s3://bucket/sweep --out sweep                                merge both shards
  trackbed fetch s3://bucket/sweep/shard-1-of-2 half                          copy one shard

Addresses, and the environment variables that each store reads:
  s3://BUCKET/FOLDER     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; for stores compatible with
                         Amazon's: AWS_ENDPOINT, and AWS_ALLOW_HTTP=true without encryption
  gs://BUCKET/FOLDER     GOOGLE_APPLICATION_CREDENTIALS: the file of a service account
  az://CONTAINER/FOLDER  AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY
  file:///FOLDER         a folder of this machine, used as a store

In a store, results are split into objects runs/SHA256.jsonl, which are uploaded during the campaign (every
20 seconds after the first minute), so that a process may be killed at any time. Fetching joins them into
one file.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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
