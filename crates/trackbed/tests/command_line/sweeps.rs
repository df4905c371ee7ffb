//! Campaigns in shards, their merged results, and the verification of results.

#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed at times of the machine's clock"
)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Instant;

use trackbed_core::Seed;

use super::support::kill;
use super::*;

pub const SWEEP: &str = "run a.toml --set link.loss=0,2%,5% --runs 7";
pub const FILES: [&str; 3] = ["runs.jsonl", "run.json", "samples.csv"];

fn shard(scratch: &Scratch, shard: &str) {
    scratch
        .trackbed(&format!("{SWEEP} --out big --shard {shard}"))
        .says(0, &["results: big/shard-"]);
}

#[test]
fn shards_come_to_what_one_campaign_comes_to_byte_for_byte() {
    let scratch = scenario();
    let whole = scratch.succeed(&format!("{SWEEP} --out whole --json"));
    // In any order, and one of them twice, as a cluster might.
    for number in ["3/4", "1/4", "4/4"] {
        shard(&scratch, number);
    }
    scratch.trackbed("merge big").says(1, &["15 of 21 runs exist; results: big"]);
    shard(&scratch, "2/4");
    shard(&scratch, "2/4");
    let ended = scratch.trackbed("merge big --json");
    ended.says(0, &["21 of 21 runs exist"]);
    assert!(ended.stdout == whole.stdout);
    scratch.same("big", "whole", &FILES);
    let folders = "big/shard-4-of-4 big/shard-2-of-4 big/shard-1-of-4 whole big/shard-3-of-4";
    scratch.succeed(&format!("merge {folders} --out other"));
    scratch.same("other", "whole", &FILES);
    // The merged directory is an ordinary run directory.
    scratch.succeed("replay other 1 3 --out captures");
    let more = SWEEP.replace("--runs 7", "--runs 8");
    scratch.trackbed(&format!("{more} --out other")).says(0, &["21 of 24 runs already exist"]);
}

/// Each run gives the rows of two groups; in one of three conditions the second has no members.
#[test]
fn rows_of_groups_are_divided_continued_and_repeated_like_others() {
    let scratch = Scratch::new();
    let groups = "run loaded --part link --runs 3 --set link.queue=codel --set protocol=quic \
                  --set group.warning.start=100ms --set group.download.count=0,1 \
                  --set group.download.workload.duration=1s";
    scratch.succeed(&format!("{groups} --out whole"));
    for number in ["1/4", "2/4", "3/4", "4/4"] {
        scratch.succeed(&format!("{groups} --out big --shard {number}"));
    }
    scratch.succeed("merge big");
    scratch.same("big", "whole", &FILES);
    // Of one run a row is missing, and of another both.
    let lines = fs::read_to_string(scratch.path("big/runs.jsonl")).unwrap();
    let kept = lines.lines().filter(|line| !line.starts_with("{\"cell\":2,\"run\":0"));
    let kept: Vec<&str> = kept.filter(|line| !line.contains("\"run\":2")).collect();
    scratch.write("big/runs.jsonl", &(kept.join("\n") + "\n"));
    scratch.trackbed(&format!("{groups} --out big")).says(0, &["5 of 9 runs already exist"]);
    scratch.same("big", "whole", &FILES);
    scratch.succeed("replay big 1 2");
    // Only the warnings go on.
    let more = groups.replace("--runs 3", "--runs 6 --runs-max 8");
    scratch.trackbed(&format!("{more} --out open --until 'rtt_ms 0.001%'"));
    scratch.trackbed("verify-results open --sample 30").prints(0, &["22 of 22 runs repeated"]);
}

#[test]
fn a_shard_is_continued_and_is_not_mistaken_for_another() {
    let scratch = scenario();
    shard(&scratch, "1/3");
    scratch
        .trackbed(&format!("{SWEEP} --out big --shard 1/3"))
        .says(0, &["7 of 7 runs already exist"]);
    let taken = format!("{SWEEP} --out big/shard-1-of-3");
    scratch.refuse(&taken, &["contains shard 1/3 of these runs"]);
    scratch.refuse(&format!("{SWEEP} --shard 1/3"), &["--out"]);
}

