//! What a run directory survives, and what it refuses.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;

use trackbed_measure::results::{Outcome, SCHEMA};

use super::*;
use crate::VERSION;

/// A path for a run directory, removed when the test ends.
struct Scratch(PathBuf, #[expect(dead_code, reason = "removes the folder")] tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        Scratch(folder.path().join("out"), folder)
    }
}

fn about(plan: &str) -> About {
    About {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        command: vec!["trackbed".to_owned(), "run".to_owned(), "vru".to_owned()],
        scenario: "vru".to_owned(),
        text: String::new(),
        overrides: Vec::new(),
        seed: 1,
        runs: 2,
        more_runs: BTreeMap::new(),
        folder: PathBuf::from("/"),
        build: None,
        files: Vec::new(),
        plan: plan.to_owned(),
        substrate: "virtual".to_owned(),
        shard: None,
    }
}

fn result(cell: u32, run: u32) -> RunResult {
    // Values that need all their digits.
    let samples = BTreeMap::from([("rtt_ms".to_owned(), vec![0.1 + 0.2, 1.0 / 3.0])]);
    RunResult { cell, run, outcome: Outcome::Samples(samples), certificate: None, answered: None }
}

fn failed(cell: u32, run: u32) -> RunResult {
    let outcome = Outcome::Failed("a \"quoted\"\nreason".to_owned());
    RunResult { outcome, ..result(cell, run) }
}

/// A closed directory with `runs`.
fn holding(runs: &[RunResult]) -> Scratch {
    let scratch = Scratch::new();
    let mut directory = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
    assert!(directory.runs().is_empty());
    runs.iter().for_each(|run| directory.append(run).unwrap());
    scratch
}

fn read_runs(path: &Path) -> Vec<RunResult> {
    let runs = RecordedRuns::read(path).unwrap();
    let all = runs.all().unwrap();
    assert_eq!(all.len() as u64, runs.len());
    all
}

fn refusal(path: &Path, about: About) -> String {
    RunDirectory::continue_or_create(path, about).unwrap_err().to_string()
}

#[test]
fn what_was_appended_is_there_again() {
    let runs = [result(0, 0), result(0, 1), failed(1, 0)];
    let scratch = holding(&[runs[2].clone(), runs[0].clone(), runs[1].clone()]);
    assert_eq!(read_runs(&scratch.0), runs);
    let mut directory =
        RunDirectory::continue_or_create(&scratch.0, About { runs: 3, ..about("a") }).unwrap();
    assert_eq!(directory.runs().len(), 3);
    directory.append(&result(1, 1)).unwrap();
    assert_eq!(read_runs(&scratch.0).len(), 4);
    assert_eq!(read_about(&scratch.0).unwrap().runs, 3, "the newest command describes it");
}

#[test]
fn a_line_that_was_cut_off_anywhere_is_passed_over() {
    let scratch = holding(&[result(0, 0), result(1, 0)]);
    let log = scratch.0.join(RUNS);
    let whole = fs::read(&log).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in first..whole.len() - 1 {
        fs::write(&log, &whole[..length]).unwrap();
        assert_eq!(read_runs(&scratch.0), [result(0, 0)], "cut off at {length}");
    }
    // Only the newline is missing: the result is whole.
    fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    let mut directory = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
    assert_eq!(directory.runs().len(), 2);
    directory.append(&result(0, 1)).unwrap();
    assert_eq!(read_runs(&scratch.0).len(), 3);
}

#[test]
fn after_a_cut_off_line_new_lines_stand_alone() {
    let scratch = holding(&[result(0, 0)]);
    let mut log = OpenOptions::new().append(true).open(scratch.0.join(RUNS)).unwrap();
    log.write_all(b"{\"cell\":1,\"ru").unwrap();
    let mut directory = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
    assert_eq!(directory.of(0).unwrap()[..], [result(0, 0)]);
    directory.append(&result(1, 0)).unwrap();
    assert_eq!(read_runs(&scratch.0), [result(0, 0), result(1, 0)]);
}

#[test]
fn a_run_counts_once() {
    let scratch = holding(&[result(0, 0), result(0, 0), result(1, 0)]);
    assert_eq!(read_runs(&scratch.0), [result(0, 0), result(1, 0)]);
}

#[test]
fn in_the_end_the_order_does_not_tell_who_was_done_first() {
    let runs = [result(0, 0), result(0, 1), failed(1, 0), result(2, 1)];
    let scratch = holding(&runs);
    let in_order = fs::read(scratch.0.join(RUNS)).unwrap();
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [0, 1, 2, 3]] {
        let scratch = holding(&order.map(|index| runs[index].clone()));
        let mut directory = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
        directory.settle().unwrap();
        assert!(fs::read(scratch.0.join(RUNS)).unwrap() == in_order, "{order:?}");
        // New results are appended after them.
        directory.append(&result(1, 1)).unwrap();
        assert_eq!(directory.of(1).unwrap()[..], [failed(1, 0), result(1, 1)]);
        assert_eq!(directory.of(2).unwrap()[..], [result(2, 1)]);
        directory.settle().unwrap();
        let [a, b, c, d] = runs.clone();
        assert_eq!(read_runs(&scratch.0), [a, b, c, result(1, 1), d]);
    }
    // Duplicates are removed.
    fs::write(scratch.0.join(RUNS), [in_order.as_slice(), &in_order].concat()).unwrap();
    RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap().settle().unwrap();
    assert!(fs::read(scratch.0.join(RUNS)).unwrap() == in_order);
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let scratch = holding(&[result(0, 0)]);
    let log = scratch.0.join(RUNS);
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}nonsense\n{text}")).unwrap();
    let why = refusal(&scratch.0, about("a"));
    assert!(why.contains("runs.jsonl is damaged (line 2: "), "{why}");
    let line = text.replacen("\"cell\":0", "\"cell\":4000000000", 1);
    assert_ne!(line, text);
    fs::write(&log, format!("{text}{line}")).unwrap();
    let why = refusal(&scratch.0, about("a"));
    assert!(why.contains("(line 2: cell 4000000000 is out of range); delete that line"), "{why}");
    fs::write(scratch.0.join(ABOUT), "{ \"trackbed\": \"0.1.0\" }").unwrap();
    let why = refusal(&scratch.0, about("a"));
    assert!(why.contains("about.json is damaged"), "{why}");
    fs::write(scratch.0.join(ABOUT), [0xff, 0xfe]).unwrap();
    let why = read_about(&scratch.0).unwrap_err().to_string();
    assert!(why.contains("about.json is damaged"), "not a disk error: {why}");
}

