//! Untrusted run directories and logs: their contents neither write to the user's files, nor control the
//! terminal, nor make a command hang or use much memory.

use std::os::unix::fs::symlink;

use super::endless::bounded;
use super::support::cases;
use super::*;

/// A run directory `theirs`, and a file of the user's, which is empty and so may pass for results.
fn scratch() -> Scratch {
    let scratch = scenario();
    scratch.succeed("run a.toml --out theirs");
    scratch.write("mine", "");
    scratch
}

/// Replaces a file in the directory by a link to the user's file.
fn link(scratch: &Scratch, name: &str) {
    let path = scratch.path("theirs").join(name);
    let _ = fs::remove_file(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(scratch.path("mine"), path).unwrap();
}

#[test]
fn nothing_is_written_through_links_in_a_run_directory() {
    for row in cases("links in run directories") {
        let [name, words] = row[..] else { panic!("{row:?}") };
        let scratch = scratch();
        // Results are missing, so that all files are written.
        if words != "report theirs" {
            scratch.write("theirs/runs.jsonl", "");
        }
        link(&scratch, name);
        let ended = scratch.trackbed(words);
        assert_eq!(scratch.read("mine"), "", "{words}: {name}");
        ended.says(2, &["is a symbolic link", "remove it", name]);
    }
}

/// Temporary names of earlier versions have no special meaning.
#[test]
fn links_beside_the_files_are_not_written_through_either() {
    let scratch = scratch();
    scratch.write("theirs/runs.jsonl", "");
    for name in ["about.partial", "run.partial", "samples.partial", "report.html.partial"] {
        link(&scratch, name);
    }
    scratch.succeed("run a.toml --out theirs --report");
    assert_eq!(scratch.read("mine"), "");
}

#[test]
fn folders_of_a_run_directory_are_no_links() {
    let scratch = scratch();
    fs::create_dir(scratch.path("home")).unwrap();
    symlink(scratch.path("home"), scratch.path("theirs/replay")).unwrap();
    scratch.refuse("replay theirs 0 0", &["replay is a symbolic link", "--out"]);
    scratch.write("changes.csv", "at,change,value\n0 s,delay,5 ms\n1 ms,delay,6 ms\n");
    let still = SCENARIO.replacen("delay = \"5 ms\"\n", "", 1);
    scratch.write("b.toml", &format!("{still}[environment]\ntimeline = \"changes.csv\"\n"));
    scratch.succeed("run b.toml --out changing");
    fs::remove_dir_all(scratch.path("changing/timelines")).unwrap();
    scratch.write("changing/runs.jsonl", "");
    symlink(scratch.path("home"), scratch.path("changing/timelines")).unwrap();
    scratch.refuse("run b.toml --out changing", &["timelines is a symbolic link"]);
    symlink(scratch.path("home"), scratch.path("theirs/shard-1-of-2")).unwrap();
    scratch.refuse("run a.toml --out theirs --shard 1/2", &["shard-1-of-2 is a symbolic link"]);
    assert_eq!(scratch.entries("home").len(), 0);
    // A link that the user names is followed.
    symlink(scratch.path("page.html"), scratch.path("link")).unwrap();
    scratch.succeed("report theirs --out link");
    assert!(scratch.read("page.html").contains("<html"));
}

#[test]
fn what_others_wrote_does_not_control_the_terminal() {
    let scratch = scratch();
    let hostile = "quic\\u001b]0;pwned\\u0007\\u009b31m\\u202e";
    for (from, to) in [("\"quic\"", format!("\"{hostile}\"")), ("\"a\"", format!("\"{hostile}\""))]
    {
        scratch.write("theirs/run.json", &scratch.read("theirs/run.json").replace(from, &to));
    }
    let about = scratch.read("theirs/about.json");
    scratch.write("theirs/about.json", &about.replacen(env!("CARGO_PKG_VERSION"), hostile, 1));
    let all = "compare theirs theirs|compare theirs theirs --json|advise theirs --need completion<1s|\
               run a.toml --out theirs|report theirs";
    for words in all.split('|') {
        let Ended { stdout, stderr, .. } = scratch.trackbed(words);
        let printed = stdout + &stderr;
        let is_control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!printed.contains(is_control), "{words}: {printed:?}");
    }
    let found = scratch.trackbed("compare theirs theirs --json").json();
    let protocol = found["first"]["scenario"].as_str().unwrap();
    assert!(protocol.contains("\u{9b}31m\u{202e}"), "JSON says the same as before: {protocol:?}");
}

