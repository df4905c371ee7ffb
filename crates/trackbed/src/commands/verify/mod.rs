//! `trackbed verify`: measures signature verification on this machine as the study of 2018 did.

mod cell;
mod cores;
mod document;
mod library;
mod meter;
mod signed;
mod study;
mod tables;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use trackbed_device::monitor::{busiest_since, times};
use trackbed_measure::results::SCHEMA;
use trackbed_verifier::cache::Policy;
use trackbed_verifier::engine::{Split, monotonic_nanos};
use trackbed_verifier::{Path, Verifier};

use crate::ending::Ending;
use crate::options::{Names, count, jobs, one_of};
use crate::output::{answer, shell_word, tell, tell_error};
use crate::progress;
use cell::{Outcome, Setting};
use cores::Cores;
pub use document::VerifyDocument;
use document::{BatchDocument, CellDocument, LibraryDocument};
use library::{BATCH, Library, LibraryName};
use meter::Meter;
use signed::Workload;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/verify.txt"))]
pub struct Arguments {
    /// Measure the libraries NAME, separated by commas [default: all available ones]
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    pub library: Vec<LibraryName>,
    /// Measure with N threads; several numbers are separated by commas, and one thread is always measured
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,4,8,16",
          value_parser = jobs, allow_negative_numbers = true)]
    pub threads: Vec<u32>,
    /// Choose how threads share the work, separated by commas
    #[arg(long, value_parser = one_of(DIVISIONS), value_name = "NAME", value_delimiter = ',',
          default_value = "static,dynamic")]
    pub division: Vec<Split>,
    /// Verify N signatures in each measurement; the study used 100000 [default: enough for --seconds]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub count: Option<u32>,
    /// Measure for about N seconds each
    #[arg(long, value_name = "N", default_value = "1", value_parser = count,
          allow_negative_numbers = true, conflicts_with = "count")]
    pub seconds: u32,
    /// Slow down the last N cores with busy threads, and pin each thread to a core (Linux); threads use the
    /// other cores first
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub slow_cores: Option<u32>,
    /// Make these cores TIMES times slower
    #[arg(long, value_name = "TIMES", default_value = "2", requires = "slow_cores",
          value_parser = clap::value_parser!(u32).range(2..=16))]
    pub slowdown: u32,
    /// Sign with N keys
    #[arg(long, value_name = "N", default_value = "320",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub keys: u32,
    /// Let a thread take N signatures at once [default: 32, on a GPU 262144]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub batch: Option<u32>,
    /// Choose what `trackbed` verifies with; several names are separated by commas [default: the fastest that this
    /// CPU supports]
    #[arg(long, value_parser = one_of(BACKENDS), value_name = "NAME", alias = "path", value_delimiter = ',')]
    pub backend: Vec<Path>,
    /// Use at most MB megabytes for tables of keys
    #[arg(long, value_name = "MB", default_value = "64")]
    pub memory: usize,
    /// Load libcrypto from FILE instead of the system's
    #[arg(long, value_name = "FILE")]
    pub openssl: Option<PathBuf>,
    /// Draw the time of a verdict by the size of its batch, and write the figure as SVG to FILE
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// What Trackbed's verifier uses.
const BACKENDS: &Names<Path> = &[
    ("portable", "Runs on every CPU", Path::Portable),
    ("ifma", "AVX-512 IFMA, eight signatures at a time", Path::Ifma),
    ("neon", "NEON, eight signatures at a time; never the default", Path::Neon),
    ("gpu", "An NVIDIA GPU; without one, the CPU verifies", Path::Gpu),
];

/// Divisions of the work. The first one is that of the first table.
const DIVISIONS: &Names<Split> = &[
    ("dynamic", "Each free thread takes the next batch", Split::Dynamic),
    ("static", "Equal shares fixed in advance, as with OpenMP's default", Split::Static),
];

/// The maximum number of keys of all threads together.
const CONTEXTS_MAX: usize = 1_000_000;
/// The sizes of batches by which the time of a verdict is measured.
const BATCHES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The minimum duration of the first measurement, which only sizes the others.
const SIZING_NANOS: u64 = 50_000_000;

