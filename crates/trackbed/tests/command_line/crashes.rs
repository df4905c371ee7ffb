//! A campaign whose process is killed at any call that changes a file, or whose disk is full then: finished runs
//! are kept, and continuing gives the same bytes. strace(1) injects the faults into the unmodified program.

use super::support::skip;
use super::*;

/// The calls that change files, and the expected message.
const CALLS: &str = "write,writev,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,\
                     linkat,mkdir";

const RUN: &str = "run a.toml --set link.loss=0,2% --runs 20 --jobs 1 --quiet";

/// Runs the campaign into `bad` with `fault` at call number `at`; `None` if strace(1) is unavailable.
fn disturbed(scratch: &Scratch, fault: &str, at: u32) -> Option<(Option<i32>, String)> {
    let plain = scratch.command(&format!("{RUN} --out bad"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "signal=none", "-o", "/dev/null"]);
    strace.arg(format!("--trace={CALLS}")).arg(format!("--inject={CALLS}:{fault}:when={at}"));
    strace.arg(plain.get_program()).args(plain.get_args());
    let output = strace.current_dir(scratch.folder()).stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!said.contains("ptrace") || said.contains("error:")).then_some((output.status.code(), said))
}

/// Kills and full disks until there is the required number of each.
fn crash(kills: u32, full_disks: u32) {
    let scratch = scenario();
    scratch.succeed(&format!("{RUN} --out good"));
    let finished = |name: &str| {
        let text = fs::read_to_string(scratch.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let good = finished("good/runs.jsonl");
    let (mut died, mut refused, mut kept) = (0, 0, Vec::new());
    let all = kills + full_disks;
    for number in 0..all {
        let is_kill = number * full_disks / all == (number + 1) * full_disks / all;
        let fault = if is_kill { "signal=KILL" } else { "error=ENOSPC" };
        // A continued campaign needs fewer calls than the 60 of the whole.
        let Some((status, said)) = disturbed(&scratch, fault, 1 + number * 7 % 40) else {
            return skip("strace(1) cannot trace here (Debian package strace)");
        };
        assert!(!said.contains("panicked"), "{said}");
        match (is_kill, status) {
            (true, None) => died += 1,
            (false, Some(2)) => {
                // The disk may have been full for the message too.
                refused += u32::from(said.contains("No space left on device"));
            }
            // The campaign had finished before this call.
            (_, Some(0)) => {}
            other => panic!("{other:?}: {said}"),
        }
        let now = finished("bad/runs.jsonl");
        // An incomplete line is not a finished run; continuing removes it.
        let whole: Vec<String> = now.iter().filter(|line| good.contains(line)).cloned().collect();
        assert!(kept.iter().all(|line| whole.contains(line)), "a finished run is lost: {said}");
        kept = if whole.len() == good.len() {
            fs::remove_dir_all(scratch.path("bad")).unwrap();
            Vec::new()
        } else {
            whole
        };
    }
    let (of_kills, of_full) = (died * 2 > kills, refused * 2 > full_disks);
    assert!(of_kills && of_full, "{died} died, {refused} had no disk");
    scratch.succeed(&format!("{RUN} --out bad"));
    for file in ["run.json", "runs.jsonl", "samples.csv"] {
        let [bad, good] = ["bad", "good"].map(|folder| scratch.read(&format!("{folder}/{file}")));
        assert!(bad.replace("/bad", "/good") == good, "{file}");
    }
    println!("{died} of {kills} kills and {refused} of {full_disks} full disks at work");
}

/// By the calls of each thread: the file is flushed, takes its name, and the folder is flushed.
#[test]
fn files_are_flushed_before_they_take_their_names_and_their_folder_after() {
    let scratch = scenario();
    let plain = scratch.command(&format!("{RUN} --report --out whole"));
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-qq", "-y", "-e", "signal=none", "-o", "calls"]);
    strace.arg("--trace=fsync,rename,renameat,renameat2");
    strace.arg(plain.get_program()).args(plain.get_args()).current_dir(scratch.folder());
    strace.stdin(Stdio::null()).stdout(Stdio::null());
    let is_traced = strace.status().is_ok_and(|status| status.success());
    if !is_traced {
        return skip("strace(1) cannot trace here (Debian package strace)");
    }
    let files = scratch.entries("").into_iter();
    let traces = files.filter(|path| path.file_stem().is_some_and(|stem| stem == "calls"));
    let mut named = std::collections::BTreeSet::new();
    for trace in traces {
        let text = fs::read_to_string(trace).unwrap();
        let calls: Vec<&str> = text.lines().collect();
        for (place, call) in calls.iter().enumerate().filter(|(_, call)| call.starts_with("rename"))
        {
            // Between quotation marks stand the old name and the new one.
            let [_, from, _, to, _] = call.split('"').collect::<Vec<_>>()[..] else {
                panic!("{call}")
            };
            let last = |path: &str| path.rsplit('/').next().unwrap().to_owned();
            let flushed = format!("/{}>)", last(from));
            let is_flush = |call: &&str, end: &str| {
                call.starts_with("fsync(") && call.contains(end) && call.ends_with("= 0")
            };
            let before = calls[..place].iter().any(|call| is_flush(call, &flushed));
            let after = calls.get(place + 1).is_some_and(|call| is_flush(call, "/whole>)"));
            assert!(before && after, "{call}\n{text}");
            named.insert(last(to));
        }
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    assert_eq!(named, ["about.json", "report.html", "run.json", "runs.jsonl", "samples.csv"]);
}

#[test]
fn nothing_finished_is_lost_by_kills_at_writes_and_full_disks() {
    crash(12, 4);
}

#[test]
#[ignore = "thorough: real time"]
fn nothing_finished_is_lost_by_two_hundred_kills_at_writes_and_twenty_full_disks() {
    crash(200, 20);
}
