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

const USAGE: &str = include_str!("usage.txt");

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
        ["docs", "bless"] => steps::docs(Mode::Bless),
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
