//! The part that `run` and `paper` share: plan, execute, store and summarise.

mod captures;
pub mod consent;
pub mod decided;
pub mod remote;
mod until;
mod view;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use trackbed_analysis::paper::{self, Held};
use trackbed_archive::{About, CAPTURES, Refresh, RunDirectory, Shard, Units, VERSION, build_id};
use trackbed_lab::backend::{Backend, Virtual};
use trackbed_lab::beside;
use trackbed_lab::campaign::Execution;
use trackbed_lab::campaign::keeping::Keeping;
use trackbed_lab::emulated::{Captures, Emulated};
use trackbed_lab::live::{Live, Ticket};
use trackbed_measure::results::{CellResult, Document, SCHEMA, VIRTUAL};
use trackbed_report::summary;
use trackbed_scenario::{self as scenario, Home, Override, Plan, Source};

use crate::ending::Ending;
use crate::interrupt;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};
use remote::Remote;
use view::{View, replay_command};

/// A campaign that has finished or was interrupted.
pub struct Finished {
    pub plan: Plan,
    pub document: Document,
    pub directory: RunDirectory,
    /// Ctrl-C ended it early.
    pub interrupted: bool,
    /// Every cell reached the goal of `--until`.
    pub is_precise: bool,
    /// These are the runs of one shard of several.
    pub is_share: bool,
    /// Includes runs in which the machine did not keep up.
    keep_invalid: bool,
    /// The object store of the directory, if it is in one.
    remote: Option<Remote>,
}

impl Finished {
    /// Prints a note if the scenario compared with a paper is not the paper's.
    pub fn tell_changed(&self, options: &RunOptions) {
        if !(options.overrides.is_empty() && options.removed.is_empty()) || options.quick {
            tell("note: the scenario was changed, so the paper's figures may not be comparable");
        }
    }

    /// The comparison of the runs with the paper called `name`, if there is such a paper.
    pub fn held(&self, name: &str) -> anyhow::Result<Option<Held>> {
        let Finished { plan, document, directory, keep_invalid, .. } = self;
        Ok(paper::hold(name, plan, document, directory, *keep_invalid)?)
    }

    /// The tables of the results.
    pub fn tables(&self, verbose: bool) -> String {
        let (replay, width) = (replay_command(self.directory.path()), output::width());
        summary::render(&self.document, summary::Options { replay: &replay, verbose, width })
    }

    /// Uploads the directory, as [`Finished::keep`], and prints `text`, each even if the other fails.
    pub fn keep_and_print(&mut self, text: &str) -> anyhow::Result<()> {
        let kept = self.keep();
        output::print(text)?;
        kept
    }

    /// Uploads the directory if it belongs in an object store. The directory must not change afterwards.
    pub fn keep(&mut self) -> anyhow::Result<()> {
        self.remote.as_mut().map_or(Ok(()), Remote::finish)
    }

    /// Prints where the results are, and how to replay a run.
    pub fn tell_where(&self, json: bool) {
        if let Some(remote) = &self.remote {
            let address = remote.address();
            tell(format_args!(
                "\nresults: {address}; to copy them here: trackbed fetch {address} DIR"
            ));
            return;
        }
        let path = self.directory.path();
        let (command, directory) = (replay_command(path), shell_word(path));
        match json {
            true => match summary::failures(&self.document, &command) {
                failures if failures.is_empty() => {}
                failures => tell(failures.trim_end()),
            },
            false if self.document.substrate == VIRTUAL => {
                tell(format_args!("\nresults: {directory}; to repeat a run: {command} CELL RUN"))
            }
            false => tell(format_args!("\nresults: {directory}")),
        }
    }

    /// How the command should end, judged by runs and checks. A completed shard is a success whatever its
    /// runs gave, so that a cluster neither repeats it nor cancels the others; merging judges all shards
    /// together.
    pub fn ending(&self) -> Ending {
        let is_empty = |cell: &CellResult| cell.invalid > 0 && cell.ran() == 0;
        let failed = self.document.cells.iter().any(|cell| cell.failed > 0 || is_empty(cell));
        let refuted = self.document.checks.iter().any(|check| !check.pass);
        match self.interrupted {
            true => Ending::Interrupted,
            false if self.is_share => Ending::Success,
            false if failed || refuted || !self.is_precise => Ending::CheckFailed,
            false => Ending::Success,
        }
    }
}

/// Plans `scenario` with `options` and executes all runs.
pub fn execute(scenario: &str, options: &RunOptions) -> anyhow::Result<Finished> {
    let campaign = Campaign::prepare(scenario, options)?;
    match until::rounds(&campaign.plan, options)? {
        None => campaign.run(options),
        Some(rounds) => campaign.run_until(rounds, options),
    }
}

/// A campaign that is ready to start.
pub struct Campaign {
    plan: Plan,
    substrate: Box<dyn Backend>,
    about: About,
    directory: RunDirectory,
    remote: Option<Remote>,
    shard: Option<Shard>,
    /// Whether runs leave captures.
    captured: bool,
}

