//! Run directories that are continued: after the end, after Ctrl-C, and after a kill.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::support::{kill, start, wait_until};
use super::*;

const CAMPAIGN: &str = "run a.toml --set link.loss=2% --jobs 2 --out out";

fn lines(scratch: &Scratch) -> usize {
    fs::read_to_string(scratch.path("out/runs.jsonl")).map_or(0, |text| text.lines().count())
}

/// A campaign that takes far longer than this test, after its first runs.
fn begun(scratch: &Scratch) -> Child {
    let child = start(scratch.command(&format!("{CAMPAIGN} --runs 200000")));
    wait_until("the first runs", || lines(scratch) >= 5);
    child
}

/// Continues until there are `runs` runs, and compares everything with an undisturbed campaign of that many
/// runs.
fn continued_as_if_nothing_had_happened(scratch: &Scratch, runs: usize) -> Ended {
    let ended = scratch.succeed(&format!("{CAMPAIGN} --runs {runs} --json"));
    let _ = fs::remove_dir_all(scratch.path("smooth"));
    let smooth = CAMPAIGN.replace("--out out", "--out smooth");
    let smooth = scratch.succeed(&format!("{smooth} --runs {runs} --json"));
    assert!(ended.stdout == smooth.stdout);
    scratch.same("out", "smooth", &["run.json", "samples.csv"]);
    ended
}

#[test]
fn what_is_there_is_not_run_again_and_more_runs_may_be_asked_for() {
    let scratch = scenario();
    let first = scratch.succeed(&format!("{CAMPAIGN} --json"));
    let again = scratch.succeed(&format!("{CAMPAIGN} --json"));
    assert_eq!(first.stdout, again.stdout);
    assert!(again.stderr.contains("2 of 2 runs already exist"), "{}", again.stderr);
    let more = continued_as_if_nothing_had_happened(&scratch, 4);
    assert!(more.stderr.contains("2 of 4 runs already exist"), "{}", more.stderr);
    assert_eq!(lines(&scratch), 4);
    // With fewer runs, the summary shrinks, and no run is lost.
    continued_as_if_nothing_had_happened(&scratch, 3);
    assert_eq!(lines(&scratch), 4);
}

#[test]
fn other_runs_do_not_mix() {
    let scratch = scenario();
    scratch.succeed(CAMPAIGN);
    for other in ["--set link.loss=3%", "--seed 2", "--set workload.count=3"] {
        scratch
            .refuse(&format!("{CAMPAIGN} {other}"), &["a different command", "another directory"]);
    }
    assert_eq!(lines(&scratch), 2);
}

#[test]
fn a_last_line_that_was_cut_off_is_run_again() {
    let scratch = scenario();
    scratch.succeed(&format!("{CAMPAIGN} --runs 4"));
    let text = scratch.read("out/runs.jsonl");
    scratch.write("out/runs.jsonl", &text[..text.len() - 20]);
    continued_as_if_nothing_had_happened(&scratch, 4).says(0, &["3 of 4 runs already exist"]);
    assert_eq!(lines(&scratch), 4);
}

#[test]
fn the_default_directory_is_overwritten() {
    let scratch = scenario();
    scratch.succeed("run a.toml --runs 3");
    scratch.succeed("run a.toml --runs 1 --set link.delay=7ms");
    assert_eq!(scratch.read("trackbed-out/a/runs.jsonl").lines().count(), 1);
}

/// Clusters preempt jobs with SIGTERM.
#[test]
fn ctrl_c_and_sigterm_keep_the_runs_that_are_done() {
    let mut signals = vec![Signal::INT, Signal::TERM];
    // Under nohup, SIGHUP is ignored, by us as by our children (proc_pid_status(5): the lowest bit).
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 0 {
        signals.push(Signal::HUP);
    }
    signals.into_iter().for_each(keeps_the_runs_that_are_done);
}

fn keeps_the_runs_that_are_done(signal: Signal) {
    println!("{signal:?}");
    let scratch = scenario();
    let child = begun(&scratch);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let ended = Ended::from(child.wait_with_output().unwrap());
    let kept = lines(&scratch);
    ended.says(130, &[&format!("{kept} of 200000 runs are kept; continue with --out out")]);
    assert!(ended.stdout.contains("Fastest") || ended.stdout.contains("quic"), "{}", ended.stdout);
    let completion = &scratch.json("out/run.json")["cells"][0]["metrics"]["completion_ms"];
    assert_eq!(completion["n"], kept);
    let ended = continued_as_if_nothing_had_happened(&scratch, kept + 2);
    ended.says(0, &[&format!("{kept} of {} runs already exist", kept + 2)]);
}

