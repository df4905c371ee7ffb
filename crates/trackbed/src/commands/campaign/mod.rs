//! What `run` and `paper` share: plan, run everything, keep it, sum it up.

pub mod consent;
pub mod remote;
mod until;
mod view;

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context as _, bail};
use trackbed_analysis::paper::{self, Held};
use trackbed_archive::{About, Refresh, RunDirectory, Shard, Units, VERSION, results};
use trackbed_lab::backend::{Backend, Virtual};
use trackbed_lab::beside;
use trackbed_lab::campaign::Execution;
use trackbed_lab::campaign::keeping::Keeping;
use trackbed_lab::emulated::Emulated;
use trackbed_lab::live::{Live, Ticket};
use trackbed_measure::results::{Document, EMULATED, LIVE, RunResult, SCHEMA, VIRTUAL};
use trackbed_report::summary;
use trackbed_scenario::{self as scenario, Home, Override, Plan, Source};

use crate::ending::Ending;
use crate::interrupt;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{shell_word, tell};
use remote::Remote;
use view::{View, replay_command};

/// A campaign that is over, or was interrupted.
pub struct Finished {
    /// What was planned.
    pub plan: Plan,
    /// What the runs say together.
    pub document: Document,
    /// Where they are kept.
    pub directory: RunDirectory,
    /// Ctrl-C ended it early.
    pub interrupted: bool,
    /// All that was to be known precisely is.
    pub is_precise: bool,
    /// These are runs of one shard, and others belong to them.
    pub is_share: bool,
    /// Runs count for which the machine was too slow.
    keep_invalid: bool,
    /// Where the directory's home is, if that is a store.
    remote: Option<Remote>,
}

impl Finished {
    /// Says so if what is held against a paper is not what the paper did.
    pub fn tell_changed(&self, options: &RunOptions) {
        if !(options.overrides.is_empty() && options.removed.is_empty()) || options.quick {
            tell(
                "note: this is not the scenario as it is, so the paper's figures may not be of the same",
            );
        }
    }

    /// Every result that is there, in the plan's order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn runs(&self) -> anyhow::Result<Vec<RunResult>> {
        Ok(results::all(&self.plan, &self.directory)?)
    }

    /// The paper called `name` held against the runs, if there is one.
    ///
    /// # Errors
    /// If results cannot be read.
    pub fn held(&self, name: &str) -> anyhow::Result<Option<Held>> {
        let Finished { plan, document, directory, keep_invalid, .. } = self;
        Ok(paper::hold(name, plan, document, directory, *keep_invalid)?)
    }

    /// The command that replays a run, without the numbers of its cell and of itself.
    pub fn replay_command(&self) -> String {
        replay_command(self.directory.path())
    }

    /// Sends what is to be in a store there; nothing is written to the directory any more.
    ///
    /// # Errors
    /// If the store does not take it.
    pub fn keep(&mut self) -> anyhow::Result<()> {
        self.remote.as_mut().map_or(Ok(()), Remote::finish)
    }

    /// Tells where results are, and which runs failed if they are not in a table.
    pub fn tell_where(&self, json: bool) {
        if let Some(remote) = &self.remote {
            let address = remote.address();
            tell(format_args!(
                "\nresults: {address}; to have them here: trackbed fetch {address} DIR"
            ));
            return;
        }
        let (command, directory) = (self.replay_command(), shell_word(self.directory.path()));
        match json {
            true => match summary::failures(&self.document, &command) {
                failures if failures.is_empty() => {}
                failures => tell(failures.trim_end()),
            },
            false if self.document.substrate == VIRTUAL => {
                tell(format_args!("\nresults: {directory}; one run again: {command} CELL RUN"))
            }
            false => tell(format_args!("\nresults: {directory}")),
        }
    }

    /// How the command should end as far as runs and checks are concerned. What they say is said of all
    /// shards together, when they are merged: one that did its share has done what it was to do, and a
    /// cluster is not to do it again, nor to leave the others alone.
    pub fn ending(&self) -> Ending {
        let failed = self.document.cells.iter().any(|cell| cell.failed > 0);
        let refuted = self.document.checks.iter().any(|check| !check.pass);
        match self.interrupted {
            true => Ending::Interrupted,
            false if self.is_share => Ending::Success,
            false if failed || refuted || !self.is_precise => Ending::CheckFailed,
            false => Ending::Success,
        }
    }
}

