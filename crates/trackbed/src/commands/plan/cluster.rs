//! Job descriptions that spread the shards of a campaign over a cluster.

use std::fmt::Write as _;

use serde_json::{Value, json};

use trackbed_archive::VERSION;

use crate::output::is_url;
use crate::shell;

/// A campaign to be distributed.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name in the cluster: the scenario's name.
    pub name: String,
    /// A summary in one line.
    pub summary: String,
    /// The scenario: a built-in name, or the absolute path of a file.
    pub scenario: String,
    /// The name and content of the scenario file, if it is a file.
    pub file: Option<(String, String)>,
    /// Further arguments for `trackbed run`.
    pub words: Vec<String>,
    /// The destination of results: a folder shared by all machines, or an object store.
    pub out: String,
    /// Number of shards.
    pub shards: u32,
    /// Cores per shard.
    pub cores: u32,
    /// Whether runs count for which a machine was too slow.
    pub keep_invalid: bool,
}

/// A batch script for Slurm: a job array with one task per shard (sbatch(1)).
pub fn slurm(job: &Job) -> String {
    let Job { summary, out, shards, cores, .. } = job;
    let name = label(&job.name);
    let mut words = vec!["exec", "trackbed", "run", &job.scenario];
    words.extend(job.words.iter().map(String::as_str));
    words.extend(["--out", out]);
    let words: Vec<String> = words.into_iter().map(shell::word).collect();
    let merge = merge(job);
    let mut text = format!(
        include_str!("slurm.sh"),
        name = name,
        shards = shards,
        cores = cores,
        summary = summary,
        version = VERSION,
        merge = merge,
        wrap = shell::word(&merge),
    );
    if *shards > 1_000 {
        text.push_str(
            "# By default Slurm takes up to 1,000 tasks: see MaxArraySize in `scontrol show config`.\n",
        );
    }
    // Not auto: for a single resubmitted task, Slurm reports an array of one.
    let _ = writeln!(
        text,
        "{} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --jobs \"${{SLURM_CPUS_PER_TASK:-{cores}}}\"",
        words.join(" ")
    );
    text
}

/// How a Kubernetes job finds the program and stores results.
#[derive(Clone, Debug)]
pub struct Pod {
    /// The container image, with `trackbed` on its path.
    pub image: String,
    /// The claim of a volume that all pods can write to; not needed for an object store.
    pub claim: String,
    /// The secret whose entries become environment variables: an object store's credentials.
    pub secret: Option<String>,
}

/// An indexed job for Kubernetes, with a shard per index; a scenario file is included in a config
/// map. Values in the YAML are JSON, so that nothing needs quoting.
pub fn kubernetes(job: &Job, pod: &Pod) -> String {
    let mut text = format!(
        "# {}; written by trackbed {VERSION}.\n\
         # Each index runs a shard. If its pod fails, it is retried and continues where it stopped.\n\
         # When the job is complete: {}\n",
        job.summary,
        merge(job)
    );
    let mut documents = Vec::new();
    if let Some((name, scenario)) = &job.file {
        documents.push(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": label(&job.name) },
            "data": { key(name): scenario },
        }));
    }
    documents.push(indexed_job(job, pod));
    for document in documents {
        text.push_str("---\n");
        write_yaml(&document, 0, &mut text);
    }
    text
}

fn indexed_job(job: &Job, pod: &Pod) -> Value {
    let Job { out, shards, cores, .. } = job;
    let (mut mounts, mut volumes) = (Vec::new(), Vec::new());
    let scenario = match &job.file {
        Some((name, _)) => {
            mounts.push(json!({ "name": "scenario", "mountPath": "/scenario" }));
            let map = json!({ "name": label(&job.name) });
            volumes.push(json!({ "name": "scenario", "configMap": map }));
            format!("/scenario/{}", key(name))
        }
        None => job.scenario.clone(),
    };
    if !is_url(out) {
        mounts.push(json!({ "name": "results", "mountPath": out }));
        let claim = json!({ "claimName": pod.claim });
        volumes.push(json!({ "name": "results", "persistentVolumeClaim": claim }));
    }
    let mut words = vec!["trackbed".to_owned(), "run".to_owned(), scenario];
    words.extend(job.words.iter().cloned());
    words.extend(["--out", out, "--shard"].map(str::to_owned));
    words.extend([format!("auto/{shards}"), "--jobs".to_owned(), cores.to_string()]);
    let mut container = json!({
        "name": "trackbed",
        "image": pod.image,
        "command": words,
        "resources": { "requests": { "cpu": cores.to_string() } },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
        },
    });
    if let Some(secret) = &pod.secret {
        container["envFrom"] = json!([{ "secretRef": { "name": secret } }]);
    }
    // The restricted profile of the Pod Security Standards. The group may write to the volume.
    let mut specification = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
    });
    if !mounts.is_empty() {
        container["volumeMounts"] = Value::Array(mounts);
    }
    specification["containers"] = json!([container]);
    if !volumes.is_empty() {
        specification["volumes"] = Value::Array(volumes);
    }
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": label(&job.name) },
        "spec": {
            "completionMode": "Indexed",
            "completions": shards,
            "parallelism": shards,
            "backoffLimitPerIndex": RETRIES,
            "template": { "spec": specification },
        },
    })
}

