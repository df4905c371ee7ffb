//! `trackbed merge`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use trackbed_lab::campaign::merge::{Sources, shards_in};
use trackbed_report::summary;

use super::campaign::remote;
use crate::ending::Ending;
use crate::output::{self, shell_word, tell};

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed run vru --runs 1000 --out big --shard 1/2      here,
  trackbed run vru --runs 1000 --out big --shard 2/2      and there
  trackbed merge big                                      the shards below big become one in big
  trackbed merge /mnt/a/results /mnt/b/results --out all
  trackbed merge s3://bucket/big --out big                from an object store (see trackbed fetch)

The directories must be of the same version, scenario, settings and seed. A run that several of them
hold counts once, and must be the same in each. What comes out does not depend on the order in which
they are named, nor on who did what: runs.jsonl, run.json and samples.csv are those of one undisturbed
campaign, byte for byte (in virtual time). Shards whose runs are not all there merge too; the missing
ones are counted, and merging again adds what has come since.

Exit status: 0 all runs are there, 1 some are missing or failed, 2 bad input.";

/// What to merge.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Run directories, or one folder that holds those of shards, here or in an object store
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where the merged run directory goes; it may hold results already [default: the one folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Count runs for which a machine was too slow, too (see trackbed run)
    #[arg(long)]
    pub keep_invalid: bool,
    /// Print one JSON document in place of tables
    #[arg(long)]
    pub json: bool,
}

/// Merges run directories and prints what they say together.
///
/// # Errors
/// If they do not belong together, or something cannot be read or written.
pub fn execute(arguments: &MergeArguments) -> anyhow::Result<Ending> {
    if let Some(address) = arguments.out.as_deref().and_then(remote::address) {
        bail!(
            "{address}: results are merged into a directory on this machine; give one with --out DIR"
        );
    }
    let fetched = Fetched::all(arguments)?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let (sources, out) = places(&fetched.directories, arguments.out.as_deref())?;
    let merged =
        Sources::read(&sources)?.merge_into(&out, arguments.keep_invalid, command.collect())?;
    let word = shell_word(&out);
    if arguments.json {
        output::print_json(&serde_json::to_value(&merged.document)?)?;
    } else {
        let replay = format!("trackbed replay {word}");
        let options = summary::Options { replay: &replay, verbose: false, width: output::width() };
        output::print(&summary::render(&merged.document, options))?;
    }
    let (runs, asked) = (merged.runs, merged.asked);
    tell(format_args!("{runs} of {asked} runs are there; results: {word}"));
    let failed = merged.document.cells.iter().any(|cell| cell.failed > 0);
    Ok(match runs < asked || failed {
        true => Ending::CheckFailed,
        false => Ending::Success,
    })
}

/// What is to be merged, all of it on this machine.
struct Fetched {
    directories: Vec<PathBuf>,
    /// What was copied here for the time being.
    copies: Option<PathBuf>,
}

impl Fetched {
    fn all(arguments: &MergeArguments) -> anyhow::Result<Fetched> {
        let mut fetched = Fetched { directories: Vec::new(), copies: None };
        for (number, path) in arguments.directories.iter().enumerate() {
            let Some(address) = remote::address(path) else {
                fetched.directories.push(path.clone());
                continue;
            };
            if arguments.out.is_none() {
                bail!("{address}: say where the merged directory goes, with --out DIR");
            }
            let copies = match fetched.copies.take() {
                Some(copies) => copies,
                None => remote::temporary("merge")?,
            };
            let copy = fetched.copies.insert(copies).join(number.to_string());
            remote::fetch(address, &copy)?;
            fetched.directories.push(copy);
        }
        Ok(fetched)
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        if let Some(copies) = &self.copies {
            let _ = fs::remove_dir_all(copies);
        }
    }
}

/// What is to be merged, and into what.
fn places(directories: &[PathBuf], out: Option<&Path>) -> anyhow::Result<(Vec<PathBuf>, PathBuf)> {
    let mut sources = Vec::new();
    for path in directories {
        let shards = shards_in(path).with_context(|| {
            format!("{}: cannot be read; name run directories that are there", path.display())
        })?;
        let is_run_directory = path.join("about.json").exists();
        if shards.is_empty() && !is_run_directory {
            bail!(
                "{}: holds neither results nor shards; `trackbed run SCENARIO --out DIR` makes them",
                path.display()
            );
        }
        if is_run_directory && !is_same(path, out) {
            sources.push(path.clone());
        }
        sources.extend(shards);
    }
    match (out, directories) {
        (Some(out), _) => Ok((sources, out.to_owned())),
        (None, [only]) => {
            sources.retain(|source| source != only);
            Ok((sources, only.clone()))
        }
        (None, _) => bail!("several directories become one: say which with --out DIR"),
    }
}

/// What a directory holds already stays in it anyway.
fn is_same(path: &Path, out: Option<&Path>) -> bool {
    let resolve = |path: &Path| path.canonicalize().ok();
    out.is_some_and(|out| resolve(out).is_some_and(|out| Some(out) == resolve(path)))
}
