//! Equal seeds give equal bytes: whatever the number of workers, in every build.

use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use trackbed_core::text::hex;
use trackbed_lab::replay::{self, Replay};
use trackbed_measure::results::RESULTS_VERSION;
use trackbed_tests::{document_of, plan, run};

const VRU: &[&str] = &["runs=3", "link.loss=3%"];
const BULK: &[&str] = &["runs=1", "workload.size=400kB", "link.loss=1%"];
const MIGRATION: &[&str] = &["runs=1", "workload.size=300kB", "link.loss=1%"];
const WEB: &[&str] = &["runs=1", "link.loss=5%"];

fn json(name: &str, overrides: &[&str], jobs: usize) -> String {
    let plan = plan(name, overrides);
    serde_json::to_string(&document_of(&plan, &run(&plan, jobs))).unwrap()
}

#[test]
fn the_number_of_workers_changes_nothing() {
    for (name, overrides) in [("vru", VRU), ("web", WEB), ("bulk", BULK), ("migration", MIGRATION)]
    {
        assert_eq!(json(name, overrides, 1), json(name, overrides, 7));
    }
}

#[test]
fn another_seed_changes_the_results() {
    let (one, two) = (json("vru", VRU, 2), json("vru", &[VRU, &["seed=2"]].concat(), 2));
    let without_seed = |text: &str| text.replace("\"seed\":1", "").replace("\"seed\":2", "");
    assert_ne!(without_seed(&one), without_seed(&two));
}

/// The captures of one run of each cell: file name to digest.
fn captures(name: &str, overrides: &[&str], folder: &Path) -> BTreeMap<String, String> {
    let plan = plan(name, overrides);
    let mut digests = BTreeMap::new();
    for cell in 0..plan.cells.len() as u32 {
        let directory = folder.join(format!("{name}-{cell}"));
        let replay = Replay { cell, run: 0, comment: "trackbed replay".to_owned() };
        let repeated = replay::execute(&plan, &replay, &directory).unwrap();
        assert!(repeated.outcome.samples().is_some(), "{:?}", repeated.outcome);
        for file in repeated.files {
            let name = file.strip_prefix(folder).unwrap().display().to_string();
            digests.insert(name, digest(without_version(fs::read(&file).unwrap())));
        }
    }
    digests
}

/// Captures name the program's version, which is no result.
fn without_version(mut bytes: Vec<u8>) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(version));
    for at in places.collect::<Vec<_>>() {
        bytes[at..at + version.len()].fill(b'0');
    }
    bytes
}

fn digest(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

/// The digests of results and captures, compared with those recorded by another build. The debug
/// and the release build both run this test, on any machine.
///
/// A change of results is a change of the interface: raise `RESULTS_VERSION`, update the file with
/// `TRACKBED_BLESS=1 cargo test -p trackbed-tests --test virtual_time determinism` and record it in the
/// changelog.
#[test]
fn results_and_captures_are_those_of_every_other_build() {
    let folder = tempfile::tempdir().unwrap();
    let mut digests = BTreeMap::new();
    for (name, overrides) in [("vru", VRU), ("web", WEB), ("bulk", BULK)] {
        digests.extend(captures(name, overrides, folder.path()));
        let plan = plan(name, overrides);
        let lines: Vec<String> =
            run(&plan, 2).iter().map(|run| serde_json::to_string(run).unwrap()).collect();
        digests.insert(format!("{name}/runs"), digest(lines.join("\n")));
    }
    for kind in ["phone.pcapng", "server.pcapng", "dropped.pcapng", "tls-keys.log", ".sqlog"] {
        assert!(digests.keys().any(|name| name.ends_with(kind)), "{kind} in {digests:?}");
    }
    let version = format!("results version {RESULTS_VERSION}\n");
    let lines = digests.iter().map(|(name, digest)| format!("{digest}  {name}\n"));
    let text: String = iter::once(version.clone()).chain(lines).collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/digests.txt");
    let expected = fs::read_to_string(&golden).expect("the golden file is committed");
    if std::env::var_os("TRACKBED_BLESS").is_some() && text != expected {
        assert!(!expected.starts_with(&version), "results changed: raise RESULTS_VERSION");
        return fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, expected, "results changed: see the comment of this test");
}
