//! `trackbed merge`

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use tempfile::TempDir;
use trackbed_lab::campaign::merge::{Sources, shards_in};
use trackbed_report::summary;

use super::campaign::remote;
use crate::ending::Ending;
use crate::output::{self, shell_word, tell};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/merge.txt"))]
pub struct Arguments {
    /// The run directories to merge, or one folder with the directories of shards; local or in an object store
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Write the merged run directory to DIR, which may already contain results [default: the one folder]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Include runs in which a machine did not keep up (see trackbed run)
    #[arg(long)]
    pub keep_invalid: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Merges run directories and prints the combined results.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if let Some(address) = arguments.out.as_deref().and_then(remote::address) {
        bail!(
            "{address}: cannot merge into an object store; give a local directory with --out DIR"
        );
    }
    let fetched = Fetched::all(arguments)?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let (sources, out) = places(&fetched.directories, arguments.out.as_deref())?;
    let merged =
        Sources::read(&sources)?.merge_into(&out, arguments.keep_invalid, command.collect())?;
    let word = shell_word(&out);
    let replay = format!("trackbed replay {word}");
    let options = summary::Options { replay: &replay, verbose: false, width: output::width() };
    let tables = || summary::render(&merged.document, options);
    output::answer(arguments.json, &merged.document, tables)?;
    let (runs, asked) = (merged.runs, merged.asked);
    tell(format_args!("{runs} of {asked} runs exist; results: {word}"));
    let failed = merged.document.cells.iter().any(|cell| cell.failed > 0);
    Ok(if runs < asked || failed { Ending::CheckFailed } else { Ending::Success })
}

/// The directories to merge, all on this machine.
struct Fetched {
    directories: Vec<PathBuf>,
    /// Temporary copies of directories in object stores.
    copies: Option<TempDir>,
}

impl Fetched {
    fn all(arguments: &Arguments) -> anyhow::Result<Fetched> {
        let mut fetched = Fetched { directories: Vec::new(), copies: None };
        for (number, path) in arguments.directories.iter().enumerate() {
            let Some(address) = remote::address(path) else {
                fetched.directories.push(path.clone());
                continue;
            };
            if arguments.out.is_none() {
                bail!("{address}: give the directory for the merged results with --out DIR");
            }
            let copies = match fetched.copies.take() {
                Some(copies) => copies,
                None => remote::temporary("merge")?,
            };
            let copy = fetched.copies.insert(copies).path().join(number.to_string());
            remote::fetch(address, &copy)?;
            fetched.directories.push(copy);
        }
        Ok(fetched)
    }
}

/// The directories to merge, and the target.
fn places(directories: &[PathBuf], out: Option<&Path>) -> anyhow::Result<(Vec<PathBuf>, PathBuf)> {
    let mut sources = Vec::new();
    for path in directories {
        let shards = shards_in(path).with_context(|| {
            format!("{}: cannot be read; name existing run directories", path.display())
        })?;
        let is_run_directory = path.join("about.json").exists();
        if shards.is_empty() && !is_run_directory {
            bail!(
                "{}: contains neither results nor shards; `trackbed run SCENARIO --out DIR` creates them",
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
        (None, _) => {
            bail!("several directories: give the one for the merged results with --out DIR")
        }
    }
}

/// Whether `path` is the target, whose results stay in it anyway.
fn is_same(path: &Path, out: Option<&Path>) -> bool {
    let resolve = |path: &Path| path.canonicalize().ok();
    out.is_some_and(|out| resolve(out).is_some_and(|out| Some(out) == resolve(path)))
}
