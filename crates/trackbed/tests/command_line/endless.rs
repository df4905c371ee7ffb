//! Scenarios and run directories from elsewhere that ask for more than any machine can do: a clear error, at
//! once and in little memory, or an end.

use std::fs::File;

use rustix::process::{Pid, Signal, kill_process};

use super::support::{cases, kill, start, wait_until, wait_within};
use super::*;

/// A run directory whose scenario is `text` in place of its own.
fn directory(scratch: &Scratch, text: &str) {
    scratch.write("a.toml", SCENARIO);
    scratch.succeed("run a.toml --out theirs");
    scratch.change("theirs/about.json", |about| about["text"] = text.into());
}

/// Its output, with 2 GB of memory, so many seconds of processor time and as many more.
pub fn bounded(scratch: &Scratch, words: &str, seconds: u32) -> Ended {
    let plain = scratch.command(words);
    let mut command = Command::new("/bin/sh");
    let limits = format!("ulimit -v 2000000 -t {seconds}; exec timeout {} \"$@\"", 2 * seconds);
    command.args(["-c", &limits, "sh"]);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(scratch.folder());
    Ended::of(&mut command)
}

#[test]
fn plans_without_end_are_refused_with_their_limit() {
    let thousand = |unit: &str| {
        let all: Vec<String> = (1..=1_000).map(|number| format!("\"{number} {unit}\"")).collect();
        format!("[{}]", all.join(", "))
    };
    let (delays, rates, sizes) = (thousand("ms"), thousand("Mbit/s"), thousand("kB"));
    let link = "[link]\ndelay = \"1 ms\"\n";
    let axes = format!("[link]\ndelay = {delays}\nrate = {rates}\n");
    for row in cases("plans without end") {
        let [settings, limit] = row[..] else { panic!("{row:?}") };
        let text = settings.replace("SIZES", &sizes).replace("AXES\n", &axes);
        let text = text.replace("LINK\n", link);
        let scratch = Scratch::new();
        directory(&scratch, &text);
        scratch.write("endless.toml", &text);
        for words in [
            "run ./endless.toml",
            "plan ./endless.toml",
            "replay theirs 0 0",
            "verify-results theirs",
        ] {
            println!("{words}");
            bounded(&scratch, words, 10).says(2, &[limit]);
        }
        // The page of results needs no plan; single runs and deadlines do.
        bounded(&scratch, "report theirs", 10)
            .says(0, &["the report lacks deadlines and single runs", limit]);
    }
}

/// Sparse files of a terabyte.
#[test]
fn files_of_a_run_directory_without_end_are_refused() {
    for (name, why) in [
        ("runs.jsonl", "runs.jsonl is damaged (line 1 is longer than 512 MB)"),
        ("run.json", "cannot read run.json: it is larger than 256 MB"),
        ("about.json", "cannot read about.json: it is larger than 256 MB"),
    ] {
        let scratch = Scratch::new();
        directory(&scratch, SCENARIO);
        File::create(scratch.path("theirs").join(name)).unwrap().set_len(1 << 40).unwrap();
        for words in ["export theirs", "report theirs", "verify-results theirs"] {
            bounded(&scratch, words, 10).says(2, &[why]);
        }
    }
}

/// A directory that claims results of a transfer of 900 GB: a run that takes days of a processor.
fn days() -> Scratch {
    let scratch = Scratch::new();
    let bulk = |size: &str| {
        format!(
            "protocol = \"tcp\"\nruns = 1\n[link]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[workload]\n\
             kind = \"bulk\"\nsize = \"{size}\"\n"
        )
    };
    scratch.write("bulk.toml", &bulk("1 MB"));
    scratch.succeed("run ./bulk.toml --out theirs");
    scratch.write("bulk.toml", &bulk("900 GB"));
    let begun = start(scratch.command("run ./bulk.toml --out begun"));
    wait_until("a directory", || scratch.path("begun/about.json").exists());
    kill(begun);
    let plan = |name: &str| {
        let about = scratch.json(&format!("{name}/about.json"));
        about["plan"].as_str().unwrap().to_owned()
    };
    let claimed = scratch.read("theirs/run.json").replace(&plan("theirs"), &plan("begun"));
    scratch.write("theirs/run.json", &claimed);
    fs::copy(scratch.path("begun/about.json"), scratch.path("theirs/about.json")).unwrap();
    scratch
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the verification is to be at work")]
fn one_signal_ends_a_verification_without_end() {
    let scratch = days();
    let mut child = start(scratch.command("verify-results theirs"));
    thread::sleep(Duration::from_secs(1));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    wait_within(10, "the end", || child.try_wait().unwrap().is_some());
    let ended = Ended::from(child.wait_with_output().unwrap());
    ended.says(130, &["only a part of the sample was repeated", "--sample"]);
}

#[test]
#[ignore = "thorough: real time"]
fn a_run_that_comes_to_no_end_is_left_out_of_the_page() {
    let scratch = days();
    let said = "note: single runs that take long to repeat are not shown";
    bounded(&scratch, "report theirs", 150).says(0, &[said]);
}
