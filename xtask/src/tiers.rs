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
        PARTS.iter().map(|part| format!("\n    {:<9}  {}", part.name, part.about)).collect();
    format!(
        "Not run: {} slow tests, and these parts of `cargo xtask test --thorough [PART ...]`:{parts}",
        ledger.ignored
    )
}

/// The parts of the thorough tier that are named, or all; none if there is no such part.
pub fn thorough(consent: Consent, names: &[&str]) -> Option<Vec<Step>> {
    let named = |name: &&str| PARTS.iter().find(|part| part.name == *name);
    let parts: Option<Vec<&Part>> = match names {
        [] => Some(PARTS.iter().collect()),
        names => names.iter().map(named).collect(),
    };
    let parts = parts?;
    let install = parts.iter().any(|part| part.uses_programs).then(|| {
        let about = "programs and packages that some tests use";
        Step::new(about, move |ledger| install::provide(consent, ledger))
    });
    Some(install.into_iter().chain(parts.iter().flat_map(|part| (part.steps)())).collect())
}

/// A part of the thorough tier.
pub struct Part {
    pub name: &'static str,
    /// What it tests beyond [`test()`].
    pub about: &'static str,
    /// Its maximum duration on two cores, including builds.
    pub minutes: u64,
    /// The folders it covers most closely: a change there gives it priority.
    pub watches: &'static [&'static str],
    /// Whether it uses what [`install::provide`] installs.
    uses_programs: bool,
    steps: fn() -> Vec<Step>,
}

/// The thorough tier.
pub const PARTS: [Part; 11] = [
    Part {
        name: "tests",
        about: "every test: real time, third-party programs, browsers, Python, Slurm",
        minutes: 30,
        watches: &[
            "crates/trackbed",
            "crates/programs",
            "crates/emulator",
            "crates/report",
            "tests",
        ],
        uses_programs: true,
        steps: || {
            let words = "--lib --bins --tests -- --include-ignored";
            vec![Step::tests(&format!("--profile {CHECKED} --workspace {FEATURES} {words}"))]
        },
    },
    Part {
        name: "docs",
        about: "the book, its links and all its commands; the examples in the code's documentation",
        minutes: 20,
        watches: &["docs", "README.md", "xtask/src/docs", "scenarios", "crates/test"],
        uses_programs: true,
        steps: || {
            vec![
                Step::tests(&format!("--profile {CHECKED} --workspace --doc")),
                Step::cargo(steps::RELEASED),
                steps::documentation(Mode::Check, "release"),
            ]
        },
    },
    Part {
        name: "python",
        about: "the Python package with its types, its page and the notebooks",
        minutes: 8,
        watches: &["python", "examples", "crates/archive"],
        uses_programs: true,
        steps: || {
            let build = format!("build --profile {CHECKED} --bin trackbed");
            let program = format!("target/{CHECKED}/trackbed");
            let tests = move |ledger: &mut Ledger| pytest::run(Path::new(&program), ledger);
            vec![Step::cargo(&build), Step::new("the tests of the Python package", tests)]
        },
    },
    Part {
        name: "release",
        about: "digests of results in a release build, long versions of tests, engines compared with \
             their published crates",
        minutes: 25,
        watches: &["Cargo.toml", "Cargo.lock", "third_party", "crates/net", "crates/substrate"],
        uses_programs: false,
        steps: || {
            let results = Step::tests("--release -p trackbed-tests -p trackbed-tcp --lib --tests");
            vec![steps::vendor(vendor::Mode::Check), results]
        },
    },
    Part {
        name: "grids",
        about: "the table of the TCP engine against the kernel, recomputed",
        minutes: 8,
        watches: &["crates/tcp"],
        uses_programs: false,
        steps: || {
            let about = "the TCP engine against the kernel's recorded times";
            vec![Step::new(about, |_| grid::run())]
        },
    },
    Part {
        name: "agreement",
        about: "the virtual against the emulated substrate, on a few paths",
        minutes: 15,
        watches: &["crates/lab", "crates/emulator"],
        uses_programs: false,
        steps: || steps::agreement(Extent::Short),
    },
    Part {
        name: "swarm",
        about: "20,000 random topologies, faults and protocols",
        minutes: 25,
        watches: &["crates/protocols", "crates/workloads", "tests/tests/virtual_time/swarm"],
        uses_programs: false,
        steps: || steps::swarm("20000"),
    },
    Part {
        name: "fuzz",
        about: "every parser and state machine that takes foreign bytes, 15 s of fuzzing each",
        minutes: 14,
        watches: &["fuzz", "crates/v2x", "crates/mqtt", "crates/scenario", "crates/railway"],
        uses_programs: false,
        steps: || fuzz::steps(Some("15")),
    },
    Part {
        name: "judges",
        about: "suites and stacks of others: h2spec, aioquic, ngtcp2, quic-go, s2n-quic, quiche",
        minutes: 10,
        watches: &["crates/protocols", "contrib/stacks", "contrib/judges"],
        uses_programs: true,
        steps: steps::judges,
    },
    Part {
        name: "licences",
        about: "licences, sources and known vulnerabilities of all dependencies, with cargo-deny",
        minutes: 8,
        watches: &["Cargo.toml", "Cargo.lock", "deny.toml"],
        uses_programs: false,
        steps: steps::deny,
    },
    Part {
        name: "dist",
        about: "the artefacts of a release for this machine, as installed",
        minutes: 25,
        watches: &["xtask/src/dist", "contrib", "python"],
        uses_programs: false,
        steps: || vec![dist::step(dist::Options::default()), dist::test_step()],
    },
];
