//! Commands in a scenario file: its author chose them, so they run only with the user's consent.

use super::support::skip;
use super::*;

/// Scenarios whose server, or inference, is a command.
fn hostile(scratch: &Scratch) {
    let server = "server-command = \"touch owned \\u001b[2K\"\n[link]";
    let inference = "[inference]\nkind = \"command\"\ncommand = \"touch owned \\u001b[2K\"\n\
                     durations = \"d.txt\"\n[link]";
    for (name, ends) in [("server.toml", server), ("inference.toml", inference)] {
        scratch.write(name, &SCENARIO.replacen("[link]", ends, 1));
    }
    scratch.write("d.txt", "trackbed-durations 1\nthreads 1\nframe 0 5000000\n");
}

#[test]
fn without_consent_they_are_shown_and_refused() {
    let scratch = Scratch::new();
    hostile(&scratch);
    let plan = "plan server.toml --substrate emulated --for slurm --shards 2 --out b";
    for words in ["run server.toml --substrate emulated", "agree inference.toml", plan] {
        scratch.refuse(words, &["\n  touch owned \\u001b[2K\n", "--allow-commands"]);
    }
    scratch.trackbed(&format!("{plan} --allow-commands")).prints(0, &[" --allow-commands "]);
    assert_eq!(scratch.entries("").len(), 3, "something was begun");
}

#[test]
fn on_a_terminal_the_user_is_asked() {
    let scratch = Scratch::new();
    hostile(&scratch);
    let line = format!("{} run server.toml --substrate emulated", env!("CARGO_BIN_EXE_trackbed"));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(scratch.folder());
    scratch.write("no", "n\n");
    let typed = fs::File::open(scratch.path("no")).unwrap();
    let Ok(output) = terminal.stdin(typed).stdout(Stdio::piped()).output() else {
        return skip("there is no script(1): apt install bsdutils");
    };
    Ended::from(output).prints(2, &["touch owned", "Run them? [y/N]", "nothing was run"]);
    assert!(!scratch.path("owned").exists());
}

/// An untrusted run directory runs no commands on this machine. Results name the file of durations, which is
/// beside the scenario, as the run did.
#[test]
fn a_directory_that_is_repeated_starts_none() {
    let scratch = Scratch::new();
    hostile(&scratch);
    for words in ["run inference.toml --out d", "verify-results d", "replay d 0 0", "report d"] {
        scratch.succeed(words);
    }
    assert!(!scratch.path("owned").exists());
}

/// Nothing is run before a command is understood.
#[test]
fn agree_says_what_it_cannot_decide_or_explain() {
    let scratch = Scratch::new();
    scratch.refuse_all("agree");
    assert!(scratch.entries("").is_empty(), "something was begun");
}
