//! Exit status, output and signals.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::packets::open_folder;
use crate::roles::play;
use crate::support::{Ended, cases};
use crate::{User, link, trackbed, users};

#[test]
fn the_exit_status_is_the_commands() {
    for user in users() {
        for (script, status) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 128 + 9)] {
            assert_eq!(link(user, &["--", "sh", "-c", script]).0, status, "{script}");
        }
        assert_eq!(link(user, &["--", "no-such-program"]).0, 127);
        assert_eq!(link(user, &["--", "/etc/passwd"]).0, 126);
    }
}

#[test]
fn standard_output_is_the_commands_alone() {
    for user in users() {
        let (_, text) = link(user, &["--delay", "1ms", "--summary", "--", "echo", "hello"]);
        assert_eq!(text, "hello\n");
    }
}

#[test]
fn both_ends_have_the_congestion_controller_and_the_settings_may_be_written_later() {
    for user in users() {
        let folder = open_folder();
        let file = folder.path().join("new").display().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let role = play(&format!("connect 100.64.0.1:{}", listener.local_addr().unwrap().port()));
        std::thread::spawn(move || listener.accept().map(drop));
        let script = format!("echo delay=1ms > {file}; {role}");
        let options = ["link", "--control", &file, "--congestion", "reno", "--summary"];
        let all = [&options[..], &["--", "sh", "-c", &script]].concat();
        let output = trackbed(user, &all).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(String::from_utf8_lossy(&output.stdout).contains("over reno\n"), "{output:?}");
        assert!(said.contains("\ntcp      reno, from the outside"), "{said}");
    }
}

#[test]
fn the_command_is_the_same_user_as_before() {
    for user in users() {
        let outside = match user {
            User::Current => rustix::process::getuid().as_raw(),
            User::Nobody => crate::NOBODY,
        };
        assert_eq!(link(user, &["--", "id", "-u"]).1, format!("{outside}\n"));
    }
}

#[test]
fn signals_reach_the_command() {
    let all = [("TERM", Signal::TERM), ("INT", Signal::INT), ("QUIT", Signal::QUIT)];
    for (user, (name, signal)) in users().into_iter().flat_map(|user| all.map(|one| (user, one))) {
        let script =
            format!("trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let mut command = trackbed(user, &["link", "--", "sh", "-c", &script]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "caught", "{name}");
        assert_eq!(child.wait().unwrap().code(), Some(9), "{name}");
    }
}

#[test]
fn what_is_no_link_is_refused_with_advice() {
    for row in cases("link") {
        let [options, advice] = row[..] else { panic!("{row:?}") };
        let words = format!("link {options} -- true");
        let ended = Ended::of(&mut crate::support::command(&std::env::temp_dir(), &words));
        ended.says(125, &[advice]);
    }
}
