//! JSON Schemas (draft 2020-12) of the JSON output, for programs that read it.
//!
//! They are generated from the written types. A field may be added without a new version of the
//! format, so readers must ignore unknown fields, as the schemas do.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::results::{SCHEMA, factors};

/// The schema of a written `T`: its name, as in `docs/schema/NAME.json`, and its title.
pub fn json_schema<T: JsonSchema>(name: &str, title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut rest = generator.into_root_schema_for::<T>().to_value();
    let rest = rest.as_object_mut().expect("a type with fields has a schema with properties");
    let mut all: Map<String, Value> = Map::new();
    // A schema's identifier; it need not be a reachable page.
    let identifier = format!("{}/schema/{SCHEMA}/{name}.json", env!("CARGO_PKG_REPOSITORY"));
    all.insert("$schema".to_owned(), rest.remove("$schema").unwrap_or_default());
    all.insert("$id".to_owned(), json!(identifier));
    all.append(rest);
    all.insert("title".to_owned(), json!(title));
    let mut schema = Value::Object(all);
    unfold(&mut schema);
    schema
}

/// Descriptions come from source comments; this joins their lines.
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

/// The output of `trackbed plan --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The plan's fingerprint: equal plans give equal results.
    pub plan: String,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The cells, in the plan's order.
    pub cells: Vec<PlannedCell>,
}

/// One combination of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCell {
    /// The factors by name, in the order of the scenario: numbers, or words.
    #[schemars(schema_with = "factors")]
    pub factors: Map<String, Value>,
}
