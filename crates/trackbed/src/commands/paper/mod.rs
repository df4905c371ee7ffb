//! `trackbed paper`

mod settings;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use trackbed_analysis::paper::{self, Held, PaperDocument};
use trackbed_lab::timeline;
use trackbed_measure::results::{Document, VIRTUAL};
use trackbed_outward::files;
use trackbed_report::papers::{self, Chapter};
use trackbed_scenario::papers::EDGE;
use trackbed_scenario::{self as scenario, Override, Plan, Source};
use trackbed_substrate::Cancel;

use super::campaign::{self, Finished};
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument, count};
use crate::output::{self, shell_word, tell};
use crate::shell;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/paper.txt"))]
pub struct Arguments {
    /// The scenario that reproduces a paper (see `trackbed list scenarios`), or all
    pub name: String,
    /// With all, write the claims of all papers and the results to FILE (Markdown), and pictures to a folder
    /// beside it
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Show what the paper gives and leaves out, and which claims depend on what it leaves out
    #[arg(long, conflicts_with = "page")]
    pub unknowns: bool,
    /// Run the paper in N combinations of plausible values of what it leaves out, and show the same of these
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "page")]
    pub settings: Option<u32>,
    #[command(flatten)]
    pub options: RunOptions,
}

/// Runs a paper's scenario and compares the paper's figures and claims with the results.
///
/// # Errors
/// If there is no such paper, a setting is invalid, or results cannot be written.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let is_about_settings = arguments.unknowns || arguments.settings.is_some();
    if arguments.name == ALL && is_about_settings {
        bail!("--unknowns and --settings are for one paper: write trackbed paper vru --unknowns");
    }
    if arguments.name == ALL {
        return all(arguments);
    }
    if !trackbed_scenario::papers::names().any(|name| name == arguments.name) {
        let known: Vec<&str> = trackbed_scenario::papers::names().collect();
        let known = known.join(", trackbed paper ");
        bail!("unknown paper {:?}; write trackbed paper {known}, or all", arguments.name);
    }
    if is_about_settings {
        return settings::execute(arguments);
    }
    if arguments.page.is_some() {
        bail!("--page is for all papers: write trackbed paper all --page FILE");
    }
    let options = with_parts(&arguments.name, &arguments.options);
    let mut finished = campaign::execute(&arguments.name, &options)?;
    let found = held(&arguments.name, &finished, arguments.options.quick)?;
    let claims = found.checks();
    let is_json = arguments.options.json;
    let text = if is_json {
        let document = PaperDocument::new(finished.document.clone(), found);
        output::json(&document)?
    } else {
        let results = finished.tables(arguments.options.verbose);
        format!("{results}\n{}", papers::render(&found, output::width().unwrap_or(100)))
    };
    finished.keep_and_print(&text)?;
    finished.tell_changed(&arguments.options);
    finished.tell_where(is_json);
    let is_refuted = claims.iter().any(|claim| !claim.pass);
    Ok(match finished.ending() {
        Ending::Success if !finished.is_share && is_refuted => Ending::CheckFailed,
        other => other,
    })
}

/// The options with the parts of the scenario that the paper `name` covers, unless the user chose parts, and
/// with the runs that its statements need, unless the user chose how many.
///
/// The study with device models is compared with the built-in models in virtual time, unless the user chose a
/// substrate or a device: `--substrate emulated` measures the machine itself, for hours.
fn with_parts(name: &str, options: &RunOptions) -> RunOptions {
    let mut options = options.clone();
    if let Some(devices) = devices(name, &options) {
        options.substrate = Some(SubstrateArgument::Virtual);
        options.overrides.push(devices);
    }
    if options.parts.is_empty() {
        options.parts = paper::parts(name);
    }
    let is_set = |key: &str| options.overrides.iter().any(|one| one.key == key);
    let is_chosen = options.runs.is_some() || options.quick || options.until.is_some();
    if !(is_chosen || is_set("runs") || is_set("quick")) {
        options.paper = Some(name.to_owned());
    }
    options
}

/// The setting by which the study with device models runs on its devices, unless the user chose others.
fn devices(name: &str, options: &RunOptions) -> Option<Override> {
    let is_virtual = matches!(options.substrate, None | Some(SubstrateArgument::Virtual));
    let key = "inference.device";
    let is_chosen = options.overrides.iter().any(|one| one.key == key);
    let devices = Override { key: key.to_owned(), value: DEVICES.to_owned() };
    (name == EDGE && is_virtual && !is_chosen).then_some(devices)
}

/// The devices of the study with built-in models.
const DEVICES: &str = "raspberry-pi-5,jetson-orin-nano";

/// The name for all papers.
const ALL: &str = "all";

