//! The steps that chores consist of.

use std::path::PathBuf;
use std::process::Command;

use crate::agreement::{self, Extent};
use crate::cargo::{cargo, succeed};
use crate::docs::{self, Mode};
use crate::ledger::Ledger;
use crate::{judges, libtest, python, vendor};

/// The profile of tests and of the program that they start.
pub const CHECKED: &str = "checked";

/// One command, or another piece of work, and what it is about.
pub struct Step {
    pub about: String,
    work: Box<Work>,
}

type Work = dyn Fn(&mut Ledger) -> Result<(), String>;

/// Environment variables of a command.
type Variables = Vec<(&'static str, String)>;

impl Step {
    pub fn new(
        about: impl Into<String>,
        work: impl Fn(&mut Ledger) -> Result<(), String> + 'static,
    ) -> Step {
        Step { about: about.into(), work: Box::new(work) }
    }

    pub fn cargo(words: &str) -> Step {
        Step::cargo_with(Vec::new(), words)
    }

    pub fn cargo_with(variables: Variables, words: &str) -> Step {
        let about = about(&variables, &format!("cargo {words}"));
        let words = words.to_owned();
        Step::new(about, move |_| {
            let mut cargo = cargo();
            cargo.envs(python::variable()).envs(variables.iter().cloned());
            succeed(cargo.args(words.split_whitespace()))
        })
    }

    /// `cargo test` with these words: those before ` -- ` for Cargo, those after it for the tests, which are
    /// counted.
    pub fn tests(words: &str) -> Step {
        Step::tests_with(Vec::new(), words)
    }

    /// As [`Step::tests`], with these variables.
    pub fn tests_with(variables: Variables, words: &str) -> Step {
        let about = about(&variables, &format!("cargo test {words}"));
        let (words, of_tests) = words.split_once(" -- ").unwrap_or((words, ""));
        let (words, of_tests) = (words.to_owned(), of_tests.to_owned());
        Step::new(about, move |ledger| {
            let mut cargo = cargo();
            cargo.envs(python::variable()).envs(variables.iter().cloned());
            cargo.arg("test").args(words.split_whitespace()).args(["--", "--show-output"]);
            cargo.args(of_tests.split_whitespace());
            // With this variable, tests fail instead of skipping.
            if ledger.strict {
                cargo.env("CI", "true")
            } else {
                cargo.env_remove("CI")
            };
            libtest::run(cargo, ledger)
        })
    }

    /// Does it.
    pub fn run(&self, ledger: &mut Ledger) -> Result<(), String> {
        (self.work)(ledger)
    }
}

fn about(variables: &Variables, command: &str) -> String {
    let variables = variables.iter().map(|(name, value)| format!("{name}={value} "));
    variables.collect::<String>() + command
}

/// The long swarm.
pub fn swarm(runs: &str) -> Vec<Step> {
    let words = format!("--profile {CHECKED} -p trackbed-tests --test virtual_time -- swarm::");
    vec![Step::tests_with(vec![("TRACKBED_SWARM_RUNS", runs.to_owned())], &words)]
}

/// The virtual substrate against the emulated one.
pub fn agreement(extent: Extent) -> Vec<Step> {
    let about = "the virtual against the emulated substrate";
    let compare = Step::new(about, move |ledger| agreement::run(extent, ledger));
    vec![Step::cargo("build --release --bin trackbed"), compare]
}

/// Suites and stacks of others.
pub fn judges() -> Vec<Step> {
    let build = format!("build --profile {CHECKED} --bin trackbed");
    let program = PathBuf::from(format!("target/{CHECKED}/trackbed"));
    let judge = move |ledger: &mut Ledger| judges::run(&program, ledger);
    vec![Step::cargo(&build), Step::new("suites and stacks of others", judge)]
}

/// The reference page and the schema of scenarios, from the registries.
pub fn reference() -> Vec<Step> {
    let words = format!("test --profile {CHECKED} -p trackbed --test command_line");
    let tests = "the_page_is_what_the_registries_say the_committed_schemas";
    let bless = vec![("TRACKBED_BLESS", "1".to_owned())];
    vec![Step::cargo_with(bless, &format!("{words} -- {tests}"))]
}

/// The documentation, with the program as built.
pub fn docs(mode: Mode) -> Vec<Step> {
    let built = mode == Mode::Build || std::env::var_os("TRACKBED").is_some();
    let build = (!built).then(|| Step::cargo(RELEASED));
    build.into_iter().chain([documentation(mode, "release")]).collect()
}

/// Builds the documentation, or executes its commands, with the program of a profile.
pub fn documentation(mode: Mode, profile: &str) -> Step {
    let about = match &mode {
        Mode::Build => "the documentation and its links".to_owned(),
        Mode::Execute(page) if !page.is_empty() => {
            format!("the commands of the documentation pages that match \"{page}\"")
        }
        _ => "the documentation and its commands".to_owned(),
    };
    let built = PathBuf::from(format!("target/{profile}/trackbed"));
    Step::new(about, move |ledger| docs::run(&mode, &built, ledger))
}

/// Licences, sources and known vulnerabilities of the dependencies, as `deny.toml` says.
pub fn deny() -> Vec<Step> {
    let check = |about: &str, what: &'static [&'static str]| {
        Step::new(about, move |ledger| {
            let deny = || Command::new("target/tools/bin/cargo-deny");
            // It comes from a repository of its own, which a mirror of the registry does not have.
            if what == ["advisories"] && !python::succeeds(deny().args(["fetch", "db"])) {
                ledger.skip("the database of vulnerabilities cannot be fetched");
                return Ok(());
            }
            succeed(deny().arg("check").args(what))
        })
    };
    vec![
        Step::cargo("install --quiet --locked --root target/tools cargo-deny@0.20.2"),
        check("licences and sources of dependencies", &["bans", "licenses", "sources"]),
        check("known vulnerabilities of dependencies", &["advisories"]),
    ]
}

/// All features but that of a benchmark, which builds a library in C.
pub const FEATURES: &str = "--features trackbed/store,trackbed/parquet,trackbed/rten";

/// The program with the features of a release, because the pages show all of them.
pub const RELEASED: &str = "build --release --bin trackbed --features store,parquet,rten";

/// The engines in `third_party`.
pub fn vendor(mode: vendor::Mode) -> Step {
    Step::new("the engines in third_party", move |_| vendor::run(mode))
}
