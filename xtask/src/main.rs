//! The project's chores: `cargo xtask test` is the one command that tests a clone.
#![forbid(unsafe_code)]

mod agreement;
mod cargo;
mod ci;
mod dist;
mod docs;
mod files;
mod fuzz;
mod grid;
mod install;
mod judges;
mod ledger;
mod libtest;
mod pytest;
mod python;
mod steps;
mod tiers;
mod tools;
mod vendor;

use std::process::ExitCode;
use std::time::Instant;

use agreement::Extent;
use docs::Mode;
use install::Consent;
use ledger::Ledger;
use steps::Step;

const USAGE: &str = "Usage: cargo xtask CHORE

Chores:
  check             formatting, lints and unit tests; run it before each commit
  test              the basic test suite; needs only Rust, installs nothing, and lists the tests
                    that this machine cannot run
  test --thorough [--install] [PART ...]
                    tests that take long or need other programs; all of them, or only PART:
                    tests, docs, python, release, grids, agreement, swarm, dist, judges; asks before it
                    installs anything, unless --install is given
  ci                lints, test, then as many parts of the thorough tier as fit into 40 minutes
  swarm [RUNS]      random topologies, faults and protocols (default: 20000 runs)
  bench             all benchmarks; writes the figures to stdout
  kernel-agreement  regenerates crates/tcp/kernel-agreement.md: Trackbed's TCP against the kernel's
  agreement         regenerates docs/agreement.md: virtual compared with emulated; takes forty
                    minutes on an idle machine
  agreement rest    forty minutes more of it, or of an interrupted one, by the same program (target/agreement)
  agreement short   prints a few rows of the table
  reference         regenerates docs/reference.md and docs/schema from the registries
  docs              builds the documentation (target/book), checks its links, and executes its
                    commands (docs/SUMMARY.md lists its pages); TRACKBED names the program to
                    execute instead of the release build
  docs build        only builds the documentation and checks its links
  docs run [PAGE]   only executes the commands, of all pages or of those whose path contains PAGE
  docs bless [PAGE] writes the current output of commands into the pages
  judges            runs suites and stacks of others against Trackbed's and writes docs/judges.md;
                    `test --thorough --install judges` installs them before
  vendor            regenerates third_party: published crates, patched and trimmed
  vendor --check    checks that third_party is what `vendor` generates
  dist [--target TRIPLE ...] [--skip-build] [--strict]
                    builds and packs what users download (target/dist), for x86_64 and aarch64 or
                    for each TRIPLE; --skip-build packs the last build, --strict fails if a target
                    cannot be built here, --binary FILE packs FILE
  dist test         tests the contents of target/dist as users install them
  fuzz [SECONDS]    runs every fuzz target for SECONDS (default: 60)
                    and continues from what it found before (needs a C++ compiler)
  fuzz keep         adds what reached new code to the corpora in fuzz/corpus
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut ledger = Ledger::default();
    // Skips on a CI machine are not read. The test tiers decide for themselves.
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    ledger.strict = in_ci && words.first() == Some(&"docs");
    let done = match words.as_slice() {
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["ci"] => ci::run(&mut ledger),
        words => match chore(words) {
            Some(steps) => run(&steps, &mut ledger),
            None => {
                eprint!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    if ledger.has_entries() {
        eprintln!("{ledger}");
    }
    if words == ["test"] && done.is_ok() {
        eprintln!("{}", tiers::what_is_left(&ledger));
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("==> failed: {why}");
            ExitCode::from(1)
        }
    }
}

/// The steps of a chore; none if there is no such chore.
fn chore(words: &[&str]) -> Option<Vec<Step>> {
    let is_count = |text: &str| text.parse::<u64>().is_ok_and(|count| count > 0);
    Some(match words {
        ["check"] => tiers::check(),
        ["test"] => tiers::test(),
        ["test", "--thorough", "--install", parts @ ..] => tiers::thorough(Consent::Given, parts)?,
        ["test", "--thorough", parts @ ..] => tiers::thorough(Consent::Ask, parts)?,
        ["swarm"] => steps::swarm("20000"),
        ["swarm", runs] if is_count(runs) => steps::swarm(runs),
        ["bench"] => {
            vec![Step::cargo("bench --workspace --features trackbed-verifier/aws-lc")]
        }
        ["kernel-agreement"] => {
            vec![Step::cargo("run --release -p trackbed-tcp --example kernel_grid")]
        }
        ["agreement"] => steps::agreement(Extent::Full),
        ["agreement", "rest"] => steps::agreement(Extent::Rest),
        ["agreement", "short"] => steps::agreement(Extent::Short),
        ["reference"] => steps::reference(),
        ["docs"] => steps::docs(Mode::Check),
        ["docs", "build"] => steps::docs(Mode::Build),
        ["docs", "run"] => steps::docs(Mode::Execute(String::new())),
        ["docs", "run", page] => steps::docs(Mode::Execute((*page).to_owned())),
        ["docs", "bless"] => steps::docs(Mode::Bless(String::new())),
        ["docs", "bless", page] => steps::docs(Mode::Bless((*page).to_owned())),
        ["judges"] => steps::judges(),
        ["vendor"] => vec![steps::vendor(vendor::Mode::Write)],
        ["vendor", "--check"] => vec![steps::vendor(vendor::Mode::Check)],
        ["dist", "test"] => vec![dist::test_step()],
        ["dist", options @ ..] => vec![dist::step(dist::Options::parse(options)?)],
        ["fuzz"] => fuzz::steps(Some("60")),
        ["fuzz", "keep"] => fuzz::steps(None),
        ["fuzz", seconds] if is_count(seconds) => fuzz::steps(Some(seconds)),
        _ => return None,
    })
}

/// Runs the steps in order and stops at the first that fails.
fn run(steps: &[Step], ledger: &mut Ledger) -> Result<(), String> {
    for step in steps {
        eprintln!("==> {}", step.about);
        #[expect(clippy::disallowed_methods, reason = "reports how long a chore took")]
        let started = Instant::now();
        step.run(ledger).map_err(|why| format!("{}\n    {why}", step.about))?;
        eprintln!("==> done in {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}
