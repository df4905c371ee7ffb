//! Tests in tiers: a check of one minute, the basic test suite, and tests that need other programs
//! and hours.

use std::path::Path;

use crate::agreement::Extent;
use crate::docs::Mode;
use crate::install::{self, Consent};
use crate::ledger::Ledger;
use crate::steps::{self, CHECKED, FEATURES, Step};
use crate::{dist, fuzz, grid, pytest, vendor};

/// Before each commit: formatting, lints and unit tests.
pub fn check() -> Vec<Step> {
    let tests = format!("--profile {CHECKED} --workspace --lib --bins");
    lints().into_iter().chain([Step::tests(&tests)]).collect()
}

/// Formatting, and the lints of the code and of its documentation.
pub fn lints() -> Vec<Step> {
    let clippy =
        format!("clippy --profile {CHECKED} --workspace --all-targets {FEATURES} -- -D warnings");
    let doc = format!("doc --profile {CHECKED} --workspace {FEATURES} --no-deps");
    vec![
        Step::cargo("fmt --all --check"),
        Step::cargo(&clippy),
        Step::cargo_with(vec![("RUSTDOCFLAGS", "-D warnings".to_owned())], &doc),
    ]
}

/// The basic test suite: needs only Rust, and installs nothing.
pub fn test() -> Vec<Step> {
    vec![
        Step::tests(&format!("--profile {CHECKED} --workspace --lib --bins --tests")),
        steps::documentation(Mode::Execute("tutorial".to_owned()), CHECKED),
    ]
}

/// What [`test()`] does not run, and how to run it.
pub fn what_is_left(ledger: &Ledger) -> String {
    let parts: String =
        parts().iter().map(|part| format!("\n    {:<9}  {}", part.name, part.about)).collect();
    format!(
        "Not run: {} slow tests, and these parts of `cargo xtask test --thorough [PART ...]`:{parts}",
        ledger.ignored
    )
}

/// The parts of the thorough tier that are named, or all; none if there is no such part.
pub fn thorough(consent: Consent, names: &[&str]) -> Option<Vec<Step>> {
    let named = |name: &&str| parts().into_iter().find(|part| part.name == *name);
    let parts: Vec<Part> = match names {
        [] => parts(),
        names => names.iter().map(named).collect::<Option<_>>()?,
    };
    let install = parts.iter().any(|part| part.uses_programs).then(|| {
        let about = "programs and packages that some tests use";
        Step::new(about, move |ledger| install::provide(consent, ledger))
    });
    Some(install.into_iter().chain(parts.iter().flat_map(Part::steps)).collect())
}

/// A part of the thorough tier.
pub struct Part {
    pub name: &'static str,
    /// What it tests beyond [`test()`].
    pub about: &'static str,
    /// Its maximum duration on two cores, including builds.
    pub minutes: u64,
    /// The folders it covers most closely: a change there gives it priority.
    pub watches: Vec<&'static str>,
    /// Whether it uses what [`install::provide`] installs.
    uses_programs: bool,
}

/// The thorough tier: a line each of `tiers.txt`.
pub fn parts() -> Vec<Part> {
    include_str!("tiers.txt").lines().filter_map(part).collect()
}

fn part(line: &'static str) -> Option<Part> {
    let mut fields = line.split(" | ");
    Some(Part {
        name: fields.next()?,
        minutes: fields.next()?.parse().ok()?,
        uses_programs: !fields.next()?.is_empty(),
        watches: fields.next()?.split(", ").collect(),
        about: fields.next()?,
    })
}

impl Part {
    fn steps(&self) -> Vec<Step> {
        match self.name {
            "tests" => {
                let words = "--lib --bins --tests -- --include-ignored";
                vec![Step::tests(&format!("--profile {CHECKED} --workspace {FEATURES} {words}"))]
            }
            "docs" => vec![
                Step::tests(&format!("--profile {CHECKED} --workspace --doc")),
                Step::cargo(steps::RELEASED),
                steps::documentation(Mode::Check, "release"),
            ],
            "python" => {
                let build = format!("build --profile {CHECKED} --bin trackbed");
                let program = format!("target/{CHECKED}/trackbed");
                let tests = move |ledger: &mut Ledger| pytest::run(Path::new(&program), ledger);
                vec![Step::cargo(&build), Step::new("the tests of the Python package", tests)]
            }
            "release" => {
                let results = "--release -p trackbed-tests -p trackbed-tcp --lib --tests";
                vec![steps::vendor(vendor::Mode::Check), Step::tests(results)]
            }
            "grids" => {
                let about = "the TCP engine against the kernel's recorded times";
                vec![Step::new(about, |_| grid::run())]
            }
            "agreement" => steps::agreement(Extent::Short),
            "swarm" => steps::swarm("20000"),
            "fuzz" => fuzz::steps(Some("15")),
            "judges" => steps::judges(),
            "licences" => steps::deny(),
            _ => vec![dist::step(dist::Options::default()), dist::test_step()],
        }
    }
}