/// Plans `scenario` with `options` and runs all of it.
///
/// # Errors
/// If the scenario or a setting is not valid, or results cannot be written.
pub fn execute(scenario: &str, options: &RunOptions) -> anyhow::Result<Finished> {
    let (source, overrides) = (Source::named(scenario), overrides(options));
    let plan = scenario::load(&source, &overrides)?;
    for note in &plan.notes {
        tell(format_args!("note: {note}"));
    }
    let rounds = until::rounds(&plan, options)?;
    consent::ask(&plan, options)?;
    let chosen = options.substrate.unwrap_or_else(|| home(&plan));
    let shard = options.shard.map(|shard| shard.resolve(|name| std::env::var(name).ok()));
    let shard = shard.transpose().map_err(anyhow::Error::msg)?;
    let about = About {
        shard: shard.map(|shard| shard.to_string()),
        ..about(&source, &plan, &overrides, chosen)?
    };
    // Before anything else: the kernel lets only a process with one thread have namespaces.
    let substrate = substrate(chosen, options, &about)?;
    substrate.check(&plan).map_err(anyhow::Error::msg)?;
    let out = options.out.clone().map(|out| match shard {
        Some(shard) => out.join(shard.folder()),
        None => out,
    });
    let (directory, remote) = open(out.as_deref(), &plan, about.clone())?;
    let campaign = Campaign { plan, substrate: &*substrate, about, directory, remote, shard };
    match rounds {
        None => campaign.run(options),
        Some(rounds) => campaign.run_until(rounds, options),
    }
}

/// All that is needed to begin.
struct Campaign<'a> {
    plan: Plan,
    substrate: &'a dyn Backend,
    about: About,
    directory: RunDirectory,
    remote: Option<Remote>,
    shard: Option<Shard>,
}

impl Campaign<'_> {
    /// Runs what is missing of the plan, or of this process's share.
    fn run(mut self, options: &RunOptions) -> anyhow::Result<Finished> {
        let cells = self.plan.cells.len();
        let shard = self.shard;
        let is_ours = |cell, run| shard.is_none_or(|shard| shard.has(cells, (cell, run)));
        let total = Units::of(&self.plan, is_ours).len();
        let is_missing = |cell, run| is_ours(cell, run) && !self.directory.runs().has(cell, run);
        let missing = Units::of(&self.plan, is_missing);
        if missing.len() < total {
            tell(format_args!("{} of {total} runs are there already", total - missing.len()));
        }
        // Without a runtime each run would fail, minutes later and with the same words.
        if !missing.is_empty() && self.substrate.name() != VIRTUAL {
            beside::runtimes(&self.plan)?;
        }
        if self.shard.is_none() {
            self.directory.keep_timelines(&self.plan)?;
        }
        let keeping = keeping(self.substrate, options)?;
        let mut view = View::new(total, total - missing.len(), options.watch);
        let refresh = &mut Refresh::new();
        let done = keeping.run(&self.plan, &missing, &mut self.directory, refresh, &mut view)?;
        view.end();
        let is_complete = done == missing.len();
        let document = self.settle_and_sum_up(options)?;
        if !is_complete {
            let runs = self.directory.runs();
            let is_kept = |cell, run| is_ours(cell, run) && runs.has(cell, run);
            let kept = Units::of(&self.plan, is_kept).len();
            let how = match self.shard {
                Some(shard) => format!("the same command, which does shard {shard}"),
                None => self.again(),
            };
            tell(format_args!("{kept} of {total} runs are kept; continue with {how}"));
        }
        self.finished(document, !is_complete, true, options)
    }

    /// Puts the results in order, which a store must have by then, and sums them up.
    fn settle_and_sum_up(&mut self, options: &RunOptions) -> anyhow::Result<Document> {
        self.remote.as_mut().map_or(Ok(()), Remote::stop)?;
        self.directory.settle()?;
        let keeping = keeping(self.substrate, options)?;
        Ok(keeping.sum_up(&self.plan, &mut self.directory)?)
    }

    /// What it takes to go on with it.
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
        let Campaign { plan, directory, remote, shard, .. } = self;
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
    let jobs = options.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let execution = Execution { jobs, cancel: interrupt::install()? };
    Ok(Keeping { backend, keep_invalid: options.keep_invalid, execution })
}