/// Runs every paper's scenario in virtual time, and writes a page with the results of all claims.
fn all(arguments: &Arguments) -> anyhow::Result<Ending> {
    let options = &arguments.options;
    if options.json {
        bail!("trackbed paper all writes a Markdown page; remove --json");
    }
    if !(options.overrides.is_empty() && options.removed.is_empty() && options.parts.is_empty()) {
        bail!("--set, --unset and --part apply to one scenario: write trackbed paper NAME");
    }
    // Fail before an hour of runs, not after it.
    let pictures = arguments.page.as_deref().map(folder_of_pictures).transpose()?;
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("trackbed-out").join("papers"));
    let (mut chapters, mut verdict) = (Vec::new(), Ending::Success);
    for name in trackbed_scenario::papers::names() {
        let quick = options.quick && has_quick_form(name);
        let options = RunOptions {
            out: Some(out.join(name)),
            substrate: options.substrate.or(Some(SubstrateArgument::Virtual)),
            quick,
            ..with_parts(name, options)
        };
        tell(format_args!("{name}:"));
        let mut finished = campaign::execute(name, &options)?;
        let found = held(name, &finished, quick)?;
        if found.checks().iter().any(|claim| !claim.pass) {
            verdict = Ending::CheckFailed;
        }
        finished.keep()?;
        chapters.push(chapter(name, quick, &finished, found));
        if finished.interrupted {
            verdict = Ending::Interrupted;
            break;
        }
    }
    let words: Vec<String> = std::env::args().skip(1).map(|word| shell::word(&word)).collect();
    let command = format!("trackbed {}", words.join(" "));
    match (&arguments.page, pictures) {
        // An incomplete page does not replace a complete one.
        (Some(path), _) if verdict == Ending::Interrupted => {
            tell(format_args!("{} is unchanged; the same command continues", shell_word(path)));
        }
        (Some(path), Some(folder)) => {
            write_page(path, &folder, &chapters, &command)?;
            output::print(&papers::tallies(&chapters).to_string())?;
        }
        _ => output::print(&papers::page(&chapters, &command, None))?,
    }
    tell(format_args!("results: {}", shell_word(&out)));
    Ok(verdict)
}

/// Creates the folder for the pictures of the page `path`, named after the page.
fn folder_of_pictures(path: &Path) -> anyhow::Result<PathBuf> {
    let stem = path.file_stem().map_or_else(|| "papers".into(), |stem| stem.to_string_lossy());
    let folder = path.with_file_name(format!("{stem}-pictures"));
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| files::folder(&folder))
        .with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Writes the page to `path`, and its pictures to `folder` beside it.
fn write_page(
    path: &Path,
    folder: &Path,
    chapters: &[Chapter],
    command: &str,
) -> anyhow::Result<()> {
    let name = folder.file_name().map(|name| name.to_string_lossy());
    let failed = |path: &Path| format!("cannot write {}", path.display());
    fs::write(path, papers::page(chapters, command, name.as_deref()))
        .with_context(|| failed(path))?;
    chapters.iter().flat_map(Chapter::pictures).try_for_each(|picture| {
        let path = folder.join(format!("{}.svg", picture.name));
        let written =
            files::create(&path).and_then(|mut file| file.write_all(picture.svg.as_bytes()));
        written.with_context(|| failed(&path))
    })
}

fn has_quick_form(name: &str) -> bool {
    let quick = Override { key: "quick".to_owned(), value: true.to_string() };
    scenario::load(&Source::named(name), &[quick]).is_ok()
}

fn chapter(name: &str, quick: bool, finished: &Finished, found: Held) -> Chapter {
    let document = &finished.document;
    let (cells, runs) = (document.cells.len(), finished.plan.runs_in_words());
    let failed = document.cells.iter().filter(|cell| cell.failed > 0).map(|cell| {
        let names: Vec<String> = cell.factors.keys().cloned().collect();
        let (failed, all) = (cell.failed, cell.failed + cell.ran());
        format!("; {failed} of {all} runs of {} failed", cell.name(&names))
    });
    let failed: String = failed.collect();
    Chapter {
        name: name.to_owned(),
        command: format!("trackbed paper {name}{}", if quick { " --quick" } else { "" }),
        extent: format!("{cells} cells, {runs}, {} substrate{failed}", document.substrate),
        held: found,
    }
}

/// The comparison of the paper called `name` with its runs.
fn held(name: &str, finished: &Finished, quick: bool) -> anyhow::Result<Held> {
    let Finished { plan, document, .. } = finished;
    let held = finished.held(name)?;
    let held = match paper::quick(name).filter(|_| quick) {
        Some(reason) => held.map(|held| held.unjudged(&reason)),
        None => held,
    };
    let held = held.with_context(|| format!("the scenario {} has no paper", plan.name))?;
    Ok(with_single_runs(held, name, plan, document, &Cancel::default()))
}

/// Adds the study's figures of single runs, which are executed again; this requires virtual time. Runs that
/// `cancel` ends are left out.
pub fn with_single_runs(
    mut held: Held,
    name: &str,
    plan: &Plan,
    document: &Document,
    cancel: &Cancel,
) -> Held {
    if document.substrate == VIRTUAL {
        let again = |cell: usize, run| timeline::of(&plan.cells[cell], plan.seed, run, cancel);
        let of_runs =
            paper::over_time(name, document, |cell, run| Some(again(cell, run)?.timeline));
        held.charts.splice(..0, of_runs);
    }
    held
}