/// Measures and prints the results.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let cores = match arguments.slow_cores {
        Some(slow) => Cores::unequal(slow as usize, arguments.slowdown as usize)?,
        None => Cores::equal(),
    };
    let workload = Workload::new(arguments.keys as usize)?;
    let paths = paths(arguments)?;
    let libraries = libraries(arguments, &paths, &workload)?;
    let plan = plan(arguments);
    // With OpenSSL, each thread has a context of 0.6 kB for each key.
    let contexts = workload.keys.len() * plan.last().map_or(1, |(threads, _)| *threads);
    anyhow::ensure!(
        contexts <= CONTEXTS_MAX,
        "--keys times --threads is {contexts}; the maximum is {CONTEXTS_MAX}"
    );
    let bar = progress::bar((libraries.len() * plan.len()) as u64, 0);
    let (mut cells, mut measured) = (Vec::new(), Vec::new());
    let before = times();
    for library in &libraries {
        let (own, batches) = measure(arguments, library, &workload, &cores, &plan, || bar.inc(1))?;
        cells.extend(own);
        let Library { title, version, table_us, .. } = library;
        let (library, version) = (title.clone(), version.clone());
        measured.push(LibraryDocument { library, version, table_us: *table_us, batches });
    }
    bar.finish_and_clear();
    // With a GPU, the cores wait.
    let is_on_gpu = libraries.iter().any(Library::is_on_gpu);
    let disturbed_percent = document::disturbance(&cells).filter(|_| !is_on_gpu);
    let document = VerifyDocument {
        schema: SCHEMA,
        trackbed: env!("CARGO_PKG_VERSION").to_owned(),
        cores: cores.count(),
        slow_cores: arguments.slow_cores.unwrap_or(0) as usize,
        slowdown: if cores.are_unequal() { arguments.slowdown as usize } else { 1 },
        keys: workload.keys.len(),
        batch: arguments.batch.map_or(BATCH, |batch| batch as usize),
        libraries: measured,
        cells,
        disturbed_percent,
        disturbed_by: disturbed_percent.and_then(|_| busiest_since(&before)),
        study: document::study(),
    };
    if let Some(file) = &arguments.svg {
        let point = |it: &BatchDocument| [it.batch as f64, it.batch_us / 1e3];
        let curves = document.libraries.iter().filter(|it| !it.batches.is_empty());
        let curves = curves.map(|it| (&*it.library, it.batches.iter().map(point).collect()));
        let picture = trackbed_report::batches::svg(&curves.collect::<Vec<_>>());
        std::fs::write(file, picture)
            .with_context(|| format!("--svg {}: cannot write the figure", file.display()))?;
        tell(format_args!("picture: {}", shell_word(file)));
    }
    answer(arguments.json, &document, || tables::text(&document))?;
    Ok(judge(&document))
}

/// The measurements of each library, first the single thread that the others are compared with.
fn plan(arguments: &Arguments) -> Vec<(usize, Split)> {
    let threads = arguments.threads.iter().map(|count| *count as usize);
    let threads: BTreeSet<usize> = threads.chain([1]).collect();
    let chosen = DIVISIONS.iter().map(|(.., split)| *split);
    let divisions: Vec<Split> = chosen.filter(|split| arguments.division.contains(split)).collect();
    let cells = threads.into_iter().flat_map(|threads| {
        // For one thread there is nothing to divide.
        let several = if threads == 1 { 1 } else { divisions.len() };
        divisions.iter().take(several).map(move |split| (threads, *split))
    });
    cells.collect()
}

/// The paths that were chosen, and the size of a GPU's batches. Without a GPU, the CPU verifies.
fn paths(arguments: &Arguments) -> anyhow::Result<Vec<(Path, usize)>> {
    let mut paths: Vec<(Path, usize)> = Vec::new();
    let fastest = [Path::fastest()];
    for &path in if arguments.backend.is_empty() { &fastest } else { &arguments.backend[..] } {
        let (path, batch) = match Verifier::with_path(path) {
            Ok(verifier) if path == Path::Gpu => (path, verifier.preferred_batch()),
            Ok(_) => (path, BATCH),
            Err(why) if path == Path::Gpu => {
                let other = Path::fastest();
                tell(format!("note: --backend gpu: {why}; the CPU verifies ({})", other.name()));
                (other, BATCH)
            }
            Err(why) => anyhow::bail!("--backend {}: {why}; use --backend portable", path.name()),
        };
        if paths.iter().all(|(known, _)| *known != path) {
            paths.push((path, batch));
        }
    }
    Ok(paths)
}

