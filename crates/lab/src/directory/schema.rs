//! The files of a run directory as JSON Schemas (draft 2020-12), for programs that read them.
//!
//! They are made of the types that are written. A field may be added while a form keeps its number, so
//! whoever reads must let unknown ones pass, as the schemas do.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use trackbed_measure::results::{Document, RunResult, SCHEMA};

use super::About;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `run.json`, and what `run --json` prints.
    Document,
    /// One line of `runs.jsonl`.
    RunResult,
    /// `about.json`.
    About,
}

/// The schema of a file.
pub fn json_schema(form: Form) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let (file, title, schema) = match form {
        Form::Document => {
            ("run", "run.json of Trackbed", generator.into_root_schema_for::<Document>())
        }
        Form::RunResult => (
            "runs",
            "A line of runs.jsonl of Trackbed",
            generator.into_root_schema_for::<RunResult>(),
        ),
        Form::About => {
            ("about", "about.json of Trackbed", generator.into_root_schema_for::<About>())
        }
    };
    let mut all: Map<String, Value> = Map::new();
    let mut rest = schema.to_value();
    let rest = rest.as_object_mut().expect("a type with fields has a schema with properties");
    // An identifier, as schemas have them; it need not lead to a page.
    let identifier = format!("{}/schema/{SCHEMA}/{file}.json", env!("CARGO_PKG_REPOSITORY"));
    all.insert("$schema".to_owned(), rest.remove("$schema").unwrap_or_default());
    all.insert("$id".to_owned(), json!(identifier));
    all.append(rest);
    all.insert("title".to_owned(), json!(title));
    let mut schema = Value::Object(all);
    unfold(&mut schema);
    schema
}

/// Descriptions are comments of the source, which are broken where its lines end.
fn unfold(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            for (key, value) in keys {
                match value {
                    Value::String(text) if key == "description" => *text = text.replace('\n', " "),
                    other => unfold(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unfold),
        _ => {}
    }
}