#[test]
fn a_process_that_is_killed_leaves_results_that_are_at_most_seconds_old() {
    let scratch = scenario();
    let child = begun(&scratch);
    wait_until("the first document", || scratch.path("out/samples.csv").exists());
    kill(child);
    let document = scratch.json("out/run.json");
    let n = document["cells"][0]["metrics"]["completion_ms"]["n"].as_u64().unwrap();
    assert!(n >= 1 && n <= lines(&scratch) as u64, "{n}");
    continued_as_if_nothing_had_happened(&scratch, lines(&scratch) + 2);
}

#[test]
fn two_campaigns_do_not_write_to_one_directory() {
    let scratch = scenario();
    let child = begun(&scratch);
    let ended = scratch.trackbed(&format!("{CAMPAIGN} --runs 200000"));
    kill(child);
    ended.says(2, &["another trackbed is writing here"]);
}

fn until(precision: &str, more: &str) -> String {
    format!("run a.toml --set link.loss=0,3% --json --runs 30 --until '{precision}' {more}")
}

/// A clean cell never varies; a lossy one does, and gets more runs. The result is an ordinary directory with that
/// number of runs.
#[test]
fn a_campaign_goes_on_until_it_is_precise_enough() {
    let scratch = scenario();
    let run = |precision: &str, more: &str| scratch.trackbed(&until(precision, more));
    let ended = run("mean completion_ms 12%", "--runs-max 3000 --out out");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let document = ended.json();
    let completion = |cell: usize| &document["cells"][cell]["metrics"]["completion_ms"];
    assert_eq!(completion(0)["n"], 30);
    let [n, mean] = ["n", "mean"].map(|name| completion(1)[name].as_f64().unwrap());
    let ends = [0, 1].map(|end| completion(1)["ci95"][end].as_f64().unwrap());
    assert!(n > 30.0 && n < 3000.0 && (ends[1] - ends[0]) / 2.0 <= 0.12 * mean, "{document}");
    assert!(ended.stderr.contains(&format!("30 to {n} runs per cell")), "{}", ended.stderr);
    assert_eq!(document["runs"].as_f64(), Some(n));
    // The same again finds everything there, and the same numbers.
    let again = run("mean completion_ms 12%", "--runs-max 3000 --jobs 1 --out out");
    assert!(again.stdout == ended.stdout, "{}", again.stderr);
    scratch.succeed("verify-results out");
    scratch.succeed(&format!("replay out 1 {}", n - 1.0));

    run("mean completion_ms 0.5%", "--runs-max 40 --out short").says(1, &["not reached by cell 1"]);
    let stderr = run("completion < 9 s decided", "--out need").stderr;
    assert!(
        stderr.contains("30 runs per cell: mean completion < 9000 ms met by 2 of 2"),
        "{stderr}"
    );
    scratch.refuse_all("until");
}

/// If it is killed, such a campaign has the number of runs known to be needed by then; the same command continues
/// it.
#[test]
fn a_campaign_of_open_end_that_is_killed_says_what_it_is() {
    let scratch = scenario();
    let more = "--runs-max 200000 --out out";
    let child = start(scratch.command(&until("mean completion_ms 0.01%", more)));
    wait_until("the second round", || {
        lines(&scratch) > 200 && scratch.path("out/samples.csv").exists()
    });
    kill(child);
    let (about, document) = (scratch.json("out/about.json"), scratch.json("out/run.json"));
    let runs = about["runs"].as_u64().unwrap();
    assert!(runs > 30 && runs < 200_000, "{runs}");
    assert_eq!(about["overrides"].as_array().unwrap().last().unwrap(), &format!("runs={runs}"));
    assert!(document["runs"].as_u64().unwrap() <= runs, "{document}");
    scratch.trackbed("merge out --out merged").says(1, &[&format!(" of {} runs exist", 2 * runs)]);

    let [ended, smooth] = ["out", "smooth"].map(|folder| {
        let more = format!("--runs-max 3000 --out {folder}");
        scratch.trackbed(&until("mean completion_ms 12%", &more))
    });
    assert!(ended.status == 0 && ended.stdout == smooth.stdout, "{}", ended.stderr);
    scratch.same("out", "smooth", &["run.json", "samples.csv"]);
    scratch.succeed("verify-results out");
}

/// All but one are refused, or find everything done; none deletes the results of another.
#[test]
fn processes_that_begin_at_once_leave_each_other_alone() {
    let scratch = scenario();
    let begin = |_| start(scratch.command(&format!("{CAMPAIGN} --runs 40")));
    let children: Vec<Child> = (0..8).map(begin).collect();
    let ended = children.into_iter().map(|child| Ended::from(child.wait_with_output().unwrap()));
    let ended: Vec<Ended> = ended.collect();
    assert!(ended.iter().any(|ended| ended.status == 0));
    let is_well = |ended: &&Ended| match ended.status {
        0 => true,
        2 => ended.stderr.contains("another trackbed is writing here"),
        _ => false,
    };
    assert!(ended.iter().all(|ended| is_well(&ended)), "{:?}", ended[0].stderr);
    continued_as_if_nothing_had_happened(&scratch, 40);
}
