//! `trackbed figure`

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use clap::Args;
use trackbed_archive::{Recorded, Results as _};
use trackbed_lab::timeline;
use trackbed_measure::results::{RunResult, VIRTUAL};
use trackbed_report::figure::{Course, CourseRun, Figure, Kind, Subject, middle_run};
use trackbed_report::plot::{Font, POINTS_PER_MM, Paper};
use trackbed_substrate::Cancel;

use crate::ending::Ending;
use crate::options::{Names, one_of};
use crate::output::{self, shell_word, tell, write_whole};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/figure.txt"))]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Draw METRIC, with or without its unit [default: the metric that ranks cells; of a timeline, throughput]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Choose how it is drawn
    #[arg(long, default_value = "box", value_parser = one_of(KINDS))]
    pub kind: Drawn,
    /// Set the figure's width, in mm, cm, in or pt
    #[arg(long, value_name = "LENGTH", default_value = "88mm", value_parser = length)]
    pub width: f64,
    /// Set the size of all text, in mm, cm, in or pt
    #[arg(long, value_name = "LENGTH", default_value = "8pt", value_parser = length)]
    pub font_size: f64,
    /// Use FONT, a TrueType or OpenType file or the name of an installed family [default: a font like Arial]
    #[arg(long, value_name = "FONT")]
    pub font: Option<String>,
    /// Write the figure to FILE, as PDF, SVG or PNG (600 dpi) by its ending
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The kind of a figure; none is a timeline.
type Drawn = Option<Kind>;

const KINDS: &Names<Drawn> = &[
    ("box", "Quartiles of all samples, a row for each cell", Some(Kind::Box)),
    ("ecdf", "Distribution functions of all samples", Some(Kind::Ecdf)),
    (
        "line",
        "Medians (times) or means with intervals, along a factor that is a number",
        Some(Kind::Line),
    ),
    ("bar", "Medians (times) or means with intervals, a row for each cell", Some(Kind::Bar)),
    ("timeline", "A quantity over the time of one run of each cell (virtual time)", None),
];

/// Draws a figure of a run directory.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { width, font_size, out, .. } = arguments;
    let ending = out.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let ending = ending.filter(|ending| ["pdf", "svg", "png"].contains(&ending.as_str()));
    let Some(ending) = ending else {
        bail!("{}: give the file the ending .pdf, .svg or .png", out.display());
    };
    if width / font_size < LETTERS_MIN {
        bail!(
            "text of {font_size:.1} pt does not fit into a figure of {:.0} mm; give more --width or a \
             smaller --font-size",
            width / POINTS_PER_MM
        );
    }
    let font = arguments.font.as_deref().map_or_else(|| Ok(Font::bundled()), font)?;
    let Figure { plot, caption } = figure(arguments)?;
    let scene = plot.on(Paper { width: *width, size: *font_size, font: &font });
    let bytes = match ending.as_str() {
        "pdf" => scene.pdf(&font)?,
        "png" => scene.png(&font)?,
        _ => scene.svg(&font).into_bytes(),
    };
    write_whole(out, bytes)?;
    let height = scene.height() / POINTS_PER_MM;
    let width = width / POINTS_PER_MM;
    tell(format_args!("figure: {} ({width:.0} x {height:.0} mm)", shell_word(out)));
    output::print(&format!("{caption}\n"))?;
    Ok(Ending::Success)
}