#[test]
fn a_cluster_says_which_shard_it_is() {
    let scratch = scenario();
    let mut command = scratch.command(&format!("{SWEEP} --out big --shard auto"));
    let slurm = [("ID", "12"), ("COUNT", "3"), ("MIN", "10"), ("STEP", "1")];
    for (name, value) in slurm {
        command.env(format!("SLURM_ARRAY_TASK_{name}"), value);
    }
    assert!(command.output().unwrap().status.success());
    assert!(scratch.path("big/shard-3-of-3/run.json").exists());
    let mut command = scratch.command(&format!("{SWEEP} --out big --shard auto/12"));
    assert!(command.env("JOB_COMPLETION_INDEX", "0").output().unwrap().status.success());
    assert!(scratch.path("big/shard-01-of-12/run.json").exists());
    scratch.refuse(&format!("{SWEEP} --out big --shard auto"), &["--shard 3/8"]);
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let scratch = scenario();
    shard(&scratch, "1/2");
    scratch.succeed(&format!("{SWEEP} --out seed --seed 2"));
    fs::create_dir(scratch.path("empty")).unwrap();
    scratch.refuse_all("merge");
    assert!(!scratch.path("all").exists(), "nothing was begun");
    // A result that was changed on the way.
    scratch.succeed(&format!("{SWEEP} --out whole"));
    forge(&scratch, "big/shard-1-of-2");
    let parts = ["run 0 of cell 0 has a different result", "verify-results"];
    scratch.refuse("merge whole big/shard-1-of-2 --out all", &parts);
    // Nothing of it is kept, so that it can be merged without the changed one.
    assert!(!scratch.path("all").exists());
    scratch.succeed("merge whole --out all");
    scratch.same("all", "whole", &FILES);
}

/// A process that is killed before it has written about.json does not block later ones.
#[test]
fn a_directory_without_about_does_not_block_later_processes() {
    let scratch = scenario();
    for folder in ["begun", "big/shard-2-of-2"] {
        fs::create_dir_all(scratch.path(folder)).unwrap();
        scratch.write(&format!("{folder}/runs.jsonl"), "");
    }
    scratch.write("big/shard-1-of-2.tar.gz", "an archive");
    scratch.succeed(&format!("{SWEEP} --out begun"));
    shard(&scratch, "1/2");
    scratch.trackbed("merge big").says(1, &["10 of 21 runs exist"]);
    shard(&scratch, "2/2");
    scratch.succeed("merge big");
    scratch.same("big", "begun", &FILES);
    scratch.write("begun/runs.jsonl", "not empty");
    fs::remove_file(scratch.path("begun/about.json")).unwrap();
    scratch.refuse(&format!("{SWEEP} --out begun"), &["contains files"]);
}

#[test]
fn a_job_is_of_a_number_of_runs_that_is_known() {
    let scratch = scenario();
    for out in [OsStr::from_bytes(b"big\xff"), OsStr::new("big\n#SBATCH --array=1-2")] {
        let mut command = scratch.command("plan a.toml --for slurm --shards 2 --out");
        Ended::of(command.arg(out)).refused(&["cannot be used in a job description"]);
    }
}

/// Changes one digit of the first result.
fn forge(scratch: &Scratch, folder: &str) {
    let runs = scratch.read(&format!("{folder}/runs.jsonl"));
    let place = runs.find("\"completion_ms\":[").unwrap() + "\"completion_ms\":[".len();
    let digit = if runs.as_bytes()[place] == b'9' { "8" } else { "9" };
    let forged = format!("{}{digit}{}", &runs[..place], &runs[place + 1..]);
    scratch.write(&format!("{folder}/runs.jsonl"), &forged);
}

