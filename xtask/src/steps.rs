//! The steps that chores consist of.

use std::fmt;
use std::path::PathBuf;

use crate::agreement::{self, Extent};
use crate::cargo::{cargo, succeed};
use crate::docs::{self, Mode};
use crate::ledger::Ledger;
use crate::{libtest, python, vendor};

/// The profile of tests and of the program that they start.
pub const CHECKED: &str = "checked";

/// One command, or another piece of work.
pub enum Step {
    /// `cargo` with these words and environment variables.
    Cargo(Vec<String>, Vec<(String, String)>),
    /// `cargo test` with these words and environment variables, its tests and skips counted.
    Tests(Vec<String>, Vec<(String, String)>),
    /// Any other work, with what it is about.
    Work(String, Box<Work>),
}

type Work = dyn Fn(&mut Ledger) -> Result<(), String>;

impl Step {
    /// `cargo` with these words.
    pub fn cargo(words: &str) -> Step {
        Step::Cargo(split(words), Vec::new())
    }

    /// `cargo test` with these words: those before ` -- ` for Cargo, those after it for the tests.
    pub fn tests(words: &str) -> Step {
        Step::Tests(split(words), Vec::new())
    }

    /// Other work.
    pub fn new(
        about: impl Into<String>,
        work: impl Fn(&mut Ledger) -> Result<(), String> + 'static,
    ) -> Step {
        Step::Work(about.into(), Box::new(work))
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
            Step::Work(_, work) => work(ledger),
            Step::Tests(words, variables) => {
                let (words, of_tests) = match words.iter().position(|word| word == "--") {
                    Some(at) => (&words[..at], &words[at + 1..]),
                    None => (&words[..], &[][..]),
                };
                let mut cargo = cargo();
                cargo.arg("test").args(words).args(["--", "--show-output"]).args(of_tests);
                cargo.envs(python::variable()).envs(variables.iter().cloned());
                // With this variable, tests fail instead of skipping.
                if ledger.strict {
                    cargo.env("CI", "true")
                } else {
                    cargo.env_remove("CI")
                };
                libtest::run(cargo, ledger)
            }
            Step::Cargo(words, variables) => {
                let mut cargo = cargo();
                cargo.args(words).envs(python::variable()).envs(variables.iter().cloned());
                succeed(&mut cargo)
            }
        }
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, variables, chore) = match self {
            Step::Work(about, _) => return f.write_str(about),
            Step::Cargo(words, variables) => (words, variables, ""),
            Step::Tests(words, variables) => (words, variables, "test "),
        };
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

/// The virtual substrate against the emulated one.
pub fn agreement(extent: Extent) -> Vec<Step> {
    let about = "the virtual against the emulated substrate";
    let compare = Step::new(about, move |ledger| agreement::run(extent, ledger));
    vec![Step::cargo("build --release --bin trackbed"), compare]
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
pub fn vendor(mode: vendor::Mode) -> Step {
    Step::new("the engines in third_party", move |_| vendor::run(mode))
}
