//! `trackbed plan`

mod cluster;
mod needed;
mod picture;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use trackbed_archive::VERSION;
use trackbed_core::text::plural;
use trackbed_measure::results::SCHEMA;
use trackbed_measure::schema::{PlanDocument, PlannedCell};
use trackbed_report::{Align, Table};
use trackbed_scenario::{self as scenario, Plan, Source};

use super::campaign;
use super::compare::percentage;
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument, count};
use crate::output::{self, is_url, tell};
use cluster::{Job, Pod};

#[derive(Clone, Debug, Args)]
#[command(after_long_help = include_str!("../../help/plan.txt"))]
pub struct Arguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    #[command(flatten)]
    pub options: RunOptions,
    /// Print how many runs of each cell find a difference of PERCENT, judged by pilot runs
    #[arg(long, value_name = "PERCENT", value_parser = difference, conflicts_with_all = ["json", "cluster"])]
    pub difference: Option<f64>,
    /// Draw the network of each cell, and write the picture to FILE as SVG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "cluster", "difference"])]
    pub picture: Option<PathBuf>,
    /// Print a job description for CLUSTER
    #[arg(
        long = "for",
        value_enum,
        value_name = "CLUSTER",
        requires = "out",
        conflicts_with = "json"
    )]
    pub cluster: Option<Cluster>,
    /// Split the runs into N shards
    #[arg(long, value_name = "N", default_value = "8", value_parser = count)]
    pub shards: u32,
    /// Use the container image IMAGE, with trackbed on its path (Kubernetes)
    #[arg(long, value_name = "IMAGE", default_value = "trackbed:latest")]
    pub image: String,
    /// Mount the persistent volume claim NAME for results (Kubernetes)
    #[arg(long, value_name = "NAME", default_value = "trackbed-results")]
    pub claim: String,
    /// Pass the entries of the secret NAME to pods as environment variables, for an object store (Kubernetes)
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
}

/// The kinds of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cluster {
    /// A batch script with a job array for `sbatch`
    Slurm,
    /// A manifest of an indexed job for `kubectl apply`
    Kubernetes,
}

/// Prints the planned cells, or a job description.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let source = Source::named(&arguments.scenario);
    let mut plan = scenario::load(&source, &campaign::overrides(&arguments.options))?;
    plan.notes.iter().for_each(|note| tell(format_args!("note: {note}")));
    let options = &arguments.options;
    let text = match arguments.cluster {
        None if arguments.difference.is_some() => {
            needed::text(&mut plan, options, arguments.difference.unwrap_or_default())?
        }
        None if options.json => output::json(&document(&plan))?,
        None => {
            match &arguments.picture {
                Some(path) => output::write_whole(path, picture::svg(&plan)?)?,
                None => trial::tell_cost(&plan, options),
            }
            overview(&plan)
        }
        Some(cluster) => {
            let job = job(arguments, &source, &plan)?;
            let Arguments { image, claim, secret, .. } = arguments.clone();
            let pod = Pod { image, claim, secret };
            match cluster {
                Cluster::Slurm => cluster::slurm(&job),
                Cluster::Kubernetes => cluster::kubernetes(&job, &pod),
            }
        }
    };
    output::print(&text)?;
    Ok(Ending::Success)
}

fn document(plan: &Plan) -> PlanDocument {
    let factors = |cell: &scenario::Cell| {
        cell.factors.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()
    };
    PlanDocument {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        scenario: plan.name.clone(),
        plan: plan.hash.clone(),
        seed: plan.seed,
        runs: plan.runs,
        cells: plan.cells.iter().map(|cell| PlannedCell { factors: factors(cell) }).collect(),
    }
}

