//! The steps that chores consist of.

use std::fmt;
use std::path::PathBuf;

use crate::agreement::{self, Extent};
use crate::cargo::cargo;
use crate::docs::{self, Mode};
use crate::ledger::Ledger;
use crate::{dist, grid, install, libtest, pytest, python, vendor};

/// The profile of tests and of the program that they start.
pub const CHECKED: &str = "checked";

/// One command, or one piece of preparation.
pub enum Step {
    /// `cargo` with these words and environment variables.
    Cargo(Vec<String>, Vec<(String, String)>),
    /// `cargo test` with these words and environment variables, its tests and skips counted.
    Tests(Vec<String>, Vec<(String, String)>),
    /// Installs what some tests use.
    Install(install::Consent),
    /// The tests of the Python package, with the program of this profile.
    Pytest(&'static str),
    /// Compares the substrates.
    Agreement(Extent),
    /// Compares the TCP engine with the kernel's recorded times.
    Grid,
    /// Builds the documentation, or executes its commands, with the program of this profile.
    Docs(Mode, &'static str),
    /// Makes the artefacts of a release.
    Dist(dist::Options),
    /// Tests them as installed.
    DistTest,
    /// Makes or checks the engines in `third_party`.
    Vendor(vendor::Mode),
}

impl Step {
    /// `cargo` with these words.
    pub fn cargo(words: &str) -> Step {
        Step::Cargo(split(words), Vec::new())
    }

    /// `cargo test` with these words: those before ` -- ` for Cargo, those after it for the tests.
    pub fn tests(words: &str) -> Step {
        Step::Tests(split(words), Vec::new())
    }

    /// The same step with an environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Step {
        if let Step::Cargo(_, variables) | Step::Tests(_, variables) = &mut self {
            variables.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Does it.
    pub fn run(&self, ledger: &mut Ledger) -> Result<(), String> {
        match self {
            Step::Install(consent) => install::provide(*consent, ledger),
            Step::Pytest(profile) => {
                pytest::run(&PathBuf::from(format!("target/{profile}/trackbed")), ledger)
            }
            Step::Agreement(extent) => agreement::run(*extent, ledger),
            Step::Grid => grid::run(),
            Step::Vendor(mode) => vendor::run(*mode),
            Step::Dist(options) => dist::run(options),
            Step::DistTest => dist::test(ledger),
            Step::Docs(mode, profile) => {
                let built = PathBuf::from(format!("target/{profile}/trackbed"));
                docs::run(mode, &built, ledger)
            }
            Step::Tests(words, variables) => {
                let (words, of_tests) = match words.iter().position(|word| word == "--") {
                    Some(at) => (&words[..at], &words[at + 1..]),
                    None => (&words[..], &[][..]),
                };
                let mut cargo = cargo();
                cargo.arg("test").args(words).args(["--", "--show-output"]).args(of_tests);
                cargo.envs(environment(variables));
                // With this variable, tests fail instead of skipping.
                if ledger.strict {
                    cargo.env("CI", "true")
                } else {
                    cargo.env_remove("CI")
                };
                libtest::run(cargo, ledger)
            }
            Step::Cargo(words, variables) => {
                let status = cargo().args(words).envs(environment(variables)).status();
                let status = status.map_err(|why| format!("cannot start cargo: {why}"))?;
                if status.success() { Ok(()) } else { Err(status.to_string()) }
            }
        }
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// The variables of a step, and Python's packages where the project has its own.
fn environment(variables: &[(String, String)]) -> Vec<(String, String)> {
    let python = python::provided().map(|folder| folder.display().to_string());
    let python = python.map(|folder| ("VIRTUAL_ENV".to_owned(), folder));
    python.into_iter().chain(variables.iter().cloned()).collect()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Step::Install(_) => return f.write_str("programs and packages that some tests use"),
            Step::Pytest(_) => return f.write_str("the tests of the Python package"),
            Step::Agreement(_) => return f.write_str("the virtual against the emulated substrate"),
            Step::Grid => return f.write_str("the TCP engine against the kernel's recorded times"),
            Step::Vendor(_) => return f.write_str("the engines in third_party"),
            Step::Dist(_) => return f.write_str("the artefacts of a release"),
            Step::DistTest => return f.write_str("the artefacts of a release, as installed"),
            Step::Docs(Mode::Build, _) => return f.write_str("the documentation and its links"),
            Step::Docs(Mode::Execute(page), _) if !page.is_empty() => {
                return write!(f, "the commands of the documentation pages that match \"{page}\"");
            }
            Step::Docs(..) => return f.write_str("the documentation and its commands"),
            Step::Cargo(words, variables) => (words, variables, ""),
            Step::Tests(words, variables) => (words, variables, "test "),
        };
        let (words, variables, chore) = words;
        for (name, value) in variables {
            write!(f, "{name}={value} ")?;
        }
        write!(f, "cargo {chore}{}", words.join(" "))
    }
}

/// The long swarm.
pub fn swarm(runs: &str) -> Vec<Step> {
    let words = format!("--profile {CHECKED} -p trackbed-tests --test virtual_time -- swarm::");
    vec![Step::tests(&words).with("TRACKBED_SWARM_RUNS", runs)]
}

/// Every benchmark.
pub fn bench() -> Vec<Step> {
    vec![Step::cargo("bench --workspace --features trackbed-verifier/aws-lc")]
}

/// Our TCP against the kernel's measured times.
pub fn kernel_agreement() -> Vec<Step> {
    vec![Step::cargo("run --release -p trackbed-tcp --example kernel_grid")]
}

/// The virtual substrate against the emulated one.
pub fn agreement(extent: Extent) -> Vec<Step> {
    vec![Step::cargo("build --release --bin trackbed"), Step::Agreement(extent)]
}

/// The reference page and the schema of scenarios, from the registries.
pub fn reference() -> Vec<Step> {
    let words = format!("test --profile {CHECKED} -p trackbed --test command_line");
    let tests = "the_page_is_what_the_registries_say the_committed_schemas";
    vec![Step::cargo(&format!("{words} -- {tests}")).with("TRACKBED_BLESS", "1")]
}

/// The documentation, with the program as built.
pub fn docs(mode: Mode) -> Vec<Step> {
    let built = mode == Mode::Build || std::env::var_os("TRACKBED").is_some();
    let build = (!built).then(|| Step::cargo(RELEASED));
    build.into_iter().chain([Step::Docs(mode, "release")]).collect()
}

/// Coverage-guided fuzzing of every target.
pub fn fuzz(seconds: &str) -> Vec<Step> {
    FUZZ_TARGETS
        .iter()
        .map(|target| {
            Step::cargo(&format!("+nightly fuzz run {target} -- -max_total_time={seconds}"))
        })
        .collect()
}

/// All features but that of a benchmark, which builds a library in C.
pub const FEATURES: &str = "--features trackbed/store,trackbed/parquet,trackbed/rten";

/// The program with the features of a release, because the pages show all of them.
pub const RELEASED: &str = "build --release --bin trackbed --features store,parquet,rten";

/// Those of `fuzz/Cargo.toml`.
const FUZZ_TARGETS: &[&str] = &[
    "ip_packet",
    "mqtt_broker",
    "coap_datagrams",
    "server_words",
    "tcp_operations",
    "multipath_operations",
    "scenario_file",
    "v2x_message",
    "signatures",
];

/// The engines in `third_party`.
pub fn vendor(mode: vendor::Mode) -> Vec<Step> {
    vec![Step::Vendor(mode)]
}
