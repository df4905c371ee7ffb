//! Scenario files as a JSON Schema (draft 2020-12), for editors that complete and check TOML.
//!
//! It is made of the tables that drive the parser. What it cannot say (whether a quantity is written
//! well, and what does not go together), the parser does.

use serde_json::{Map, Value, json};
use trackbed_core::parameter::{Kind, Otherwise};

use super::schema::{Field, SCHEMA, Shape, Slot};

/// The schema of a scenario file.
pub fn json_schema() -> Value {
    let mut properties = properties(&SCHEMA.top);
    let required: Vec<&str> = ["workload"].into();
    let laid_over = Value::Object(properties.clone());
    let mut part = properties.clone();
    part.insert("name".to_owned(), text("the part's name"));
    part.insert("quick".to_owned(), table(laid_over.clone(), "what is smaller with --quick"));
    let part = json!({
        "type": "object", "properties": part, "required": ["name"], "additionalProperties": false,
    });
    properties.insert("quick".to_owned(), table(laid_over, "what is smaller with --quick"));
    let help = "parts of the scenario, each laid over what stands outside of them";
    properties
        .insert("part".to_owned(), json!({ "type": "array", "items": part, "description": help }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://trackbed.dev/schema/scenario-1.json",
        "title": "A Trackbed scenario",
        "type": "object",
        "properties": properties,
        // In a scenario with parts, each may have a workload of its own.
        "anyOf": [{ "required": required }, { "required": ["part"] }],
        "additionalProperties": false,
    })
}

fn properties(fields: &[Field]) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.clone(), described(field))).collect()
}

/// A key, with what it means and what holds without it.
fn described(field: &Field) -> Value {
    let mut schema = shape(&field.shape);
    schema["description"] = Value::from(field.help);
    if let Otherwise::Default(text) = field.otherwise {
        schema["default"] = Value::from(text);
    }
    schema
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Fixed(kind) => value(*kind),
        Shape::Swept(kind) => swept(value(*kind)),
        Shape::Models(slot) => swept(model(slot)),
        Shape::Section(fields) => table(Value::Object(properties(fields)), ""),
        Shape::Workload => workload(),
    }
}

/// A value of a kind. Quantities are texts with a unit, which the parser reads.
fn value(kind: Kind) -> Value {
    match kind {
        Kind::Count { min } => json!({ "type": "integer", "minimum": min }),
        Kind::Number => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Share => json!({ "type": ["string", "number"], "examples": [kind.example()] }),
        Kind::Counts => json!({ "type": ["array", "string", "integer"] }),
        Kind::Timetable => json!({ "type": ["array", "string"] }),
        Kind::Rate | Kind::Time | Kind::Size | Kind::Frequency => {
            json!({ "type": ["string", "integer"], "examples": [unquoted(kind)] })
        }
        Kind::File | Kind::Folder | Kind::Text => json!({ "type": "string", "minLength": 1 }),
    }
}

fn unquoted(kind: Kind) -> String {
    kind.example().trim_matches('"').to_owned()
}

/// One value, a list of values, or a range of quantities.
fn swept(one: Value) -> Value {
    let end = json!({ "type": ["string", "number"] });
    let points = json!({ "type": "integer", "minimum": 2 });
    let range = json!({
        "type": "object",
        "properties": { "from": end, "to": end, "step": end, "points": points },
        "required": ["from", "to"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }, range] })
}

/// A plain value, the name of a model, or a model with what it takes.
fn model(slot: &Slot) -> Value {
    let mut choices: Vec<Value> = slot
        .shorthands
        .iter()
        .map(|shorthand| match shorthand.word {
            Some(word) => json!({ "type": "string", "examples": [format!("100 {word}")] }),
            None => value(shorthand.kind),
        })
        .collect();
    let names: Vec<&str> = slot.models.iter().map(|model| model.name.as_str()).collect();
    choices.push(json!({ "enum": names }));
    choices.extend(slot.models.iter().map(|model| {
        let fields = table(Value::Object(properties(&model.fields)), "");
        let plain = model.only_field().map(|field| shape(&field.shape));
        let content: Vec<Value> = std::iter::once(fields).chain(plain).collect();
        let content = json!({ "anyOf": content, "description": model.help });
        json!({
            "type": "object", "properties": { &model.name: content },
            "required": [&model.name], "additionalProperties": false,
        })
    }));
    json!({ "anyOf": choices })
}

/// The keys of all workloads; which belong to which kind, the parser says.
fn workload() -> Value {
    let mut all: Map<String, Value> = Map::new();
    for (kind, fields) in &SCHEMA.workloads {
        for field in fields {
            let mut schema = described(field);
            if field.name != "kind" {
                schema["description"] = Value::from(format!("{kind}: {}", field.help));
            }
            match all.get_mut(&field.name) {
                None => {
                    all.insert(field.name.clone(), schema);
                }
                Some(known) if *known == schema => {}
                Some(known) if field.name == "kind" => *known = schema,
                Some(known) => {
                    let first = known.take();
                    *known = json!({ "anyOf": [first, schema] });
                }
            }
        }
    }
    table(Value::Object(all), "")
}

fn table(properties: Value, help: &str) -> Value {
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !help.is_empty() {
        schema["description"] = Value::from(help);
    }
    schema
}

fn text(help: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": help })
}