fn overview(plan: &Plan) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in plan.cells.iter().flat_map(|cell| &cell.factors) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let titles = names.iter().map(|name| (*name, Align::Left));
    let mut table = Table::new([("cell", Align::Right)].into_iter().chain(titles));
    for (index, cell) in plan.cells.iter().enumerate() {
        let value = |name: &&str| {
            let factor = cell.factors.iter().find(|(other, _)| other == name);
            factor.map(|(_, value)| value.to_string()).unwrap_or_default()
        };
        table.row(std::iter::once(index.to_string()).chain(names.iter().map(value)));
    }
    format!("{}\n\n{table}", summary(plan))
}

fn summary(plan: &Plan) -> String {
    let cells = plural(plan.cells.len() as u64, "cell");
    let (runs, units) = (plan.runs_in_words(), plan.units());
    format!("{}: {cells}, {runs}, {units} in all, seed {}", plan.name, plan.seed)
}

fn job(arguments: &Arguments, source: &Source, plan: &Plan) -> anyhow::Result<Job> {
    let options = &arguments.options;
    if options.substrate == Some(SubstrateArgument::Live) {
        bail!(
            "live campaigns run between two machines and cannot be sharded; remove --substrate live"
        );
    }
    if options.until.is_some() || options.shard.is_some() {
        bail!(
            "--for needs a fixed number of runs, which --shards splits; remove --until and --shard, \
             and give --runs"
        );
    }
    let is_file = options.out.as_deref().and_then(Path::to_str);
    let is_file = is_file.is_some_and(|out| out.starts_with("file://"));
    if is_file && arguments.cluster == Some(Cluster::Kubernetes) {
        bail!(
            "--out file://: a pod's own folder is lost with the pod; give the path of the volume, or \
             an object store"
        );
    }
    campaign::consent::ask(plan, options)?;
    let units = plan.units();
    if u64::from(arguments.shards) > units {
        bail!("--shards: there are only {units} runs; write a number up to {units}");
    }
    let out = options.out.as_deref().unwrap_or(Path::new(""));
    let out = match out.to_str().filter(|out| is_url(out)) {
        Some(url) => line(Path::new(url))?,
        None => {
            let out = std::path::absolute(out).context("the current folder does not exist")?;
            line(&out)?
        }
    };
    let file = match source {
        Source::File(path) => {
            line(path)?;
            path.file_name().map(|name| name.to_string_lossy().into_owned())
        }
        _ => None,
    };
    Ok(Job {
        name: plan.name.clone(),
        summary: summary(plan),
        scenario: source.absolute()?.to_string(),
        file: file.map(|name| (name, plan.source_text.clone())),
        words: words(options, plan),
        out,
        shards: arguments.shards,
        cores: options.jobs.unwrap_or(1),
        keep_invalid: options.keep_invalid,
    })
}

fn difference(text: &str) -> Result<f64, String> {
    let share = percentage(text).ok().filter(|share| *share > 0.0);
    share.ok_or_else(|| "write a percentage above 0, for example 5%".to_owned())
}

/// A path for a line of a job description.
fn line(path: &Path) -> anyhow::Result<String> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => bail!(
            "{path:?} cannot be used in a job description: it is not UTF-8 or has control characters; \
             give another path"
        ),
    }
}

/// The options that affect results, as words of the command.
fn words(options: &RunOptions, plan: &Plan) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: Option<String>| {
        words.push(format!("--{name}"));
        words.extend(value);
    };
    if let Some(substrate) = options.substrate {
        option("substrate", Some(substrate.name().to_owned()));
    }
    if options.quick {
        option("quick", None);
    }
    options.parts.iter().for_each(|part| option("part", Some(part.clone())));
    options.overrides.iter().for_each(|setting| option("set", Some(setting.to_string())));
    options.removed.iter().for_each(|setting| option("unset", Some(setting.key.clone())));
    if let Some(runs) = options.runs {
        option("runs", Some(runs.to_string()));
    }
    if let Some(seed) = options.seed {
        option("seed", Some(seed.to_string()));
    }
    if options.keep_invalid {
        option("keep-invalid", None);
    }
    if !plan.commands.is_empty() {
        option("allow-commands", None);
    }
    words
}
