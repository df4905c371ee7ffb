//! A link leaves nothing behind after its end.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{kill, wait_within};
use crate::{User, link, trackbed, users};

/// The network namespace of a started command, as the command prints it.
fn namespace_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn namespaces() -> BTreeSet<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let namespace = |process: fs::DirEntry| fs::read_link(process.path().join("ns/net")).ok();
    processes.filter_map(namespace).map(|name| name.display().to_string()).collect()
}

/// A shell that prints its namespace, and children of it that would survive it.
fn start(user: User) -> Child {
    let script = "readlink /proc/self/ns/net; sleep 1000 & setsid sleep 1000 & sleep 1000";
    let mut command = trackbed(user, &["link", "--delay", "5ms", "--", "sh", "-c", script]);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
#[ignore = "thorough: real time"]
fn twenty_links_leave_nothing_behind() {
    for user in users() {
        for round in 0..20 {
            // It also leaves a process that would survive it.
            let script = "readlink /proc/self/ns/net; setsid sleep 1000 >/dev/null 2>&1 &";
            let (status, text) = link(user, &["--delay", "1ms", "--", "sh", "-c", script]);
            assert_eq!(status, 0);
            let namespace = text.trim();
            assert!(namespace.starts_with("net:["), "{text}");
            let what = format!("{namespace} is gone, round {round}");
            wait_within(10, &what, || !namespaces().contains(namespace));
        }
    }
}

#[test]
#[ignore = "thorough: real time"]
fn nothing_outlives_a_link_that_is_killed() {
    for user in users() {
        for _ in 0..20 {
            let mut child = start(user);
            let namespace = namespace_of(&mut child);
            assert!(namespaces().contains(&namespace), "{namespace}");
            kill(child);
            wait_within(10, &format!("{namespace} is gone"), || !namespaces().contains(&namespace));
        }
    }
}

#[test]
#[ignore = "thorough: real time"]
fn the_present_namespace_is_as_it_was() {
    let interfaces = || {
        let all = fs::read_dir("/sys/class/net").unwrap().flatten();
        all.map(|entry| entry.file_name()).collect::<BTreeSet<_>>()
    };
    let before = interfaces();
    for user in users() {
        let mut child = start(user);
        namespace_of(&mut child);
        assert_eq!(interfaces(), before);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    }
    assert_eq!(interfaces(), before);
}