/// The scenario's own substrate. Where this machine has nothing to run its object detectors by, virtual time
/// takes its place: its model of a device needs nothing. A substrate that the user chose is never replaced.
fn home(plan: &Plan) -> SubstrateArgument {
    match plan.home {
        Home::Emulated if beside::lacks_runtime(plan) && Virtual::new().check(plan).is_ok() => {
            tell(
                "note: this machine has no runtime for the object detector, so this runs in virtual \
                 time, on the model of a device. To measure this machine: `pip install onnxruntime`",
            );
            SubstrateArgument::Virtual
        }
        Home::Emulated => SubstrateArgument::Emulated,
        Home::Virtual => SubstrateArgument::Virtual,
    }
}

/// The plan of a scenario that virtual time can run too: refused before hours go into another substrate.
///
/// # Errors
/// If `scenario` names programs of others, or an inference that nobody has measured.
pub fn planned_for_both(scenario: &str, options: &RunOptions) -> anyhow::Result<Plan> {
    let plan = scenario::load(&Source::named(scenario), &overrides(options))?;
    let why = Virtual::new().check(&plan).err().unwrap_or_default();
    match why.lines().next() {
        Some(why) => Err(anyhow::anyhow!("{why}: nothing to compare")),
        None => Ok(plan),
    }
}

fn substrate(
    chosen: SubstrateArgument,
    options: &RunOptions,
    about: &About,
) -> anyhow::Result<Box<dyn Backend>> {
    Ok(match chosen {
        SubstrateArgument::Virtual => Box::new(Virtual::new()),
        SubstrateArgument::Emulated => Box::new(Emulated::new(about.clone())?),
        SubstrateArgument::Live => {
            let server = options.server.as_deref().unwrap_or_default();
            let ticket = Ticket::read(&options.ticket).map_err(anyhow::Error::msg)?;
            tell("note: the network is as it is: what the scenario says of links has no effect");
            Box::new(Live::new(server, ticket, about.clone()).map_err(anyhow::Error::msg)?)
        }
    })
}

/// What has an option of its own is a setting like any other, and wins over `--set`.
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
    let folder = std::env::current_dir().context("there is no current folder; change to one")?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    Ok(About {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        command: command.collect(),
        scenario: source.absolute()?.to_string(),
        text: plan.source_text.clone(),
        overrides: overrides.iter().map(Override::to_string).collect(),
        seed: plan.seed,
        runs: plan.runs,
        folder,
        plan: plan.hash.clone(),
        substrate: match substrate {
            SubstrateArgument::Virtual => VIRTUAL.to_owned(),
            SubstrateArgument::Emulated => EMULATED.to_owned(),
            SubstrateArgument::Live => LIVE.to_owned(),
        },
        shard: None,
    })
}

/// A directory that the user named is continued, here or in a store; the default one is begun anew, so
/// that nobody mistakes old results for new ones.
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
            let path = Path::new("trackbed-out").join(&plan.name);
            RunDirectory::create_anew(&path, about)
                .context("the default run directory cannot be used; give one with --out DIR")?
        }
    };
    Ok((directory, None))
}
