//! Programs that are missing, end, hang or are killed.

use std::process::Stdio;

use super::support::{descendants, is_alive, kill};
use crate::support::{Ended, eventually, start, wait_until};
use crate::{Scratch, one_of_two_failed};

fn scenario(ends: &str) -> String {
    format!(
        "protocol = \"http2\"\n{ends}\nruns = 2\n[link]\ndelay = \"100 ms\"\n\
         [workload]\nkind = \"messages\"\n"
    )
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_missing_program_is_told_with_its_package_before_anything_runs() {
    let text = scenario("client-command = \"h2load https://{address}/\"");
    let Some(scratch) = Scratch::with(&[], &text) else { return };
    let mut nowhere = scratch.emulated("");
    Ended::of(nowhere.env("PATH", "/nowhere")).refused(&["apt install nghttp2-client"]);
    assert!(!scratch.path("out").exists(), "nothing was run");
}

#[test]
#[ignore = "thorough: third-party programs"]
fn virtual_time_refuses_programs_and_says_where_they_run() {
    let Some(scratch) = Scratch::with(&[], &scenario("server = \"nginx\"")) else { return };
    scratch.refuse("run a.toml", &["--substrate emulated"]);
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let text = scenario("server-command = \"sh -c 'echo out of luck >&2; exit 3'\"");
    let Some(scratch) = Scratch::with(&[], &text) else { return };
    let ended = scratch.run("");
    assert_eq!(ended.status, 1);
    let all = ended.stdout + &ended.stderr;
    assert!(all.contains("exit status: 3") && all.contains("out of luck"), "{all}");
    assert!(scratch.left_over().is_empty());
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_client_that_fails_fails_its_run_and_one_that_hangs_is_ended() {
    for (command, why) in [
        ("false", "false ended (exit status: 1)"),
        ("sleep 1000", "sleep has not ended within 200 ms"),
    ] {
        let ends = format!("client-command = \"{command}\"\nclient-timeout = \"200 ms\"");
        let Some(scratch) = Scratch::with(&[], &scenario(&ends)) else { return };
        scratch.run("--set protocol=tcp").says(1, &[why]);
    }
}

#[test]
#[ignore = "thorough: third-party programs"]
fn programs_get_no_secrets_of_the_environment() {
    let text = scenario("client-command = '''sh -c \"test -z $SECRET && test -n $PATH\"'''");
    let Some(scratch) = Scratch::with(&[], &text) else { return };
    let mut command = scratch.emulated("--set protocol=tcp");
    Ended::of(command.env("SECRET", "of-the-user-alone")).says(0, &[]);
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_server_that_never_listens_or_never_stops_talking_is_given_up() {
    for (command, why) in [
        ("sleep 1000", "does not listen on TCP port 443"),
        ("yes babble", "yes has written more than 100 MB of output: babble"),
    ] {
        let text = scenario(&format!("server-command = \"{command}\""));
        let Some(scratch) = Scratch::with(&[], &text) else { return };
        scratch.run("--runs 1").says(1, &[why]);
    }
}

/// The shell ignores the signal to stop, and has two children: the broker and a `sleep`.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_server_that_does_not_stop_is_ended_and_its_run_counts() {
    let ends = "client-command = \"true\"\nserver-command = '''sh -c \"trap : TERM; mosquitto -p \
                {port} & while :; do wait; sleep 1; done\"'''";
    let Some(scratch) = Scratch::with(&["mosquitto"], &scenario(ends)) else { return };
    let mut command = scratch.emulated("--runs 1");
    command.env("PATH", "/usr/sbin:/usr/bin:/bin");
    let child = start(command);
    let root = child.id();
    let inside = eventually("the broker is there", || {
        let all = descendants(root);
        all.iter().any(|(_, name)| name == "mosquitto").then_some(all)
    });
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(inside.iter().all(|(pid, _)| !is_alive(*pid)), "{inside:?}");
}

#[test]
#[ignore = "thorough: third-party programs"]
fn a_server_that_dies_fails_its_run_and_no_other() {
    let Some(scratch) = Scratch::with(&["nginx"], &scenario("server = \"nginx\"")) else { return };
    let child = start(scratch.emulated(""));
    let root = child.id();
    let master = eventually("nginx and the clients are there", || {
        let all = descendants(root);
        let clients = all.iter().any(|(_, name)| name == "exe" || name == "trackbed");
        let nginx = all.iter().filter(|(_, name)| name == "nginx").collect::<Vec<_>>();
        (clients && nginx.len() == 2).then(|| nginx[0].0)
    });
    kill(master);
    let ended = Ended::from(child.wait_with_output().unwrap());
    one_of_two_failed(&ended, "completion_ms");
    ended.says(1, &["nginx ended"]);
}

#[test]
#[ignore = "thorough: third-party programs"]
fn nothing_outlives_a_campaign_that_is_killed() {
    let Some(scratch) = Scratch::with(&["nginx"], &scenario("server = \"nginx\"")) else { return };
    let mut command = scratch.emulated("");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let root = child.id();
    let inside = eventually("nginx is there", || {
        let all = descendants(root);
        let nginx = all.iter().filter(|(_, name)| name == "nginx").count();
        (nginx == 2).then_some(all)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    for (pid, name) in inside {
        wait_until(&format!("{name} is gone"), || !is_alive(pid));
    }
    assert_eq!(scratch.left_over().len(), 1, "killed before it could tidy up");
    scratch.cells("--runs 1");
    assert!(scratch.left_over().is_empty(), "the next one does");
}
