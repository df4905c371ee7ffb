//! Coverage-guided fuzzing on stable Rust: libFuzzer in a build of `fuzz/` of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{said, succeed};
use crate::files::told;
use crate::steps::Step;

/// Fuzzes every target in turn, each for so many seconds. What it finds stays in `target/fuzz`, where the
/// next call continues. Without seconds, adds what reached new code to the committed corpora.
pub fn steps(seconds: Option<&str>) -> Vec<Step> {
    let host = said("rustc", &["--print", "host-tuple"]).trim().to_owned();
    let build = format!("build --release --manifest-path fuzz/Cargo.toml --target {host}");
    let folder = ("CARGO_TARGET_DIR", "fuzz/target".to_owned());
    let build = Step::cargo_with(vec![folder, ("RUSTFLAGS", INSTRUMENTED.to_owned())], &build);
    let versions = Step::new("the versions of Cargo.lock for fuzz/", |_| {
        fs::copy("Cargo.lock", "fuzz/Cargo.lock").map(drop).map_err(told("fuzz/Cargo.lock"))
    });
    let mut corpora: Vec<PathBuf> = fs::read_dir("fuzz/corpus")
        .map(|folder| folder.flatten().map(|corpus| corpus.path()).collect())
        .unwrap_or_default();
    corpora.sort();
    let limit = seconds.map(|seconds| format!("-max_total_time={seconds}"));
    let targets = corpora.into_iter().map(|corpus| {
        let (program, limit) = (format!("fuzz/target/{host}/release/trackbed-fuzz"), limit.clone());
        Step::new(format!("fuzzing with {}", corpus.display()), move |_| {
            let name = corpus.file_name().unwrap_or_default();
            let found = PathBuf::from("target/fuzz").join(name);
            fs::create_dir_all(&found).map_err(told(found.display()))?;
            let mut fuzzer = Command::new(&program);
            fuzzer.env("TRACKBED_FUZZ", name).args(["-timeout=20", "-rss_limit_mb=2048"]);
            fuzzer.arg(format!("-artifact_prefix={}-", found.display()));
            let words = PathBuf::from("fuzz/words").join(name);
            fuzzer.args(words.exists().then(|| format!("-dict={}", words.display())));
            succeed(match &limit {
                Some(limit) => fuzzer
                    .args([limit, "-verbosity=0", "-print_final_stats=1"])
                    .args([&found, &corpus]),
                None => {
                    fuzzer.args(["-set_cover_merge=1", "-use_counters=0"]).args([&corpus, &found])
                }
            })
        })
    });
    [versions, build].into_iter().chain(targets).collect()
}

/// Counts each branch taken, and watches the operands of comparisons.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
