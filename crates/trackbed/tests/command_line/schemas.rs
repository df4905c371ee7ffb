//! The schemas of input and output.

use super::support::cases;
use super::*;

const SCHEMAS: [&str; 12] = [
    "scenario",
    "run",
    "runs",
    "about",
    "compare",
    "agree",
    "advise",
    "paper",
    "plan",
    "verify-results",
    "verify",
    "doctor",
];

/// `docs/schema` matches the registries and the types of results; `cargo xtask reference` updates it.
#[test]
fn the_committed_schemas_are_those_of_the_program() {
    let scratch = Scratch::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for name in SCHEMAS {
        let printed = scratch.succeed(&format!("list schema {name}")).stdout;
        let path = folder.join(format!("{name}.json"));
        if std::env::var_os("TRACKBED_BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &printed).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == printed,
            "docs/schema/{name}.json is out of date: cargo xtask reference"
        );
    }
    assert!(
        scratch.succeed("list schema").stdout == scratch.succeed("list schema scenario").stdout
    );
    scratch.trackbed("list metrics runs").says(2, &["trackbed list schema"]);
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema = Scratch::new().succeed(&format!("list schema {name}")).json();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
    jsonschema::validator_for(&schema).unwrap()
}

fn errors(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|why| format!("{}: {why}", why.instance_path())).collect()
}

/// The document with another value at a place.
fn damaged(document: &Value, place: &str, wrong: Value) -> Value {
    let mut damaged = document.clone();
    let value = damaged.pointer_mut(place);
    *value.unwrap_or_else(|| panic!("no {place} in {document:#}")) = wrong;
    damaged
}

fn json_of(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

#[test]
fn scenarios_are_what_the_schema_says_and_mistakes_are_not() {
    let validator = validator("scenario");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let scenario = json_of(&fs::read_to_string(&path).unwrap());
            let errors = errors(&validator, &scenario);
            assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
            count += 1;
        }
    }
    assert!(count >= 8, "{count}");
    assert!(validator.is_valid(&json_of(SCENARIO)));
    for row in cases("what the schema of scenarios refuses") {
        let [right, wrong] = row[..] else { panic!("{row:?}") };
        let text = SCENARIO.replace(right, wrong);
        assert_ne!(text, SCENARIO);
        assert!(!validator.is_valid(&json_of(&text)), "{wrong}");
    }
}

/// Runs that succeed and that fail, with several workloads.
#[test]
fn results_are_what_the_schemas_say() {
    let scratch = scenario();
    let [run, runs, about] = ["run", "runs", "about"].map(validator);
    for (number, (words, status)) in RUNS.iter().enumerate() {
        let out = format!("out-{number}");
        let ended = scratch.trackbed(&format!("run {words} --out {out}"));
        assert_eq!(ended.status, *status, "{words}: {}", ended.stderr);
        let hold = |validator: &jsonschema::Validator, value: &Value| {
            let errors = errors(validator, value);
            assert!(errors.is_empty(), "{words}: {errors:#?} in {value}");
        };
        hold(&run, &scratch.json(&format!("{out}/run.json")));
        hold(&about, &scratch.json(&format!("{out}/about.json")));
        let lines = scratch.read(&format!("{out}/runs.jsonl"));
        lines.lines().for_each(|line| hold(&runs, &serde_json::from_str(line).unwrap()));
        assert!(lines.lines().count() > 0, "{words}");
    }
}

/// Small runs, and their exit status.
const RUNS: [(&str, i32); 7] = [
    ("a.toml --runs 1", 0),
    ("a.toml --set protocol=quic,tcp --set link.loss=0,3% --runs 3", 0),
    ("a.toml --set link.loss=1 --set workload.timeout=1s", 1),
    ("vru --runs 2", 0),
    ("web --runs 1", 0),
    ("migration --runs 1", 0),
    ("edge --quick --runs 1 --substrate virtual", 0),
];

