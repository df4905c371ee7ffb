//! What `run` and `paper` share: plan, run everything, keep it, sum it up.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Context as _;
use trackbed_inference::runtime::{Runtime, Search};
use trackbed_lab::VERSION;
use trackbed_lab::campaign::{self, Execution, Origin};
use trackbed_lab::directory::{About, RunDirectory};
use trackbed_lab::emulated::{EMULATED, Emulated};
use trackbed_lab::live::{LIVE, Live, Ticket};
use trackbed_lab::paper::{self, Study};
use trackbed_lab::refresh::Refresh;
use trackbed_lab::results;
use trackbed_lab::scenario::{self, Home, Override, Plan, Source, Work};
use trackbed_lab::substrate::{Substrate, VIRTUAL, Virtual};
use trackbed_lab::units::Units;
use trackbed_measure::reference::Comparison;
use trackbed_measure::results::{Document, RunResult};
use trackbed_report::summary;

use crate::Verdict;
use crate::arguments::{RunOptions, SubstrateArgument};
use crate::output::{shell_word, tell};
use crate::progress::{Stopwatch, Watch};
use crate::{interrupt, progress};

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
}

impl Finished {
    /// Says so if what is held against a paper is not what the paper did.
    pub fn tell_changed(&self, options: &RunOptions) {
        if !options.overrides.is_empty() || options.quick {
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

    /// The paper called `name` held against the runs, if it is one that makes claims.
    ///
    /// # Errors
    /// If results cannot be read.
    pub fn comparison(&self, name: &str) -> anyhow::Result<Option<Comparison>> {
        Ok(paper::compare(name, &self.plan, &self.document.cells, &self.directory)?)
    }

    /// The same for one that makes recommendations.
    ///
    /// # Errors
    /// If results cannot be read.
    pub fn study(&self, name: &str) -> anyhow::Result<Option<Study>> {
        match paper::is_study(name) {
            true => Ok(paper::study(name, &self.document, &self.runs()?)),
            false => Ok(None),
        }
    }

    /// The command that replays a run, without the numbers of its cell and of itself.
    pub fn replay_command(&self) -> String {
        replay_command(self.directory.path())
    }

    /// Tells where results are, and which runs failed if they are not in a table.
    pub fn tell_where(&self, json: bool) {
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

    /// How the command should end as far as runs and checks are concerned.
    pub fn verdict(&self) -> Verdict {
        let failed = self.document.cells.iter().any(|cell| cell.failed > 0);
        let refuted = self.document.checks.iter().any(|check| !check.pass);
        match self.interrupted {
            true => Verdict::Interrupted,
            false if failed || refuted => Verdict::CheckFailed,
            false => Verdict::Success,
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
    let chosen = options.substrate.unwrap_or(match plan.home {
        Home::Virtual => SubstrateArgument::Virtual,
        Home::Emulated => SubstrateArgument::Emulated,
    });
    let shard = options.shard.map(|shard| shard.resolve(|name| std::env::var(name).ok()));
    let shard = shard.transpose().map_err(anyhow::Error::msg)?;
    let about = About {
        shard: shard.map(|shard| shard.to_string()),
        ..about(&source, &plan, &overrides, chosen)?
    };
    // Before anything else: the kernel lets only a process with one thread have namespaces.
    let substrate = substrate(chosen, options, &about)?;
    let substrate = &*substrate;
    substrate.check(&plan).map_err(anyhow::Error::msg)?;
    let out = options.out.clone().map(|out| match shard {
        Some(shard) => out.join(shard.folder()),
        None => out,
    });
    let mut directory = open(out.as_deref(), &plan, about)?;
    if shard.is_none() {
        directory.keep_timelines(&plan)?;
    }

    let is_ours = |cell, run| shard.is_none_or(|shard| shard.has(plan.cells.len(), (cell, run)));
    let total = Units::of(&plan, is_ours).len();
    let is_missing = |cell, run| is_ours(cell, run) && !directory.runs().has(cell, run);
    let missing = Units::of(&plan, is_missing);
    if !missing.is_empty() && substrate.name() != VIRTUAL {
        look_for_runtime(&plan)?;
    }
    if missing.len() < total {
        tell(format_args!("{} of {total} runs are there already", total - missing.len()));
    }
    let cancel = interrupt::install()?;
    let jobs = options.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let whole = Whole {
        plan: &plan,
        substrate,
        keep_invalid: options.keep_invalid,
        execution: Execution { jobs, cancel },
        total,
        watches: options.watch,
    };
    let done = whole.run_and_keep(&missing, &mut directory)?;
    directory.settle()?;
    let document = whole.sum_up(&mut directory)?;
    let interrupted = done < missing.len();
    if interrupted {
        let kept = total - missing.len() + done;
        let word = shell_word(directory.path());
        let how = match shard {
            Some(shard) => format!("the same command, which does shard {shard}"),
            None => format!("--out {word}"),
        };
        tell(format_args!("{kept} of {total} runs are kept; continue with {how}"));
    }
    Ok(Finished { plan, document, directory, interrupted })
}

/// Looks for ONNX Runtime where a cell has an object detector: without one, each of its runs would
/// fail, minutes later and with the same words.
///
/// # Errors
/// If there is none, with what to do.
fn look_for_runtime(plan: &Plan) -> anyhow::Result<()> {
    let work = |cell: &scenario::Cell| cell.inference.as_ref().and_then(|own| own.work.clone());
    let is_detector = |work: Option<Work>| matches!(work, Some(Work::Detector { .. }));
    if plan.cells.iter().any(|cell| is_detector(work(cell))) {
        Runtime::open(&Search::of_environment(None))?;
    }
    Ok(())
}

/// Refuses a scenario that virtual time cannot run, before hours are spent on another substrate.
///
/// # Errors
/// If `scenario` names programs of others, or an inference that nobody has measured.
pub fn refuse_what_needs_the_kernel(scenario: &str, options: &RunOptions) -> anyhow::Result<()> {
    let plan = scenario::load(&Source::named(scenario), &overrides(options))?;
    let why = Virtual::new().check(&plan).err().unwrap_or_default();
    let why = why.lines().next();
    why.map_or(Ok(()), |why| Err(anyhow::anyhow!("{why}: nothing to compare")))
}

/// Everything that is to be run, and how.
struct Whole<'a> {
    plan: &'a Plan,
    substrate: &'a dyn Substrate,
    keep_invalid: bool,
    execution: Execution,
    /// How many runs there are to be in the end.
    total: u64,
    /// Somebody looks on.
    watches: bool,
}

impl Whole<'_> {
    /// Runs what is missing, and says how much of it was done. Each result is kept as soon as it is
    /// there, and now and then all of them are summed up, so that whatever ends this process leaves
    /// results that can be used.
    fn run_and_keep(&self, missing: &Units, directory: &mut RunDirectory) -> anyhow::Result<u64> {
        let bar = progress::bar(self.total, self.total - missing.len());
        let clock = Stopwatch::start();
        let mut watch = self.watches.then(Watch::new);
        let (mut refresh, mut kept, mut done) = (Refresh::new(), Ok(()), 0);
        campaign::run(self.plan, self.substrate, missing, &self.execution, |result| {
            bar.inc(1);
            if kept.is_ok() {
                kept = directory.append(&result).map_err(anyhow::Error::new);
                done += 1;
            }
            let began = clock.elapsed();
            if kept.is_ok() && refresh.is_due(began) {
                kept = self.sum_up(directory).map(|document| {
                    if let Some(watch) = &mut watch {
                        watch.show(&bar, began, &so_far(&document, directory.path()));
                    }
                });
                refresh.done(began, clock.elapsed());
            }
            if kept.is_err() {
                self.execution.cancel.cancel();
            }
        });
        bar.finish_and_clear();
        watch.iter_mut().for_each(Watch::clear);
        kept.map(|()| done)
    }

    fn sum_up(&self, directory: &mut RunDirectory) -> anyhow::Result<Document> {
        let document = self.document(directory)?;
        directory.sum_up(self.plan, &document)?;
        Ok(document)
    }

    fn document(&self, directory: &RunDirectory) -> anyhow::Result<Document> {
        let origin = Origin::of(self.substrate, self.plan);
        Ok(campaign::document(self.plan, &origin, directory, self.keep_invalid)?)
    }
}

fn replay_command(directory: &Path) -> String {
    format!("trackbed replay {}", shell_word(directory))
}

/// Results while more are coming in.
fn so_far(document: &Document, directory: &Path) -> String {
    let replay = replay_command(directory);
    let width = console::Term::stderr().size_checked().map(|(_, width)| usize::from(width));
    summary::render(document, summary::Options { replay: &replay, verbose: false, width })
}

fn substrate(
    chosen: SubstrateArgument,
    options: &RunOptions,
    about: &About,
) -> anyhow::Result<Box<dyn Substrate>> {
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

/// A directory that the user named is continued; the default one is begun anew, so that nobody
/// mistakes old results for new ones.
fn open(out: Option<&Path>, plan: &Plan, about: About) -> anyhow::Result<RunDirectory> {
    match out {
        Some(path) => Ok(RunDirectory::continue_or_create(path, about)?),
        None => {
            let path = Path::new("trackbed-out").join(&plan.name);
            RunDirectory::create_anew(&path, about)
                .context("the default run directory cannot be used; give one with --out DIR")
        }
    }
}