#[test]
fn a_number_of_runs_that_no_plan_has_is_refused() {
    let scratch = scratch();
    let text = scratch.read("theirs/run.json");
    let many = text.replacen("\"runs\": 2", "\"runs\": 4294967295", 1);
    assert_ne!(text, many);
    scratch.write("theirs/run.json", &many);
    let why = "4294967295 runs per cell are too many";
    scratch.refuse("compare theirs theirs", &["run.json is damaged", why]);
}

/// The other end of the pipe is not open.
#[test]
fn a_pipe_in_place_of_a_file_is_refused_at_once() {
    for name in ["about.json", "run.json", "runs.jsonl"] {
        let scratch = scratch();
        pipe(&scratch, &format!("theirs/{name}"));
        for words in ["export theirs", "report theirs", "compare theirs theirs"] {
            refused_at_once(&scratch, words, name);
        }
    }
}

/// A pipe that has no other end.
fn pipe(scratch: &Scratch, name: &str) {
    let _ = fs::remove_file(scratch.path(name));
    fs::create_dir_all(scratch.path(name).parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(scratch.path(name)).status().unwrap().success());
}

#[test]
fn a_pipe_in_a_shard_is_refused_at_once() {
    for name in ["about.json", "runs.jsonl"] {
        let scratch = scenario();
        for shard in ["1/2", "2/2"] {
            scratch.succeed(&format!("run a.toml --out theirs --shard {shard}"));
        }
        pipe(&scratch, &format!("theirs/shard-2-of-2/{name}"));
        refused_at_once(&scratch, "merge theirs --out merged", name);
    }
    // A link in place of a shard is read like one, and nothing is written there.
    let scratch = scratch();
    fs::create_dir(scratch.path("folder")).unwrap();
    fs::rename(scratch.path("theirs"), scratch.path("elsewhere")).unwrap();
    symlink(scratch.path("elsewhere"), scratch.path("folder/shard-1-of-2")).unwrap();
    let listed = || {
        let paths = scratch.entries("elsewhere").into_iter();
        paths.map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = listed();
    scratch.succeed("merge folder");
    assert!(listed() == before);
}

/// Traces, archives, manifests, payloads and measured frames.
#[test]
fn a_pipe_that_a_scenario_names_is_refused_at_once() {
    for keys in cases("pipes in scenarios") {
        let scratch = Scratch::new();
        pipe(&scratch, "pipe");
        scratch.write("b.toml", &format!("protocol = \"http2\"\n{}\n", keys[0]));
        bounded(&scratch, "run ./b.toml", 10).says(2, &["pipe is not a file"]);
    }
}

/// A sparse file can have any length.
#[test]
fn a_piece_of_media_without_end_is_no_end_of_a_run() {
    let scratch = Scratch::new();
    for resolution in ["hd", "fhd", "qhd"] {
        let folder = scratch.path("media").join(resolution);
        fs::create_dir_all(&folder).unwrap();
        fs::File::create(folder.join("0000.m4s")).unwrap().set_len(1 << 42).unwrap();
    }
    scratch.write(
        "b.toml",
        "protocol = \"http2\"\nruns = 1\n[link]\n[workload]\nkind = \"streaming\"\nmedia = \"media\"\n",
    );
    bounded(&scratch, "run ./b.toml", 10).says(2, &["more than 256 MB"]);
}

fn refused_at_once(scratch: &Scratch, words: &str, name: &str) {
    bounded(scratch, words, 10).says(2, &[&format!("{name} is not a regular file")]);
}

#[test]
fn no_table_has_a_formula() {
    let scratch = scratch();
    let formula = "=HYPERLINK(\\\"http://example.com\\\")";
    for name in ["theirs/run.json", "theirs/runs.jsonl"] {
        let text = scratch.read(name).replace("\"quic\"", &format!("\"{formula}\""));
        scratch.write(name, &text.replace("rtt_ms", "@rtt_ms"));
    }
    for table in ["samples", "runs", "cells", "differences"] {
        let csv = scratch.succeed(&format!("export theirs --table {table}")).stdout;
        let mut cells = csv.split([',', '\n']).map(|cell| cell.trim_start_matches('"'));
        assert!(!cells.any(|cell| cell.starts_with(['=', '@'])), "{table}: {csv}");
    }
    let csv = scratch.succeed("export theirs").stdout;
    assert!(csv.contains("\"'=HYPERLINK(") && csv.contains(",'@rtt_ms,"), "{csv}");
    let json = scratch.succeed("export theirs --format ndjson").stdout;
    assert!(json.contains("\"=HYPERLINK("), "only CSV is for spreadsheet programs");
}
