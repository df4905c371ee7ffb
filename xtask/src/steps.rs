//! The steps that each chore consists of.

use std::fmt;

use crate::agreement::{self, Extent};
use crate::cargo::cargo;
use crate::docs::{self, Mode};
use crate::{python, tools, vendor};

/// One command, or one piece of preparation.
pub enum Step {
    /// `cargo` with these words and environment variables.
    Cargo(Vec<String>, Vec<(String, String)>),
    /// Makes programs from outside available.
    Tools,
    /// Compares the substrates.
    Agreement(Extent),
    /// Builds the documentation, and tries what it says.
    Docs(Mode),
    /// Makes or checks the engines in `third_party`.
    Vendor(vendor::Mode),
}

impl Step {
    fn cargo(words: &str) -> Step {
        Step::Cargo(words.split_whitespace().map(str::to_owned).collect(), Vec::new())
    }

    fn with(self, name: &str, value: &str) -> Step {
        match self {
            Step::Cargo(words, mut variables) => {
                variables.push((name.to_owned(), value.to_owned()));
                Step::Cargo(words, variables)
            }
            other => other,
        }
    }

    /// Does it.
    pub fn run(&self) -> Result<(), String> {
        match self {
            Step::Tools => tools::provide().and_then(|()| python::provide()),
            Step::Agreement(extent) => agreement::run(*extent),
            Step::Docs(mode) => docs::run(mode),
            Step::Vendor(mode) => vendor::run(*mode),
            Step::Cargo(words, variables) => {
                let environment = python::provided().map(|folder| ("VIRTUAL_ENV", folder));
                let status = cargo()
                    .args(words)
                    .envs(environment)
                    .envs(variables.iter().map(|(name, value)| (name, value)))
                    .status()
                    .map_err(|why| format!("cargo does not start: {why}"))?;
                if status.success() { Ok(()) } else { Err(status.to_string()) }
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Tools => f.write_str("programs that some tests use"),
            Step::Agreement(_) => f.write_str("virtual against emulated"),
            Step::Docs(_) => f.write_str("the documentation"),
            Step::Vendor(_) => f.write_str("the engines in third_party"),
            Step::Cargo(words, variables) => {
                for (name, value) in variables {
                    write!(f, "{name}={value} ")?;
                }
                write!(f, "cargo {}", words.join(" "))
            }
        }
    }
}

/// Everything that must hold before a change lands, what fails fastest first. Simulations run in
/// release, where they are ten times faster; unit tests run with debug assertions on.
pub fn test() -> Vec<Step> {
    vec![
        Step::Tools,
        Step::cargo("fmt --all --check"),
        Step::cargo("clippy --workspace --all-targets --all-features -- -D warnings"),
        Step::cargo("doc --workspace --all-features --no-deps").with("RUSTDOCFLAGS", "-D warnings"),
        Step::cargo("test --workspace --all-features"),
        Step::cargo("test --release -p trackbed-tests"),
        Step::cargo("test --release -p trackbed-tcp"),
        Step::cargo(RELEASED),
        Step::Docs(Mode::Check),
        Step::Agreement(Extent::Short),
    ]
}

/// The long swarm.
pub fn swarm(runs: &str) -> Vec<Step> {
    let words = "test --release -p trackbed-tests --test swarm -- --nocapture";
    vec![Step::cargo(words).with("TRACKBED_SWARM_RUNS", runs)]
}

/// Every benchmark.
pub fn bench() -> Vec<Step> {
    vec![Step::cargo("bench --workspace")]
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
    let of = |words: &str| Step::cargo(words).with("TRACKBED_BLESS", "1");
    vec![
        of("test -p trackbed --test reference"),
        of("test -p trackbed --test command_line the_committed_schema"),
    ]
}

/// The documentation, by the program as it is.
pub fn docs(mode: Mode) -> Vec<Step> {
    let built = mode == Mode::Build || std::env::var_os("TRACKBED").is_some();
    let build = (!built).then(|| Step::cargo(RELEASED));
    build.into_iter().chain([Step::Docs(mode)]).collect()
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

/// The program as it is released. The pages show all that it can do.
const RELEASED: &str = "build --release --bin trackbed --features store,parquet";

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
