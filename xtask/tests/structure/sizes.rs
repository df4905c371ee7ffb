//! How much there is to read. Each limit is what stands, rounded up: a change that needs more room makes
//! some first, or raises the limit and says why.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::{crates, files, root};

/// All Rust of the workspace outside `third_party`: code, tests, comments and empty lines. The code
/// for signed V2X messages, which replaced 24,000 vendored lines, raised it by 200, signatures on GPUs by
/// 1,500, and by 5,700 what makes answers hold: one policy of significance, rankings that workloads
/// declare, figures for papers, packs, methods, and results of tests; by 1,500 files as people have them, limits for
/// strangers, and QUIC's recovery; by 4,600 the search of lost packets, today's handshakes, and the stacks and
/// suites of others as judges; by 1,300 groups of clients and media that they share; and by 100 vectors of
/// NEON.
const LINES_MAX: usize = 220_000;

/// All Rust in `third_party`.
const VENDORED_LINES_MAX: usize = 74_000;

/// Without tests, for each crate.
const SOURCE_LINES_MAX: usize = 16_000;

/// `lab` joins the others, so that what has no room of its own gathers there.
const LAB_LINES_MAX: usize = 9_200;

#[test]
fn the_workspace_does_not_grow() {
    let lines = |folders: &[&str]| -> usize {
        folders.iter().map(|folder| count(&root().join(folder), &whole)).sum()
    };
    let own = lines(&["crates", "fuzz", "tests", "xtask"]);
    assert!(own <= LINES_MAX, "{own} lines of Rust, at most {LINES_MAX}: merge or delete some");
    let vendored = lines(&["third_party"]);
    assert!(vendored <= VENDORED_LINES_MAX, "{vendored} vendored lines: trim some");
}

#[test]
fn no_crate_is_too_large_to_know() {
    for name in crates() {
        let most = if name == "lab" { LAB_LINES_MAX } else { SOURCE_LINES_MAX };
        let lines = count(&root().join("crates").join(&name).join("src"), &without_tests);
        assert!(
            (1..=most).contains(&lines),
            "{name} has {lines} lines without tests, at most {most}"
        );
    }
}

/// The lines that `part` leaves of each Rust file below `folder`.
fn count(folder: &Path, part: &dyn Fn(&Path, &str) -> usize) -> usize {
    let mut files = files(folder);
    files.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    files.iter().map(|path| part(path, &fs::read_to_string(path).expect("a text"))).sum()
}

fn whole(_: &Path, text: &str) -> usize {
    text.lines().count()
}

fn without_tests(path: &Path, text: &str) -> usize {
    let is_test = |part: &OsStr| part == "tests" || part == "tests.rs";
    match path.strip_prefix(root()).expect("below the root").iter().any(is_test) {
        true => 0,
        false => text.split("#[cfg(test)]\nmod ").next().map_or(0, |code| code.lines().count()),
    }
}
