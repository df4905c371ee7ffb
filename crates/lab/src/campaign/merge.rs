//! Run directories of one plan become one, whoever made which, and in whatever order they come.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::{Document, RunResult};

use crate::backend::Virtual;
use crate::campaign;
use trackbed_analysis::Origin;
use trackbed_archive::Results as _;
use trackbed_archive::files::SHARD_PREFIX;
use trackbed_archive::{About, DirectoryError, RunDirectory, is_run_directory, read_document};
use trackbed_archive::{Recorded, RecordedError};
use trackbed_measure::results::VIRTUAL;

/// Run directories that belong together.
#[derive(Debug)]
pub struct Sources(Vec<Recorded>);

/// What was merged.
#[derive(Debug)]
pub struct Merged {
    /// Where it is now.
    pub directory: RunDirectory,
    /// What all runs say together.
    pub document: Document,
    /// Runs that are there.
    pub runs: u64,
    /// Runs that the plan asks for.
    pub asked: u64,
}

impl Sources {
    /// Reads the run directories at `paths`.
    ///
    /// # Errors
    /// If one of them cannot be used, or they do not belong together.
    pub fn read(paths: &[PathBuf]) -> Result<Sources, MergeError> {
        let mut all: Vec<Recorded> = Vec::new();
        for path in paths {
            let recorded = Recorded::read(path).map_err(MergeError::Recorded)?;
            if let Some(first) = all.first() {
                belong_together(first, &recorded)?;
            }
            all.push(recorded);
        }
        match all.is_empty() {
            true => Err(MergeError::Nothing),
            false => Ok(Sources(all)),
        }
    }

    /// Merges them into the run directory at `out`, which may hold results of these runs already. Runs
    /// for which a machine was too slow count if `keep_invalid`. Of a new directory `command` is what made
    /// it.
    ///
    /// # Errors
    /// If two directories hold different results of one run, or something cannot be read or written.
    pub fn merge_into(
        mut self,
        out: &Path,
        keep_invalid: bool,
        command: Vec<String>,
    ) -> Result<Merged, MergeError> {
        // Some may have asked for more runs than others.
        self.0.sort_by_key(|source| std::cmp::Reverse(source.plan.runs));
        // What is there already counts too. One that is of something else is refused when it is opened.
        let own = Recorded::read(out).ok().filter(|own| belong_together(&self.0[0], own).is_ok());
        let is_wider = |own: &&Recorded| own.plan.runs > self.0[0].plan.runs;
        let widest = own.as_ref().filter(is_wider).unwrap_or(&self.0[0]);
        let Recorded { about, plan, .. } = widest;
        // Nothing is written before it is known that all of it goes together.
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

/// Where the results come from: in real time, what the documents of all say of their machines, in an
/// order that does not depend on theirs.
fn origin(all: &[&Recorded]) -> Result<Origin, MergeError> {
    let Recorded { about, plan, .. } = all[0];
    if about.substrate == VIRTUAL {
        return Ok(campaign::origin(&Virtual::new(), plan));
    }
    let mut model = None;
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in all {
        let document = match read_document(&source.path) {
            Ok(document) => document,
            // It has only just begun, or was killed early: its machine is not known yet.
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

/// Stands between what is true of one machine and of another.
const BETWEEN_MACHINES: &str = " | ";

/// The run directories of the shards of a campaign at `path`, by their names.
///
/// # Errors
/// If the folder cannot be read.
pub fn shards_in(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_shard = entry.file_name().to_string_lossy().starts_with(SHARD_PREFIX);
        // One that has only just begun has nothing to give yet.
        if is_shard && is_run_directory(&entry.path()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn belong_together(first: &Recorded, other: &Recorded) -> Result<(), MergeError> {
    let differ = |what: &'static str| {
        let paths = [first.path.clone(), other.path.clone()];
        Err(MergeError::NotTogether { what, paths })
    };
    let (one, two) = (&first.about, &other.about);
    if one.trackbed != two.trackbed {
        return differ("versions of the tool");
    }
    if one.substrate != two.substrate {
        return differ("substrates");
    }
    if one.plan != two.plan {
        return differ("scenarios, settings or seeds");
    }
    Ok(())
}

/// Holds the results of a cell that several have against one another.
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
            let differs = |run: &&RunResult| ours.get(&run.run).is_some_and(|our| our != run);
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

/// Adds the results of a cell that `directory` has not.
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
    #[error(
        "there is nothing to merge: name run directories, or a folder that holds those of shards"
    )]
    Nothing,
    #[error("{0}")]
    Recorded(RecordedError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(
        "{} and {} are of different {what}, and do not mix; `trackbed compare` holds one against \
         the other", .paths[0].display(), .paths[1].display()
    )]
    NotTogether { what: &'static str, paths: [PathBuf; 2] },
    #[error(
        "{}: run {run} of cell {cell} has another result than in {}, so nothing was merged: {}",
        .paths[1].display(), .paths[0].display(), explanation(*.is_virtual)
    )]
    Contradiction { paths: [PathBuf; 2], cell: u32, run: u32, is_virtual: bool },
}

/// What can be behind two results of one run.
fn explanation(is_virtual: bool) -> &'static str {
    match is_virtual {
        true => {
            "in virtual time that cannot be, so one of the two was changed or made by another build; \
             `trackbed verify-results` tells which"
        }
        false => "in real time no run is like another; leave one of them out",
    }
}
