//! The project's chores: `cargo xtask test` is the one command that tests everything.
#![forbid(unsafe_code)]

mod agreement;
mod cargo;
mod docs;
mod python;
mod steps;
mod tools;
mod vendor;

use std::process::ExitCode;
use std::time::Instant;

use agreement::Extent;
use docs::Mode;
use steps::Step;

const USAGE: &str = "\
Usage: cargo xtask CHORE

Chores:
  test              everything that must hold before a change lands; needs nothing but Rust
  swarm [RUNS]      random topologies, faults and protocols, 20000 runs unless said otherwise
  bench             all benchmarks, figures on stdout
  kernel-agreement  regenerates crates/tcp/kernel-agreement.md: our TCP against the kernel's
  agreement         regenerates docs/agreement.md: virtual against emulated, half an hour on an
                    idle machine
  agreement rest    goes on with one that was cut short, with the same build (target/agreement)
  agreement short   prints a few rows of it
  reference         regenerates docs/reference.md and docs/schema from the registries
  docs              builds the documentation (target/book), checks its links, and executes its
                    commands (docs/SUMMARY.md lists its pages); TRACKBED names another program
                    to execute than the release build
  docs build        the first two
  docs run [PAGE]   the last, of all pages or of those whose path contains this
  docs bless [PAGE] writes what commands say into the pages
  vendor            makes third_party anew: published crates, patched and trimmed
  vendor --check    proves that third_party is what `vendor` makes
  fuzz [SECONDS]    runs every fuzz target for that long, 60 s unless said otherwise
                    (needs nightly Rust and `cargo install cargo-fuzz`)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let steps = match words.as_slice() {
        ["test"] => steps::test(),
        ["swarm"] => steps::swarm("20000"),
        ["swarm", runs] if runs.parse::<u64>().is_ok_and(|runs| runs > 0) => steps::swarm(runs),
        ["bench"] => steps::bench(),
        ["kernel-agreement"] => steps::kernel_agreement(),
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
        ["vendor"] => steps::vendor(vendor::Mode::Write),
        ["vendor", "--check"] => steps::vendor(vendor::Mode::Check),
        ["fuzz"] => steps::fuzz("60"),
        ["fuzz", seconds] if seconds.parse::<u64>().is_ok_and(|s| s > 0) => steps::fuzz(seconds),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(&steps)
}

/// Runs the steps in order and stops at the first that fails.
fn run(steps: &[Step]) -> ExitCode {
    for step in steps {
        eprintln!("==> {step}");
        #[expect(clippy::disallowed_methods, reason = "tells the user how long a chore took")]
        let started = Instant::now();
        if let Err(why) = step.run() {
            eprintln!("==> failed: {step}\n    {why}");
            return ExitCode::from(1);
        }
        eprintln!("==> done in {:.0} s", started.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}