impl Campaign {
    /// Plans `scenario` with `options` and opens the run directory.
    pub fn prepare(scenario: &str, options: &RunOptions) -> anyhow::Result<Campaign> {
        let (source, overrides) = (Source::named(scenario), overrides(options));
        let mut plan = scenario::load(&source, &overrides)?;
        let more_runs = options.paper.as_ref().map(|name| paper::more_runs(name, &plan));
        let more_runs = more_runs.unwrap_or_default();
        more_runs.iter().for_each(|(cell, runs)| plan.raise_runs(*cell, *runs));
        for note in &plan.notes {
            tell(format_args!("note: {note}"));
        }
        until::rounds(&plan, options)?;
        consent::ask(&plan, options)?;
        let chosen = options.substrate.unwrap_or_else(|| home(&plan));
        let shard = options.shard.map(|shard| shard.resolve(|name| std::env::var(name).ok()));
        let shard = shard.transpose().map_err(anyhow::Error::msg)?;
        let about = About {
            shard: shard.map(|shard| shard.to_string()),
            more_runs,
            ..about(&source, &plan, &overrides, chosen)?
        };
        let out = options.out.clone().map(|out| match shard {
            Some(shard) => out.join(shard.folder()),
            None => out,
        });
        let folder = out.clone().unwrap_or_else(|| default_folder(&plan));
        let captures = captures::wanted((chosen, options), &plan, (&folder, shard))?;
        let captured = captures.is_some();
        // Before the run directory: the kernel creates user namespaces only for a single-threaded process.
        let substrate = substrate(chosen, options, &about, captures)?;
        substrate.check(&plan).map_err(anyhow::Error::msg)?;
        let (directory, remote) = open(out.as_deref(), &plan, about.clone())?;
        Ok(Campaign { plan, substrate, about, directory, remote, shard, captured })
    }

    /// The plan of a scenario and the emulated substrate for it, without a run directory.
    pub fn emulated(scenario: &str, options: &RunOptions) -> anyhow::Result<(Plan, Emulated)> {
        let (source, overrides) = (Source::named(scenario), overrides(options));
        let plan = scenario::load(&source, &overrides)?;
        consent::ask(&plan, options)?;
        let about = about(&source, &plan, &overrides, SubstrateArgument::Emulated)?;
        let emulated = Emulated::new(about)?;
        emulated.check(&plan).map_err(anyhow::Error::msg)?;
        Ok((plan, emulated))
    }

    /// Executes the missing runs of the plan, or of this process's shard.
    pub fn run(mut self, options: &RunOptions) -> anyhow::Result<Finished> {
        let families: Vec<u32> = self.plan.cells.iter().map(|cell| cell.family).collect();
        let (shard, count) = (self.shard, self.plan.families().len());
        let is_ours = |cell: u32, run| {
            shard.is_none_or(|shard| shard.has(count, (families[cell as usize], run)))
        };
        let total = Units::of(&self.plan, is_ours).len();
        let is_missing = |cell, run| is_ours(cell, run) && !self.directory.runs().has(cell, run);
        let missing = Units::of(&self.plan, is_missing);
        if missing.len() < total {
            tell(format_args!("{} of {total} runs already exist", total - missing.len()));
        }
        // Without a runtime, every run would fail minutes later with the same message.
        if !missing.is_empty() && self.substrate.name() != VIRTUAL {
            beside::runtimes(&self.plan)?;
        }
        if self.shard.is_none() {
            self.directory.keep_timelines(&self.plan)?;
        }
        let keeping = keeping(&*self.substrate, options)?;
        let mut view = View::new(total, total - missing.len(), options.watch);
        let refresh = &mut Refresh::default();
        let done = keeping.run(&self.plan, &missing, &mut self.directory, refresh, &mut view)?;
        view.end();
        let is_complete = done == missing.len();
        let document = self.settle_and_sum_up(options)?;
        if !is_complete {
            let runs = self.directory.runs();
            let is_kept = |cell, run| is_ours(cell, run) && runs.has(cell, run);
            let kept = Units::of(&self.plan, is_kept).len();
            let how = match self.shard {
                Some(shard) => format!("the same command (shard {shard})"),
                None => self.again(),
            };
            tell(format_args!("{kept} of {total} runs are kept; continue with {how}"));
        }
        self.finished(document, !is_complete, true, options)
    }

    /// Sorts the results, which must be in the store by then, and summarises them.
    fn settle_and_sum_up(&mut self, options: &RunOptions) -> anyhow::Result<Document> {
        self.remote.as_mut().map_or(Ok(()), Remote::stop)?;
        self.directory.settle()?;
        let keeping = keeping(&*self.substrate, options)?;
        Ok(keeping.sum_up(&self.plan, &mut self.directory)?)
    }

    /// The option that continues this campaign.
    fn again(&self) -> String {
        match &self.remote {
            Some(remote) => format!("--out {}", remote.address()),
            None => format!("--out {}", shell_word(self.directory.path())),
        }
    }

