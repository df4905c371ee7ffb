//! The artefacts of a release, in `target/dist`: for each target a tarball, a package for Debian, a
//! wheel, an image for containers and a bill of materials; and the checksums of all. Packing
//! the same program gives the same bytes.

mod artefacts;
mod contents;
mod crates;
mod installed;
mod pack;
mod target;
mod wheel;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use artefacts::Artefact;
use contents::{Contents, Pages};
use crates::Crates;
use target::{Missing, Target};

use crate::cargo::{self, said};
use crate::files::{fresh, told, write};
use crate::steps::Step;

/// What the command line of `cargo xtask dist` asks for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// None: those of a release.
    targets: Vec<String>,
    /// Pack what an earlier call has built.
    skip_build: bool,
    /// Fail if a target cannot be built.
    strict: bool,
    /// Pack this program, of the only target.
    binary: Option<PathBuf>,
}

impl Options {
    /// None if there is no such option.
    pub fn parse(words: &[&str]) -> Option<Options> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--target" => options.targets.push((*words.next()?).to_owned()),
                "--skip-build" => options.skip_build = true,
                "--strict" => options.strict = true,
                "--binary" => options.binary = Some(PathBuf::from(words.next()?)),
                _ => return None,
            }
        }
        (options.binary.is_none() || options.targets.len() == 1).then_some(options)
    }
}

/// Makes the artefacts of a release.
pub fn step(options: Options) -> Step {
    Step::new("the artefacts of a release", move |_| run(&options))
}

/// Tests them as users install them.
pub fn test_step() -> Step {
    Step::new("the artefacts of a release, as installed", installed::run)
}

/// Builds and packs. Fails if a build or a file fails, no target can be built, or one of several
/// with `--strict`.
fn run(options: &Options) -> Result<(), String> {
    let root = root();
    let time = time(root)?;
    let (programs, missing) = programs(options, root)?;
    if programs.is_empty() {
        return report(&missing, true);
    }
    let folder = folder();
    fresh(&folder)?;
    let date = said("date", &["--utc", "--date", &format!("@{time}"), "+%FT%TZ"]);
    // The pages are the same on every processor. One that this machine has is faster.
    let at_work = root.join("target/dist-work");
    let writer = programs.iter().find(|(target, _)| target.is_native()).or(programs.first());
    let (target, program) = writer.expect("there are programs");
    let pages = Pages::write(target, program, &at_work)?;
    let mut sums = Vec::new();
    for (target, program) in &programs {
        let crates = Crates::of(target, root)?;
        eprintln!("    {}: {} crates", target.0, crates.len());
        let contents = Contents {
            target,
            version: VERSION,
            time,
            date: date.trim(),
            root,
            program: fs::read(program).map_err(told(program.display()))?,
            pages: &pages,
            third_party: crates.licences(target, root)?,
            crates,
        };
        for (name, bytes) in pack(&contents)? {
            let path = folder.join(&name);
            write(&path, &bytes)?;
            eprintln!("    {:6.2} MB  {}", bytes.len() as f64 / 1e6, path.display());
            sums.push(format!("{}  {name}\n", pack::sha256(&bytes)));
        }
    }
    write(folder.join("SHA256SUMS"), sums.concat())?;
    report(&missing, options.strict)
}

/// Names what could not be built, which may be an error.
fn report(missing: &[Missing], is_error: bool) -> Result<(), String> {
    for Missing { target, why, remedy } in missing {
        eprintln!("    not built: {target}: {why} (run: {remedy})");
    }
    let names: Vec<&str> = missing.iter().map(|missing| missing.target.as_str()).collect();
    if is_error && !names.is_empty() {
        Err(format!("not built: {}", names.join(", ")))
    } else {
        Ok(())
    }
}

type Programs = Vec<(Target, PathBuf)>;

/// Builds the programs, and returns their paths, and what could not be built.
fn programs(options: &Options, root: &Path) -> Result<(Programs, Vec<Missing>), String> {
    if let (Some(binary), [target]) = (&options.binary, options.targets.as_slice()) {
        return Ok((vec![(Target(target.clone()), binary.clone())], Vec::new()));
    }
    let built = root.join(cargo::target());
    let program = |target: &Target| built.join(&target.0).join("release/trackbed");
    // To pack what is built takes neither the target's standard library nor a compiler.
    let not_built = |target: &Target| {
        (!program(target).exists()).then(|| Missing {
            why: format!("there is no {}", program(target).display()),
            remedy: format!("cargo xtask dist --target {}", target.0),
            target: target.0.clone(),
        })
    };
    let (targets, missing) = match options.skip_build {
        true => target::available(&options.targets, not_built),
        false => target::available(&options.targets, Target::obstacle),
    };
    let mut programs = Vec::new();
    for target in targets {
        if !options.skip_build {
            target.build(root)?;
        }
        let path = program(&target);
        programs.push((target, path));
    }
    Ok((programs, missing))
}

fn pack(contents: &Contents) -> Result<[Artefact; 5], String> {
    let bill = contents.crates.bill(VERSION, contents.date);
    let bill = serde_json::to_vec_pretty(&bill).map_err(told("the bill"))?;
    Ok([
        artefacts::tarball(contents)?,
        artefacts::debian(contents)?,
        wheel::wheel(contents)?,
        artefacts::image(contents)?,
        (format!("trackbed-{VERSION}-{}.cdx.json", contents.platform()), bill),
    ])
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn folder() -> PathBuf {
    root().join("target/dist")
}

/// When the commit was made, or what `SOURCE_DATE_EPOCH` says.
fn time(root: &Path) -> Result<u64, String> {
    let given = env::var("SOURCE_DATE_EPOCH").ok();
    let root = root.display().to_string();
    let text = given.unwrap_or_else(|| said("git", &["-C", &root, "log", "-1", "--format=%ct"]));
    text.trim().parse().map_err(|_| {
        format!(
            "\"{}\" is no time of a commit: set SOURCE_DATE_EPOCH to seconds since 1970",
            text.trim()
        )
    })
}
