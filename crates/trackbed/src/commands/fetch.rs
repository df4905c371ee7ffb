//! `trackbed fetch`

use std::fs;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::campaign::remote;
use crate::ending::Ending;
use crate::output::{shell_word, tell};

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed run sweep.toml --runs 1000 --out s3://bucket/sweep --shard 1/2     here,
  trackbed run sweep.toml --runs 1000 --out s3://bucket/sweep --shard 2/2     and there
  trackbed merge s3://bucket/sweep --out sweep                                both together, here
  trackbed fetch s3://bucket/sweep/shard-1-of-2 half                          one of them as it is

Addresses, with what each store reads from the environment:
  s3://BUCKET/FOLDER     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; for stores that speak like
                         Amazon's AWS_ENDPOINT, and AWS_ALLOW_HTTP=true without encryption
  gs://BUCKET/FOLDER     GOOGLE_APPLICATION_CREDENTIALS: the file of a service account
  az://CONTAINER/FOLDER  AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY
  file:///FOLDER         a folder of this machine, as a store

In a store results are pieces, runs/SHA256.jsonl, sent while they come in (every 20 seconds after the
first minute), so that a process may be killed at any time; here they are one file again.";

/// What to fetch.
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// Where it is: s3://BUCKET/FOLDER, gs://, az:// or file://
    pub address: String,
    /// Where it goes: a folder that is not there yet, or is empty
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Copies a run directory, or the folders of shards, from a store.
///
/// # Errors
/// If the folder is not free, the store does not give it, or files cannot be written.
pub fn execute(arguments: &FetchArguments) -> anyhow::Result<Ending> {
    let FetchArguments { address, directory } = arguments;
    let word = shell_word(directory);
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!(
            "{word}: is not empty; name a folder that is not there yet, or remove what is left of a \
             fetch that was cut short"
        );
    }
    let fetched = remote::fetch(address, directory)?;
    let megabytes = fetched.bytes as f64 / 1e6;
    tell(format_args!("{} objects, {megabytes:.1} MB, are in {word}", fetched.objects));
    Ok(Ending::Success)
}