#[test]
fn other_runs_versions_and_files_are_refused_and_left_alone() {
    let scratch = holding(&[result(0, 0)]);
    let why = refusal(&scratch.0, about("b"));
    assert!(why.contains("a different command (`trackbed run vru`); choose another"), "{why}");
    let why = refusal(&scratch.0, About { trackbed: "9.9.9".to_owned(), ..about("a") });
    assert!(why.contains(&format!("of version {VERSION}")), "{why}");
    assert_eq!(read_runs(&scratch.0).len(), 1);

    let foreign = scratch.0.join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "years of work").unwrap();
    assert!(refusal(&foreign, about("a")).contains("is not a run directory"));
    let why = RunDirectory::create_anew(&foreign, about("a")).unwrap_err().to_string();
    assert!(why.contains("is not a run directory"), "{why}");
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1, "nothing was written");
    // Another program's about.json does not make it a run directory.
    fs::write(foreign.join(ABOUT), "{ \"name\": \"a browser\" }").unwrap();
    for refused in [
        RunDirectory::continue_or_create(&foreign, about("a")),
        RunDirectory::create_anew(&foreign, about("a")),
    ] {
        assert!(refused.unwrap_err().to_string().contains("is not a run directory"));
    }
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 2, "nothing was written");
}

#[test]
fn beginning_anew_removes_results_and_nothing_else() {
    let scratch = holding(&[result(0, 0)]);
    fs::create_dir_all(scratch.0.join("replay/cell-0-run-0")).unwrap();
    fs::write(scratch.0.join("notes.txt"), "mine").unwrap();
    drop(RunDirectory::create_anew(&scratch.0, about("b")).unwrap());
    assert!(read_runs(&scratch.0).is_empty());
    assert!(!scratch.0.join("replay").exists());
    assert_eq!(fs::read_to_string(scratch.0.join("notes.txt")).unwrap(), "mine");
    assert_eq!(read_about(&scratch.0).unwrap().plan, "b");
}

#[test]
fn two_do_not_write_at_once() {
    let scratch = Scratch::new();
    let first = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
    assert!(refusal(&scratch.0, about("a")).contains("another trackbed is writing here"));
    assert!(RunDirectory::create_anew(&scratch.0, about("a")).is_err());
    drop(first);
    assert!(RunDirectory::continue_or_create(&scratch.0, about("a")).is_ok());
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_with_advice() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let why = refusal(&path, about("a"));
        assert!(why.contains("where you may write"), "{why}");
    }
}

/// A reader continues with the file that it has opened.
#[test]
fn results_that_are_put_in_order_meanwhile_are_read_as_they_were() {
    let scratch = Scratch::new();
    let runs = [failed(1, 0), result(0, 1), result(1, 1), result(0, 0)];
    let mut directory = RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap();
    runs.iter().for_each(|run| directory.append(run).unwrap());
    let reader = RecordedRuns::read(&scratch.0).unwrap();
    directory.settle().unwrap();
    let expected = [result(0, 0), result(0, 1), failed(1, 0), result(1, 1)];
    assert_eq!(reader.all().unwrap(), expected);
    assert_eq!(directory.runs().all().unwrap(), expected);
    directory.append(&result(2, 0)).unwrap();
    assert_eq!(directory.runs().of(2).unwrap().len(), 1);
}

/// A process killed while it writes a summary leaves part of a document, of any size.
#[test]
fn what_was_left_half_written_is_taken_away_and_nothing_else() {
    let scratch = holding(&[result(0, 0)]);
    for name in [".run.json.x1Y2z3.partial", ".samples.csv.abcdef.partial", ".mine.partial"] {
        fs::write(scratch.0.join(name), "half").unwrap();
    }
    drop(RunDirectory::continue_or_create(&scratch.0, about("a")).unwrap());
    let mut names: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [LOCK, ".mine.partial", ABOUT, RUNS]);
}

#[test]
fn what_cannot_be_written_by_the_systems_fault_comes_with_a_remedy_and_a_link_with_its_own() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    std::os::unix::fs::symlink("/nowhere", scratch.0.join(LOCK)).unwrap();
    let why = refusal(&scratch.0, about("a"));
    assert!(
        why.ends_with(".lock is a symbolic link, which may point anywhere; remove it or rename it"),
        "{why}"
    );
}
