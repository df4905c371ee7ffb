//! A JSON Schema (draft 2020-12) of scenario files, for editors that complete and check TOML.
//!
//! It is generated from the tables that drive the parser. Only the parser checks the syntax of
//! quantities and conflicts between keys.

use serde_json::{Map, Value, json};
use trackbed_core::parameter::{Kind, Otherwise};

use crate::field::{Field, Shape, Slot};
use crate::schema::SCHEMA;

/// The schema of a scenario file.
pub fn json_schema() -> Value {
    let mut definitions = Definitions::default();
    let mut keys = definitions.properties(&SCHEMA.top);
    let quick = definitions.table("quick", keys.clone(), "smaller values for --quick");
    keys.insert("quick".to_owned(), quick);
    let mut part = keys.clone();
    part.insert("name".to_owned(), json!({ "type": "string", "description": "the part's name" }));
    let mut part = object(part);
    part["required"] = json!(["name"]);
    let part = definitions.keep("part", part);
    let help = "parts of the scenario; each overrides the keys outside of them";
    let parts = json!({ "type": "array", "items": part, "description": help });
    keys.insert("part".to_owned(), parts);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Trackbed scenario",
        "type": "object",
        "properties": keys,
        // In a scenario with parts, each may have its own workload.
        "anyOf": [{ "required": ["workload"] }, { "required": ["part"] }],
        "additionalProperties": false,
        "$defs": definitions.0.into_iter().collect::<Map<String, Value>>(),
    })
}

/// Shared schemas: links alone appear in nine places.
#[derive(Default)]
struct Definitions(Vec<(String, Value)>);

