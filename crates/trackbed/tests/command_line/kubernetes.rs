//! The manifest that `trackbed plan --for kubernetes` prints, validated with Kubernetes' own schemas by the
//! Python package `kubernetes-validate`.

use super::support::{printed, python};
use super::*;

/// Checks every document of `manifest`, refusing what the schemas do not know.
const VALIDATE: &str = include_str!("../data/validate.py");

#[test]
fn the_manifest_is_what_kubernetes_takes() {
    let Some(python) = python(&["kubernetes_validate"]) else { return };
    let scratch = Scratch::new();
    scratch.write("My Sweep.toml", SCENARIO);
    let manifest = |words: &str, file: &str| {
        let mut command = scratch.command("plan");
        command.args(words.split('|')).args(["--for", "kubernetes"]);
        scratch.write(file, &printed(&mut command));
        printed(Command::new(&python).args(["-c", VALIDATE]).arg(scratch.path(file)))
    };
    let with_file = "My Sweep.toml|--runs|9|--shards|4|--out|/results|--set|link.delay=\"7 ms\"";
    let kinds = manifest(with_file, "file.yaml");
    assert_eq!(kinds, "ConfigMap trackbed-my-sweep\nJob trackbed-my-sweep\n");
    let store = "vru|--out|s3://bucket/x|--secret|bucket-key";
    assert_eq!(manifest(store, "store.yaml"), "Job trackbed-vru\n");
    // A validator that rejects nothing would prove nothing.
    let wrong = scratch.read("store.yaml").replace("completionMode", "completionMood");
    scratch.write("wrong.yaml", &wrong);
    let path = scratch.path("wrong.yaml");
    let validated = Command::new(&python).args(["-c", VALIDATE]).arg(path).output().unwrap();
    assert!(!validated.status.success());
}

#[test]
fn what_cannot_be_spread_is_refused() {
    let scratch = scenario();
    scratch.refuse_all("jobs");
    let units = "cells, 200 runs each";
    scratch.trackbed("plan vru --set link.loss=0,1%").prints(0, &[units, "http2"]);
    assert!(!scratch.path("trackbed-out").exists(), "nothing is run");
}
