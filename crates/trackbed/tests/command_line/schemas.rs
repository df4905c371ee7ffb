//! The schemas of input and output.

use super::support::cases;
use super::*;

/// `docs/schema` matches the registries and the types of results; `cargo xtask reference` updates it.
#[test]
fn the_committed_schemas_are_those_of_the_program() {
    let scratch = Scratch::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let refused = scratch.trackbed("list schema of-nothing").stderr;
    let (_, names) = refused.trim().rsplit_once("there are schemas of ").unwrap();
    for name in names.split(", ") {
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

/// Each value of a section of cases at its place is an error.
fn refuses(validator: &jsonschema::Validator, document: &Value, section: &str) {
    for row in cases(section) {
        let [place, wrong] = row[..] else { panic!("{row:?}") };
        let wrong = serde_json::from_str(wrong).unwrap();
        assert!(!validator.is_valid(&damaged(document, place, wrong)), "{place}");
    }
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
            let errors = errors(&validator, &json_of(&fs::read_to_string(&path).unwrap()));
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
    for (number, row) in cases("runs").iter().enumerate() {
        let [words, status] = row[..] else { panic!("{row:?}") };
        let out = format!("out-{number}");
        let ended = scratch.trackbed(&format!("run {words} --out {out}"));
        assert_eq!(ended.status.to_string(), status, "{words}: {}", ended.stderr);
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
    refuses(&validator, &run, "what the schema of runs refuses");
    assert!(!validator.is_valid(&json!({ "cell": 0, "run": 7 })));
}

#[test]
fn answers_are_what_the_schemas_say() {
    let scratch = scenario();
    scratch.succeed("run a.toml --set protocol=quic,tcp --runs 6 --out a");
    scratch.succeed("run a.toml --set protocol=quic,http2 --runs 6 --out b");
    for row in cases("answers") {
        let [name, words, places] = row[..] else { panic!("{row:?}") };
        let ended = scratch.trackbed(words);
        assert!([0, 1].contains(&ended.status), "{words}: {}", ended.stderr);
        let (document, validator) = (ended.json(), validator(name));
        assert_eq!(errors(&validator, &document), Vec::<String>::new(), "{words}");
        for place in places.split(' ').chain(["/schema"]) {
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
    refuses(&run, &document, "what the schema of results refuses");
    for key in ["schema", "trackbed", "cells", "plan", "differences", "checks"] {
        let mut damaged = document.clone();
        damaged.as_object_mut().unwrap().remove(key).unwrap();
        assert!(!run.is_valid(&damaged), "{key}");
    }
    // A field added by a later version is allowed.
    let mut later = document.clone();
    later["cells"][0]["weather"] = json!("rain");
    assert!(run.is_valid(&later));
    refuses(&about, &scratch.json("out/about.json"), "what the schema of about refuses");
}