fn merge(job: &Job) -> String {
    let mut words = vec!["trackbed", "merge", &job.out];
    if job.keep_invalid {
        words.push("--keep-invalid");
    }
    if is_url(&job.out) {
        words.extend(["--out", &job.name]);
    }
    words.into_iter().map(shell::word).collect::<Vec<_>>().join(" ")
}

/// Mappings and lists in block style; other values as JSON, which is valid YAML.
fn write_yaml(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let is_long = |value: &Value| match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => false,
    };
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match is_long(value) {
                    true => {
                        let _ = writeln!(text, "{indent}{key}:");
                        write_yaml(value, depth + 1, text);
                    }
                    false => {
                        let _ = writeln!(text, "{indent}{key}: {value}");
                    }
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut inner = String::new();
                write_yaml(item, depth + 1, &mut inner);
                // The first line of an item follows its dash.
                let _ = write!(text, "{indent}- {}", inner.trim_start());
            }
        }
        other => {
            let _ = writeln!(text, "{indent}{other}");
        }
    }
}

/// A valid name for clusters (RFC 1123): lower-case letters, digits and hyphens.
fn label(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().map(plain).collect();
    let text = format!("trackbed-{}", text.trim_matches('-'));
    text.chars().take(LABEL_CHARS_MAX).collect::<String>().trim_matches('-').to_owned()
}

/// A valid key for a config map.
fn key(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}

const RETRIES: u32 = 3;
/// The user of the released image, without any rights of its own.
const USER: u32 = 65_532;
/// RFC 1123 allows 63; a job's pods append to its name.
const LABEL_CHARS_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            name: "My Sweep".to_owned(),
            summary: "My Sweep: 2 cells, 100 runs each".to_owned(),
            scenario: "/home/me/my sweep.toml".to_owned(),
            file: Some(("my sweep.toml".to_owned(), "runs = 2\n# it's \"mine\"\n".to_owned())),
            words: ["--runs", "100", "--set", "link.delay={ uniform = 1 }"]
                .map(str::to_owned)
                .into(),
            out: "/scratch/me".to_owned(),
            shards: 8,
            cores: 2,
            keep_invalid: false,
        }
    }

    #[test]
    fn a_shell_reads_the_script_as_it_was_meant() {
        let script = slurm(&job());
        assert!(
            script.starts_with("#!/bin/bash\n#SBATCH --job-name=trackbed-my-sweep\n"),
            "{script}"
        );
        assert!(
            script.contains("\n#SBATCH --array=1-8\n") && !script.contains("MaxArraySize"),
            "{script}"
        );
        assert!(
            slurm(&Job { shards: 1_001, ..job() }).contains("\n# By default Slurm takes up to")
        );
        let command = "exec trackbed run '/home/me/my sweep.toml' --runs 100 --set \
                       'link.delay={ uniform = 1 }' --out /scratch/me --shard \
                       \"$SLURM_ARRAY_TASK_ID/8\" --jobs \"${SLURM_CPUS_PER_TASK:-2}\"\n";
        assert!(script.ends_with(command), "{script}");
    }

    #[test]
    fn a_job_without_files_needs_no_config_map_and_an_object_store_no_volume() {
        let pod = Pod {
            image: "example.org/trackbed".to_owned(),
            claim: "results".to_owned(),
            secret: None,
        };
        let whole = kubernetes(&job(), &pod);
        assert_eq!(whole.matches("---\n").count(), 2, "{whole}");
        assert!(whole.contains("claimName: \"results\"") && whole.contains("kind: \"ConfigMap\""));
        assert!(
            whole.contains("\"/scenario/my-sweep.toml\"") && whole.contains("  my-sweep.toml: ")
        );
        let out = "s3://bucket/sweep".to_owned();
        let bare = Job { file: None, scenario: "vru".to_owned(), out, ..job() };
        let bare = kubernetes(&bare, &Pod { secret: Some("bucket-key".to_owned()), ..pod });
        assert!(bare.contains("complete: trackbed merge s3://bucket/sweep --out 'My Sweep'\n"));
        assert!(bare.contains("secretRef:") && bare.contains("name: \"bucket-key\""), "{bare}");
        assert!(!whole.contains("envFrom"), "{whole}");
        for safe in ["runAsNonRoot: true", "fsGroup: 65532", "allowPrivilegeEscalation: false"] {
            assert!(whole.contains(safe) && bare.contains(safe), "{safe}: {bare}");
        }
        assert!(!bare.contains("volumes:") && !bare.contains("ConfigMap"), "{bare}");
        assert!(bare.contains("\"run\",\"vru\",\"--runs\",\"100\""), "{bare}");
        assert!(bare.contains("\"--shard\",\"auto/8\""), "{bare}");
    }

    #[test]
    fn names_are_what_clusters_take() {
        for (name, expected) in
            [("vru", "trackbed-vru"), ("A b.c_", "trackbed-a-b-c"), ("ü", "trackbed")]
        {
            assert_eq!(label(name), expected);
        }
        assert_eq!(label(&"x".repeat(100)).len(), LABEL_CHARS_MAX);
    }
}