/// A certificate as in runs in real time.
#[test]
fn certificates_are_what_the_schema_says() {
    let validator = validator("runs");
    let run = json!({
        "cell": 0, "run": 7, "outcome": { "samples": { "rtt_ms": [10.5, 11.0] } },
        "certificate": {
            "verdict": "suspect", "packets": 12, "late_p50_us": 8.0, "late_p99_us": 90.5,
            "late_max_us": 1200.0, "late_percent": 8.3, "overflowed": 0, "processor_ms": 1.5,
            "late": ["links", "client"], "client_wait_percent": 2.0, "server_wait_percent": 0.1,
            "histogram": [[1.0, 4], [2.0, 8]],
        },
    });
    assert_eq!(errors(&validator, &run), Vec::<String>::new());
    for (place, wrong) in [
        ("/cell", json!(-1)),
        ("/run", json!("7")),
        ("/outcome", json!("ok")),
        ("/outcome/samples", json!([1.0])),
        ("/outcome/samples/rtt_ms", json!([10.5, null])),
        ("/certificate/verdict", json!("fine")),
        ("/certificate/histogram", json!([[1.0]])),
    ] {
        assert!(!validator.is_valid(&damaged(&run, place, wrong)), "{place}");
    }
    assert!(!validator.is_valid(&json!({ "cell": 0, "run": 7 })));
}

#[test]
fn answers_are_what_the_schemas_say() {
    let scratch = scenario();
    scratch.succeed("run a.toml --set protocol=quic,tcp --runs 6 --out a");
    scratch.succeed("run a.toml --set protocol=quic,http2 --runs 6 --out b");
    for (name, words) in [
        ("compare", "compare a b --json"),
        ("compare", "compare a a --metric completion_ms --metric throughput_mbps --json"),
        ("advise", "advise a --need completion<20ms --json"),
        ("advise", "advise a --need completion<0.8baseline --baseline protocol=tcp --json"),
        ("paper", "paper vru --runs 1 --json"),
        ("paper", "paper edge --quick --runs 1 --substrate virtual --json"),
        ("plan", "plan a.toml --set link.loss=0,2% --json"),
        ("verify-results", "verify-results a --json"),
        ("verify", "verify --library trackbed --threads 1,2 --count 64 --keys 2 --json"),
    ] {
        let ended = scratch.trackbed(words);
        assert!([0, 1].contains(&ended.status), "{words}: {}", ended.stderr);
        let (document, validator) = (ended.json(), validator(name));
        assert_eq!(errors(&validator, &document), Vec::<String>::new(), "{words}");
        let places: &[&str] = match name {
            "paper" => &["/cells/0/metrics", "/paper", "/paper/statements/0/verdict"],
            "plan" => &["/cells", "/cells/0/factors/loss", "/plan"],
            "verify-results" => &["/repeated", "/different", "/summary"],
            "verify" => &["/cells/2/division", "/cells/0/us_per_verification", "/study/0/board"],
            _ => &["/cells", "/cells/0/verdict"],
        };
        for place in places.iter().chain(&["/schema"]) {
            let damaged = damaged(&document, place, json!([["maybe"]]));
            assert!(!validator.is_valid(&damaged), "{words}: {place}");
        }
    }
}

#[test]
fn damaged_results_are_not_what_the_schemas_say() {
    let scratch = scenario();
    scratch.succeed("run a.toml --set protocol=quic,tcp --runs 6 --out out");
    let [run, about] = ["run", "about"].map(validator);
    let document = scratch.json("out/run.json");
    for (place, wrong) in [
        ("/schema", json!(2)),
        ("/seed", json!("1")),
        ("/runs", json!(2.5)),
        ("/cells", json!({})),
        ("/cells/0/factors/protocol", json!(["quic"])),
        ("/cells/0/failed", Value::Null),
        ("/cells/0/metrics/completion_ms", json!(30.0)),
        ("/cells/0/metrics/completion_ms/mean", Value::Null),
        ("/cells/0/metrics/completion_ms/ci95", json!([1.0])),
        ("/cells/1/metrics/completion_ms/n", json!(-3)),
        ("/differences/0/verdict", json!("maybe")),
        ("/checks/0/pass", json!("yes")),
    ] {
        assert!(!run.is_valid(&damaged(&document, place, wrong)), "{place}");
    }
    for key in ["schema", "trackbed", "cells", "plan", "differences", "checks"] {
        let mut damaged = document.clone();
        damaged.as_object_mut().unwrap().remove(key).unwrap();
        assert!(!run.is_valid(&damaged), "{key}");
    }
    // A field added by a later version is allowed.
    let mut later = document.clone();
    later["cells"][0]["weather"] = json!("rain");
    assert!(run.is_valid(&later));
    let made = scratch.json("out/about.json");
    for (key, wrong) in
        [("/command", json!("trackbed run")), ("/runs", json!(-1)), ("/plan", json!(1))]
    {
        assert!(!about.is_valid(&damaged(&made, key, wrong)), "{key}");
    }
}
