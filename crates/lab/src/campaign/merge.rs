//! Merges run directories of one plan, from any machine and in any order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trackbed_analysis::Origin;
use trackbed_archive::files::SHARD_PREFIX;
use trackbed_archive::{
    About, DirectoryError, Recorded, RecordedError, Results as _, RunDirectory, is_run_directory,
    read_document,
};
use trackbed_measure::results::{Document, RunResult, VIRTUAL};

use crate::backend::Virtual;
use crate::campaign;

/// Run directories of the same plan.
#[derive(Debug)]
pub struct Sources(Vec<Recorded>);

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The merged directory.
    pub directory: RunDirectory,
    /// The summary of all runs.
    pub document: Document,
    /// Runs that exist.
    pub runs: u64,
    /// Runs that the plan asks for.
    pub asked: u64,
}

impl Sources {
    /// Reads the run directories at `paths`.
    ///
    /// # Errors
    /// If one of them cannot be used, or they belong to different plans.
    pub fn read(paths: &[PathBuf]) -> Result<Sources, MergeError> {
        let mut all: Vec<Recorded> = Vec::new();
        for path in paths {
            let recorded = Recorded::read(path).map_err(MergeError::Recorded)?;
            if let Some(first) = all.first() {
                belong_together(first, &recorded)?;
            }
            all.push(recorded);
        }
        if all.is_empty() { Err(MergeError::Nothing) } else { Ok(Sources(all)) }
    }

    /// Merges them into the run directory at `out`, which may already contain results of these
    /// runs. Runs for which a machine was too slow count if `keep_invalid`. For a new directory,
    /// `command` is recorded as its command.
    ///
    /// # Errors
    /// If two directories contain different results of one run, or something cannot be read or
    /// written.
    pub fn merge_into(
        mut self,
        out: &Path,
        keep_invalid: bool,
        command: Vec<String>,
    ) -> Result<Merged, MergeError> {
        // They may have different numbers of runs.
        self.0.sort_by_key(|source| std::cmp::Reverse(source.plan.runs));
        // Existing results count too. A directory of another plan is refused when it is opened.
        let own = Recorded::read(out).ok().filter(|own| belong_together(&self.0[0], own).is_ok());
        let is_wider = |own: &&Recorded| own.plan.runs > self.0[0].plan.runs;
        let widest = own.as_ref().filter(is_wider).unwrap_or(&self.0[0]);
        let Recorded { about, plan, .. } = widest;
        // Check that everything agrees before anything is written.
        let all: Vec<&Recorded> = own.iter().chain(&self.0).collect();
        (0..plan.cells.len() as u32).try_for_each(|cell| agree(&all, cell))?;
        let origin = origin(&all)?;
        let command = own.as_ref().map_or(command, |own| own.about.command.clone());
        let about = About { shard: None, command, ..about.clone() };
        let mut directory = RunDirectory::continue_or_create(out, about)?;
        for cell in 0..plan.cells.len() as u32 {
            for source in &self.0 {
                take_over(source, cell, &mut directory)?;
            }
        }
        directory.settle()?;
        directory.keep_timelines(plan)?;
        let document = trackbed_analysis::document(plan, &origin, &directory, keep_invalid)?;
        directory.sum_up(plan, &document)?;
        let of_plan = |cell| directory.runs().runs_of(cell).filter(|run| *run < plan.runs).count();
        let runs = (0..plan.cells.len() as u32).map(|cell| of_plan(cell) as u64).sum();
        Ok(Merged { document, runs, asked: widest.units(), directory })
    }
}