    fn finished(
        self,
        document: Document,
        interrupted: bool,
        is_precise: bool,
        options: &RunOptions,
    ) -> anyhow::Result<Finished> {
        if let Some(why) = self.substrate.lost() {
            bail!("{why}");
        }
        let Campaign { plan, directory, remote, shard, captured, .. } = self;
        if captured {
            captures::tell_where(&directory.path().join(CAPTURES));
        }
        Ok(Finished {
            plan,
            document,
            directory,
            interrupted,
            is_precise,
            is_share: shard.is_some(),
            keep_invalid: options.keep_invalid,
            remote,
        })
    }
}

fn keeping<'a>(backend: &'a dyn Backend, options: &RunOptions) -> anyhow::Result<Keeping<'a>> {
    Ok(Keeping { backend, keep_invalid: options.keep_invalid, execution: execution(options)? })
}

/// How many runs at a time, until Ctrl-C.
pub fn execution(options: &RunOptions) -> anyhow::Result<Execution> {
    let jobs = options.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    Ok(Execution { jobs, cancel: interrupt::install()? })
}

/// The scenario's own substrate. If this machine has no runtime for the scenario's object detectors, virtual
/// time replaces it, whose model of a device needs no runtime. A substrate that the user chose is never
/// replaced.
fn home(plan: &Plan) -> SubstrateArgument {
    let is_emulated = plan.home == Home::Emulated;
    if is_emulated && beside::lacks_runtime(plan) && Virtual::default().check(plan).is_ok() {
        tell(
            "note: this machine has no runtime for the object detector, so the scenario runs in \
             virtual time with the model of a device. To measure this machine: `pip install onnxruntime`",
        );
        return SubstrateArgument::Virtual;
    }
    plan.home.into()
}

fn substrate(
    chosen: SubstrateArgument,
    options: &RunOptions,
    about: &About,
    captures: Option<Captures>,
) -> anyhow::Result<Box<dyn Backend>> {
    Ok(match chosen {
        SubstrateArgument::Virtual => {
            // The allocator asks for huge pages, whose unused parts take as much memory as the phones
            // themselves. Where the kernel refuses, only memory is lost.
            let _refused = rustix::thread::disable_transparent_huge_pages(true);
            Box::new(Virtual::default())
        }
        SubstrateArgument::Emulated => Box::new(Emulated::new(about.clone())?.capturing(captures)),
        SubstrateArgument::Live => {
            let server = options.server.as_deref().unwrap_or_default();
            let ticket = Ticket::read(&options.ticket).map_err(anyhow::Error::msg)?;
            tell("note: live runs use the real network; the links of the scenario have no effect");
            Box::new(Live::new(server, ticket, about.clone()).map_err(anyhow::Error::msg)?)
        }
    })
}

/// The settings of `--set` and of the options for single keys, which take precedence.
pub fn overrides(options: &RunOptions) -> Vec<Override> {
    let mut overrides = options.overrides.clone();
    overrides.extend(options.removed.iter().cloned());
    let mut set =
        |key: &str, value: String| overrides.push(Override { key: key.to_owned(), value });
    if options.quick {
        set("quick", true.to_string());
    }
    options.parts.iter().for_each(|part| set("part", part.clone()));
    if let Some(runs) = options.runs {
        set("runs", runs.to_string());
    }
    if let Some(seed) = options.seed {
        set("seed", seed.to_string());
    }
    overrides
}

fn about(
    source: &Source,
    plan: &Plan,
    overrides: &[Override],
    substrate: SubstrateArgument,
) -> anyhow::Result<About> {
    let folder = std::env::current_dir()
        .context("the current folder does not exist; change to another one")?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    Ok(About {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        build: build_id(),
        command: command.collect(),
        scenario: source.absolute()?.to_string(),
        text: plan.source_text.clone(),
        overrides: overrides.iter().map(Override::to_string).collect(),
        seed: plan.seed,
        runs: plan.runs,
        more_runs: BTreeMap::new(),
        folder,
        files: plan.inputs.clone(),
        plan: plan.hash.clone(),
        substrate: substrate.name().to_owned(),
        shard: None,
    })
}

/// The run directory without `--out`.
fn default_folder(plan: &Plan) -> PathBuf {
    Path::new("trackbed-out").join(&plan.name)
}

/// Opens the run directory. One that the user named is continued, here or in a store. The default one is
/// overwritten, so that old results are not mistaken for new ones.
fn open(
    out: Option<&Path>,
    plan: &Plan,
    about: About,
) -> anyhow::Result<(RunDirectory, Option<Remote>)> {
    if let Some(address) = out.and_then(remote::address) {
        let (directory, remote) = Remote::open(address, about)?;
        return Ok((directory, Some(remote)));
    }
    let directory = match out {
        Some(path) => RunDirectory::continue_or_create(path, about)?,
        None => {
            let path = default_folder(plan);
            if path.join("run.json").exists() {
                tell(format_args!(
                    "note: replaces the earlier results in {}; --out DIR keeps both",
                    shell_word(&path)
                ));
            }
            RunDirectory::create_anew(&path, about)
                .context("the default run directory cannot be used; give one with --out DIR")?
        }
    };
    Ok((directory, None))
}
