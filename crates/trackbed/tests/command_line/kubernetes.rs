//! The manifest that `trackbed plan --for kubernetes` prints, held against Kubernetes' own schemas by
//! the Python package `kubernetes-validate`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{SCENARIO, Scratch};

fn python() -> OsString {
    let environment = std::env::var_os("VIRTUAL_ENV")
        .map(|folder| PathBuf::from(folder).join("bin/python3").into_os_string());
    std::env::var_os("TRACKBED_PYTHON").or(environment).unwrap_or_else(|| "python3".into())
}

fn is_installed() -> bool {
    let mut probe = Command::new(python());
    probe.args(["-c", "import kubernetes_validate"]);
    let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        return true;
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "CI=true allows no skipped test: `pip install kubernetes-validate`");
    eprintln!("skipped: Python has not this package: pip install kubernetes-validate");
    false
}

/// Checks every document of `manifest`, refusing what the schemas do not know.
const VALIDATE: &str = "\
import sys, yaml, kubernetes_validate
for document in yaml.safe_load_all(open(sys.argv[1])):
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    print(document['kind'], document['metadata']['name'])
";

#[test]
fn the_manifest_is_what_kubernetes_takes() {
    if !is_installed() {
        return;
    }
    let scratch = Scratch::new("kubernetes");
    scratch.write("My Sweep.toml", SCENARIO);
    let manifest = |words: &str, file: &str| {
        let mut command = scratch.command("plan");
        command.args(words.split('|')).args(["--for", "kubernetes"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::write(scratch.path(file), output.stdout).unwrap();
        let path = scratch.path(file);
        let validated = Command::new(python()).args(["-c", VALIDATE]).arg(path).output().unwrap();
        let errors = String::from_utf8_lossy(&validated.stderr);
        assert!(validated.status.success(), "{}\n{errors}", scratch.read(file));
        String::from_utf8(validated.stdout).unwrap()
    };
    let with_file = "My Sweep.toml|--runs|9|--shards|4|--out|/results|--set|link.delay=\"7 ms\"";
    let kinds = manifest(with_file, "file.yaml");
    assert_eq!(kinds, "ConfigMap trackbed-my-sweep\nJob trackbed-my-sweep\n");
    let store = "vru|--out|s3://bucket/x|--secret|bucket-key";
    assert_eq!(manifest(store, "store.yaml"), "Job trackbed-vru\n");
    // Were nothing refused, nothing would be shown.
    let wrong = scratch.read("store.yaml").replace("completionMode", "completionMood");
    scratch.write("wrong.yaml", &wrong);
    let path = scratch.path("wrong.yaml");
    let validated = Command::new(python()).args(["-c", VALIDATE]).arg(path).output().unwrap();
    assert!(!validated.status.success());
}

#[test]
fn what_cannot_be_spread_is_refused() {
    let scratch = Scratch::new("plan");
    scratch.write("a.toml", SCENARIO);
    for (words, why) in [
        ("plan a.toml --for slurm", "--out"),
        ("plan a.toml --for slurm --out o --shards 3", "2 runs"),
        ("plan a.toml --for slurm --out o --substrate live --server x", "live"),
        ("plan a.toml --for lsf --out o", "slurm, kubernetes"),
        ("plan missing.toml", "missing.toml"),
    ] {
        let ended = scratch.trackbed(words);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{words}");
        assert!(ended.stderr.contains(why), "{words}: {}", ended.stderr);
    }
    let ended = scratch.succeed("plan vru --set link.loss=0,1%");
    let units = "cells, 30 runs each";
    assert!(ended.stdout.contains(units) && ended.stdout.contains("http2"), "{}", ended.stdout);
    assert!(!scratch.path("trackbed-out").exists(), "nothing is run");
}