impl Definitions {
    /// A reference to `schema`, stored under this name or a numbered one.
    fn keep(&mut self, name: &str, schema: Value) -> Value {
        let known = self.0.iter().find(|(_, known)| *known == schema);
        let name = match known {
            Some((name, _)) => name.clone(),
            None => {
                let like = |other: &str| {
                    let rest = other.strip_prefix(name).unwrap_or("x");
                    rest.is_empty()
                        || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
                };
                let count = self.0.iter().filter(|(other, _)| like(other)).count();
                let own =
                    if count == 0 { name.to_owned() } else { format!("{name}-{}", count + 1) };
                self.0.push((own.clone(), schema));
                own
            }
        };
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table(&mut self, name: &str, properties: Map<String, Value>, help: &str) -> Value {
        let mut reference = self.keep(name, object(properties));
        if !help.is_empty() {
            reference["description"] = Value::from(help);
        }
        reference
    }

    fn properties(&mut self, fields: &[Field]) -> Map<String, Value> {
        fields.iter().map(|field| (field.name.clone(), self.described(field))).collect()
    }

    fn described(&mut self, field: &Field) -> Value {
        let mut schema = self.shape(&field.name, &field.shape);
        schema["description"] = Value::from(field.help);
        if let Otherwise::Default(text) = field.otherwise {
            schema["default"] = Value::from(text);
        }
        schema
    }

    fn shape(&mut self, name: &str, shape: &Shape) -> Value {
        match shape {
            Shape::Fixed(kind) => value(*kind),
            Shape::Swept(kind) => {
                let (name, one) = (format!("{}-swept", name_of(*kind, name)), value(*kind));
                self.swept(&name, one)
            }
            Shape::Models(slot) => {
                let one = self.model(name, slot);
                self.swept(&format!("{name}-swept"), one)
            }
            Shape::Section(fields) => {
                let properties = self.properties(fields);
                self.table(name, properties, "")
            }
            Shape::Workload => self.workload(),
            Shape::Named(fields) => {
                let properties = self.properties(fields);
                let one = self.table(name, properties, "");
                json!({ "type": "object", "additionalProperties": one })
            }
        }
    }

    /// One value, a list of values, or a range of quantities.
    fn swept(&mut self, name: &str, one: Value) -> Value {
        let end = json!({ "type": ["string", "number"] });
        let points = json!({ "type": "integer", "minimum": 2 });
        let range = json!({
            "type": "object",
            "properties": { "from": end, "to": end, "step": end, "points": points },
            "required": ["from", "to"],
            "additionalProperties": false,
        });
        let range = self.keep("range", range);
        let list = json!({ "type": "array", "items": one, "minItems": 1 });
        self.keep(name, json!({ "anyOf": [one, list, range] }))
    }

    /// A plain value, the name of a model, or a model with its parameters.
    fn model(&mut self, name: &str, slot: &Slot) -> Value {
        let shorthand = |shorthand: &crate::field::Shorthand| match shorthand.word {
            Some(word) => json!({ "type": "string", "examples": [format!("100 {word}")] }),
            None => value(shorthand.kind),
        };
        let mut choices: Vec<Value> = slot.shorthands.iter().map(shorthand).collect();
        let names: Vec<&str> = slot.models.iter().map(|model| model.name.as_str()).collect();
        choices.push(json!({ "enum": names }));
        for model in &slot.models {
            let properties = self.properties(&model.fields);
            let mut content = vec![self.table(&model.name, properties, "")];
            if let Some(field) = model.only_field() {
                content.push(self.shape(&field.name, &field.shape));
            }
            let content = json!({ "anyOf": content, "description": model.help });
            choices.push(json!({
                "type": "object", "properties": { &model.name: content },
                "required": [&model.name], "additionalProperties": false,
            }));
        }
        self.keep(name, json!({ "anyOf": choices }))
    }

    /// The keys of all workloads; the parser checks which belong to which kind.
    fn workload(&mut self) -> Value {
        let mut all: Map<String, Value> = Map::new();
        for (kind, fields) in &SCHEMA.workloads {
            for field in fields {
                let mut schema = self.described(field);
                if field.name == "kind" {
                    all.insert(field.name.clone(), schema);
                    continue;
                }
                schema["description"] = Value::from(format!("{kind}: {}", field.help));
                let any = all.entry(field.name.clone()).or_insert_with(|| json!({ "anyOf": [] }));
                any["anyOf"].as_array_mut().expect("it was made as one").push(schema);
            }
        }
        self.table("workload", all, "")
    }
}

/// A value of a kind. Quantities are strings with a unit, which the parser checks.
fn value(kind: Kind) -> Value {
    match kind {
        Kind::Count { min } => json!({ "type": "integer", "minimum": min }),
        Kind::Number => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Decibels { min } => {
            json!({ "type": ["string", "number"], "minimum": min, "examples": ["3 dB"] })
        }
        Kind::Flag => json!({ "type": "boolean" }),
        // TOML has words for both.
        Kind::Choice(words) if words.contains(&"true") => {
            json!({ "anyOf": [{ "type": "boolean" }, { "enum": words }] })
        }
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Described(words) => {
            // In a list a table is a text.
            let text = json!({ "type": "string", "pattern": "(\\.json|\\})$" });
            json!({ "anyOf": [{ "enum": words }, text, { "type": "object" }] })
        }
        Kind::Counts => json!({ "type": ["array", "string", "integer"] }),
        Kind::Timetable => json!({ "type": ["array", "string"] }),
        Kind::Share => {
            json!({ "type": ["string", "number"], "examples": [kind.example().trim_matches('"')] })
        }
        Kind::Rate | Kind::Time | Kind::Size | Kind::Frequency => {
            json!({ "type": ["string", "integer"], "examples": [kind.example().trim_matches('"')] })
        }
        Kind::File | Kind::Folder | Kind::Text => json!({ "type": "string", "minLength": 1 }),
    }
}

/// The name of the schema of a kind; choices are named after their key.
fn name_of(kind: Kind, key: &str) -> &str {
    match kind {
        Kind::Rate => "rate",
        Kind::Time => "time",
        Kind::Share => "share",
        Kind::Size => "size",
        Kind::Count { .. } => "count",
        Kind::Number => "number",
        Kind::Decibels { .. } => "decibels",
        Kind::Frequency => "frequency",
        Kind::Choice(_) | Kind::Described(_) => key,
        Kind::Flag => "flag",
        Kind::Counts => "counts",
        Kind::Timetable => "timetable",
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Text => "text",
    }
}

fn object(properties: Map<String, Value>) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