/// Where the results come from: in real time, the machines of all documents, in an order that does
/// not depend on the arguments.
fn origin(all: &[&Recorded]) -> Result<Origin, MergeError> {
    let Recorded { about, plan, .. } = all[0];
    if about.substrate == VIRTUAL {
        return Ok(campaign::origin(&Virtual::default(), plan));
    }
    let mut model = None;
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in all {
        let document = match read_document(&source.path) {
            Ok(document) => document,
            // Without a summary (just begun, or killed early) its machine is unknown.
            Err(why) if why.is_not_summed_up() => continue,
            Err(why) => return Err(why.into()),
        };
        model = model.or(document.model);
        for (name, value) in document.environment {
            let each = value.split(BETWEEN_MACHINES).map(str::to_owned);
            values.entry(name).or_default().extend(each);
        }
    }
    let joined = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(BETWEEN_MACHINES);
    let environment = values.into_iter().map(|(name, set)| (name, joined(set))).collect();
    Ok(Origin { substrate: about.substrate.clone(), environment, model })
}

const BETWEEN_MACHINES: &str = " | ";

/// The run directories of the shards of a campaign at `path`, sorted by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn shards_in(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_shard = entry.file_name().to_string_lossy().starts_with(SHARD_PREFIX);
        // A shard that has only just begun has no results yet.
        if is_shard && is_run_directory(&entry.path()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn belong_together(first: &Recorded, other: &Recorded) -> Result<(), MergeError> {
    let (one, two) = (&first.about, &other.about);
    let what = match () {
        () if one.trackbed != two.trackbed => "versions of the tool",
        () if one.substrate != two.substrate => "substrates",
        () if one.plan != two.plan => "scenarios, settings or seeds",
        () => return Ok(()),
    };
    Err(MergeError::NotTogether { what, paths: [first.path.clone(), other.path.clone()] })
}

fn agree(all: &[&Recorded], cell: u32) -> Result<(), MergeError> {
    let mut first_with: HashMap<u32, usize> = HashMap::new();
    for (index, source) in all.iter().enumerate() {
        let mut others = BTreeSet::new();
        for run in source.runs.runs_of(cell) {
            let first = *first_with.entry(run).or_insert(index);
            if first != index {
                others.insert(first);
            }
        }
        if others.is_empty() {
            continue;
        }
        let theirs = source.runs.of(cell)?;
        for other in others.into_iter().map(|other| all[other]) {
            let ours = other.runs.of(cell)?;
            let ours: HashMap<u32, &RunResult> = ours.iter().map(|run| (run.run, run)).collect();
            let differs = |run: &&RunResult| ours.get(&run.run).is_some_and(|our| !our.agrees(run));
            if let Some(run) = theirs.iter().find(differs) {
                return Err(MergeError::Contradiction {
                    paths: [other.path.clone(), source.path.clone()],
                    cell,
                    run: run.run,
                    is_virtual: source.about.substrate == VIRTUAL,
                });
            }
        }
    }
    Ok(())
}

fn take_over(source: &Recorded, cell: u32, directory: &mut RunDirectory) -> Result<(), MergeError> {
    for run in source.runs.of(cell)?.iter() {
        if !directory.runs().has(cell, run.run) {
            directory.append(run)?;
        }
    }
    Ok(())
}

/// Why directories cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum MergeError {
    #[error("nothing to merge: give run directories, or a folder that contains those of shards")]
    Nothing,
    #[error("{0}")]
    Recorded(RecordedError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(
        "{} and {} have different {what} and cannot be merged; to compare them use `trackbed \
         compare`", .paths[0].display(), .paths[1].display()
    )]
    NotTogether { what: &'static str, paths: [PathBuf; 2] },
    #[error(
        "{}: run {run} of cell {cell} has a different result than in {}; nothing was merged: {}",
        .paths[1].display(), .paths[0].display(), explanation(*.is_virtual)
    )]
    Contradiction { paths: [PathBuf; 2], cell: u32, run: u32, is_virtual: bool },
}

/// Possible reasons for two different results of one run.
fn explanation(is_virtual: bool) -> &'static str {
    match is_virtual {
        true => {
            "results in virtual time are reproducible, so one of the two was changed or made by another \
             build; find out which with `trackbed verify-results`"
        }
        false => "runs in real time differ each time; leave one of the directories out",
    }
}
