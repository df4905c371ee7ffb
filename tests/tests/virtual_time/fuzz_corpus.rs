//! Replays the fuzzers' corpora, and a few thousand mutations of their entries.
//!
//! - `TRACKBED_MUTATIONS=100` makes a hundred times as many, different ones for each number:
//!   fuzzing without coverage, for machines without a C++ compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::{panic, thread};

use trackbed_core::{Rng, Seed};

#[path = "../../../fuzz/bodies/mod.rs"]
mod bodies;

use bodies::{TARGETS, Target};

#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    let replay = |target: &'static Target| {
        let thread = thread::Builder::new().name(target.0.to_owned());
        thread.spawn(|| replay(target)).expect("there is room for a thread")
    };
    let replays: Vec<_> = TARGETS.iter().map(replay).collect();
    let failed = replays.into_iter().filter_map(|replay| replay.join().err()).count();
    assert_eq!(failed, 0, "targets failed: see above");
}

/// Runs a target on every entry of its corpus, and on mutations of each.
fn replay((target, mutations, body): &Target) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).expect("the corpus is committed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let times = std::env::var("TRACKBED_MUTATIONS").ok();
    let times: u64 = times.map_or(1, |text| text.parse().expect("a whole number"));
    let mut rng = Seed::of_run(times, 0).stream(target);
    let each = (mutations * times).div_ceil(paths.len() as u64);
    let check = |input: &[u8]| {
        let survived = panic::catch_unwind(|| body(input)).is_ok();
        assert!(survived, "{target} fails with \"{}\"", input.escape_ascii());
    };
    for path in paths {
        let entry = fs::read(&path).unwrap();
        check(&entry);
        for _ in 0..each {
            check(&mutate(&entry, &mut rng));
        }
    }
}

/// One to eight small changes: a byte replaced, removed, doubled, or a piece cut off.
fn mutate(entry: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = entry.to_vec();
    for _ in 0..=rng.below(8) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(5) {
            0 => bytes[at] = rng.next_u64() as u8,
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, bytes[at]),
            _ => bytes.truncate(at),
        }
    }
    bytes
}