fn libraries(
    arguments: &Arguments,
    paths: &[(Path, usize)],
    workload: &Workload,
) -> anyhow::Result<Vec<Library>> {
    let tables = Policy::Lru { bytes: arguments.memory.saturating_mul(1_000_000), after: 1 };
    let ours = |name, policy| {
        let each = paths.iter().enumerate();
        let each = each.map(|(number, (path, batch))| {
            let mut library = Library::trackbed(name, *path, policy, workload);
            library.batch = *batch;
            // The first one has the library's name alone.
            if number > 0 {
                library.title = format!("{}-{}", library.title, path.name());
            }
            library
        });
        each.collect::<Vec<_>>()
    };
    let of_name = |name: LibraryName| match name {
        LibraryName::Trackbed => Ok(ours(name, tables)),
        LibraryName::TrackbedNewKeys => Ok(ours(name, Policy::None)),
        LibraryName::Openssl => {
            let file = arguments.openssl.as_ref().map(|file| file.as_os_str());
            Library::openssl(file, workload).map(|one| vec![one])
        }
        LibraryName::AwsLc => Library::aws_lc(workload).map(|one| vec![one]),
    };
    let named = &arguments.library;
    let found: anyhow::Result<Vec<Vec<Library>>> = if named.is_empty() {
        let all = LibraryName::value_variants().iter().copied();
        let built = all.filter(|name| *name != LibraryName::AwsLc || cfg!(feature = "aws-lc"));
        let found = built.filter_map(|name| match of_name(name) {
            // A file that the user named must work.
            Err(why) if arguments.openssl.is_none() => {
                tell(format!("note: not measured: {}: {:#}", name.text(), why));
                None
            }
            other => Some(other),
        });
        found.collect()
    } else {
        let once = (0..named.len()).filter(|at| !named[..*at].contains(&named[*at]));
        once.map(|at| of_name(named[at])).collect()
    };
    Ok(found?.into_iter().flatten().collect())
}

/// Makes the planned measurements. The first one, on one thread, determines how much fits into the time.
fn measure(
    arguments: &Arguments,
    library: &Library,
    workload: &Workload,
    cores: &Cores,
    plan: &[(usize, Split)],
    done: impl Fn(),
) -> anyhow::Result<(Vec<CellDocument>, Vec<BatchDocument>)> {
    let batch = arguments.batch.map_or(library.batch, |batch| batch as usize);
    let of_batch = |batch, threads, split, count| {
        let setting = Setting { cores, threads, split, batch };
        cell::measure(setting, count, || library.worker(workload, batch))
    };
    let run = |threads, split, count| of_batch(batch, threads, split, count);
    let rate = |outcome: &Outcome| outcome.verified as f64 * 1e9 / outcome.wall_nanos as f64;
    let mut sizing = run(1, Split::Static, batch)?;
    while arguments.count.is_none() && sizing.wall_nanos < SIZING_NANOS {
        sizing = run(1, Split::Static, sizing.verified.saturating_mul(4))?;
    }
    let mut meter = Meter::new(std::path::Path::new("/"));
    let mut one_thread = None;
    let mut cells = Vec::new();
    for &(threads, split) in plan {
        let in_time =
            || rate(&sizing) * cores.expected(threads, split) * f64::from(arguments.seconds);
        let count = arguments.count.map_or_else(|| in_time() as usize, |count| count as usize);
        meter.watts(library.is_on_gpu(), monotonic_nanos());
        let outcome = run(threads, split, count.max(1))?;
        let watts = meter.watts(library.is_on_gpu(), monotonic_nanos());
        // Other programs may use the core meanwhile, which would make several threads look better than they are.
        let of_core = || match library.is_on_gpu() {
            true => rate(&outcome),
            false => outcome.verified as f64 * 1e9 / outcome.cpu_nanos.max(1) as f64,
        };
        let one_thread = *one_thread.get_or_insert_with(of_core);
        let name = library.title.clone();
        let cell = CellDocument::new(name, (threads, split), outcome, one_thread, cores);
        let energy = watts.map(|watts| watts * cell.rate.us_per_verification);
        cells.push(CellDocument { energy_uj_per_verification: energy, ..cell });
        done();
    }
    let mut batches = Vec::new();
    for size in BATCHES.iter().filter(|_| library.has_batches()) {
        let in_time = rate(&sizing) * SIZING_NANOS as f64 / 1e9;
        let count = arguments.count.map_or(in_time as usize, |count| count as usize);
        let outcome = of_batch(*size, 1, Split::Dynamic, count.next_multiple_of(*size))?;
        batches.push(BatchDocument::new(*size, outcome));
    }
    Ok((cells, batches))
}

/// Whether all verdicts were right.
fn judge(document: &VerifyDocument) -> Ending {
    let mut ending = Ending::Success;
    for cell in document.cells.iter().filter(|cell| cell.wrong > 0) {
        ending = Ending::CheckFailed;
        tell_error(format!(
            "error: {} of {} verdicts were wrong: {}, {} threads, {} division",
            cell.wrong, cell.verified, cell.library, cell.threads, cell.division
        ));
    }
    ending
}