fn figure(arguments: &Arguments) -> anyhow::Result<Figure> {
    let Arguments { directory, metric, kind, .. } = arguments;
    let (document, runs) = trackbed_analysis::open(directory)?;
    let of_cell = |cell: u32| -> anyhow::Result<Vec<RunResult>> {
        let mut of_cell = runs.of(cell)?.into_owned();
        let keeps_invalid = document.cells[cell as usize].invalid == 0;
        of_cell.retain(|run| run.run < document.runs && (keeps_invalid || !run.is_invalid()));
        Ok(of_cell)
    };
    let Some(kind) = *kind else {
        let course = Course::new(metric.as_deref())?;
        let subject = Subject::new(&document, None)?;
        let runs = courses(directory, &subject, document.substrate == VIRTUAL, of_cell)?;
        return Ok(course.draw(&subject, &runs)?);
    };
    let subject = Subject::new(&document, metric.as_deref())?;
    let mut samples = BTreeMap::new();
    // The others draw what the document has.
    let cells = subject.cells().filter(|_| matches!(kind, Kind::Box | Kind::Ecdf));
    for cell in cells {
        let of_cell = of_cell(cell)?;
        let of_metric =
            of_cell.iter().filter_map(|run| run.outcome.samples()?.get(subject.metric()));
        samples.insert(cell, of_metric.flatten().copied().collect());
    }
    Ok(subject.draw(kind, &samples)?)
}

/// Repeats the median run of each cell.
fn courses(
    directory: &Path,
    subject: &Subject<'_>,
    is_virtual: bool,
    of_cell: impl Fn(u32) -> anyhow::Result<Vec<RunResult>>,
) -> anyhow::Result<Vec<CourseRun>> {
    let cells: Vec<u32> = subject.cells().collect();
    if !is_virtual {
        bail!(
            "--kind timeline repeats runs, which works in virtual time only; draw box, ecdf, line or bar"
        );
    }
    if cells.len() > PANELS_MAX {
        bail!(
            "--kind timeline draws a panel for each cell, at most {PANELS_MAX}, and here are {}: run fewer \
             cells (--set, --part)",
            cells.len()
        );
    }
    let plan = Recorded::read(directory)?.plan;
    let mut seen = Vec::new();
    for cell in cells {
        let Some(run) = middle_run(&of_cell(cell)?, subject.metric()) else { continue };
        let found = timeline::of(&plan.cells[cell as usize], plan.seed, run, &Cancel::default());
        seen.extend(found.map(|found| CourseRun { cell, run, timeline: found.timeline }));
    }
    Ok(seen)
}

/// The font in a file, or of an installed family.
fn font(name: &str) -> anyhow::Result<Font> {
    let path = PathBuf::from(name);
    let path = if path.is_file() { path } else { installed(name)? };
    let data = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Font::new(data).with_context(|| format!("--font {}", path.display()))
}

/// The file of a family, by fontconfig. It falls back to another family, which is not what was asked for.
fn installed(family: &str) -> anyhow::Result<PathBuf> {
    let pattern = format!("{}:style=Regular", family.replace([':', ',', '-', '\\'], " "));
    let found = Command::new("fc-match").args(["--format=%{family}\n%{file}", &pattern]).output();
    let text = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let (families, file) = text.split_once('\n').unwrap_or_default();
    if families.split(',').any(|known| known.eq_ignore_ascii_case(family)) {
        return Ok(PathBuf::from(file));
    }
    bail!(
        "--font {family}: there is no such file, and fontconfig (fc-match) knows no such family; give the path \
         of a .ttf or .otf file"
    )
}

/// A length in points.
fn length(text: &str) -> Result<f64, String> {
    let units = [("mm", POINTS_PER_MM), ("cm", 10.0 * POINTS_PER_MM), ("in", 72.0), ("pt", 1.0)];
    let parsed = units.iter().find_map(|(unit, points)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * points)
    });
    let fitting = parsed.filter(|points| (3.0..=LENGTH_MAX).contains(points));
    fitting.ok_or_else(|| "write a number and mm, cm, in or pt, for example 88mm or 8pt".to_owned())
}

/// A metre.
const LENGTH_MAX: f64 = 1e3 * POINTS_PER_MM;

/// The least width of a figure, in font sizes.
const LETTERS_MIN: f64 = 16.0;

/// Timelines of one figure.
const PANELS_MAX: usize = 12;