#[test]
fn results_that_were_changed_are_found_out() {
    let scratch = scenario();
    scratch.succeed(&format!("{SWEEP} --out one"));
    scratch.succeed(&format!("{SWEEP} --out two --jobs 1"));
    let verify = |folder: &str, more: &str| {
        let ended = scratch.trackbed(&format!("verify-results {folder} --json {more}"));
        (ended.status, ended.json())
    };
    let (status, found) = verify("one", "");
    assert_eq!((status, &found["repeated"], &found["runs"]), (0, &21.into(), &21.into()));
    let (status, other) = verify("two", "--sample 5 --draw 3");
    assert_eq!((status, &other["repeated"]), (0, &5.into()));
    assert_eq!(found["digest"], other["digest"], "equal results have equal digests");

    forge(&scratch, "two");
    let (status, found) = verify("two", "");
    assert_eq!(status, 1);
    assert_eq!(found["different"], serde_json::json!([[0, 0]]));
    assert_eq!(found["summary"], false, "the mean is another");
    assert_ne!(found["digest"], other["digest"]);
    scratch.trackbed("verify-results two").prints(1, &["trackbed replay two 0 0"]);

    let document = scratch.read("one/run.json");
    scratch.write("one/run.json", &document.replacen("\"p50\": 3", "\"p50\": 2", 1));
    let (status, found) = verify("one", "--sample 1");
    assert_eq!((status, &found["summary"]), (1, &false.into()));
}

/// Two shards in parallel, each killed repeatedly at random points and continued: in the end no run is missing or
/// duplicated. `TRACKBED_SWEEP=100000,20` sets the number of runs and of kills.
#[test]
fn a_sweep_that_is_killed_again_and_again_comes_to_the_same_bytes() {
    let scratch = scenario();
    let setting = std::env::var("TRACKBED_SWEEP").unwrap_or_else(|_| "1500,6".to_owned());
    let (runs, kills) = setting.split_once(',').expect("TRACKBED_SWEEP=RUNS,KILLS");
    let (runs, kills): (u64, u64) = (runs.parse().unwrap(), kills.parse().unwrap());
    let sweep = format!("run a.toml --set link.loss=0,2%,5% --runs {}", runs / 3);
    let begun = Instant::now();
    scratch.succeed(&format!("{sweep} --out whole"));
    let undisturbed = begun.elapsed();
    let shards = ["1/2", "2/2"].map(|shard| format!("{sweep} --out big --jobs 1 --shard {shard}"));
    let mut chance = Seed::of_run(undisturbed.as_nanos() as u64, 0).stream("kills");
    let mut killed = 0;
    for number in 0..kills {
        let shard = (number % 2) as usize;
        let mut command = scratch.command(&shards[shard]);
        let mut child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        // At any point: before the first run, or after so many that a part is left for the next kill.
        let part = runs / 2 / (kills / 2 + 1);
        let enough = part * (number / 2) + chance.below(part);
        let file = scratch.path(&format!("big/shard-{}-of-2/runs.jsonl", shard + 1));
        let done = || fs::read(&file).map_or(0, |lines| lines.split(|byte| *byte == b'\n').count());
        while child.try_wait().unwrap().is_none() && (done() as u64) < enough {
            thread::sleep(Duration::from_millis(1));
        }
        killed += u64::from(child.try_wait().unwrap().is_none());
        kill(child);
    }
    assert!(killed * 2 >= kills, "{killed} of {kills} were still at work");
    for shard in &shards {
        scratch.succeed(shard);
    }
    scratch.succeed("merge big");
    scratch.same("big", "whole", &FILES);
    for folder in ["big", "big/shard-1-of-2", "big/shard-2-of-2"] {
        let is_partial = |path: &PathBuf| path.extension().is_some_and(|end| end == "partial");
        assert!(!scratch.entries(folder).iter().any(is_partial), "{folder}: something is left");
    }
    println!("{runs} runs in {undisturbed:.1?}, {killed} of {kills} kills while at work");
}
