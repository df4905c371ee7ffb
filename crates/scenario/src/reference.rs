//! Every key of a scenario, for lists and the reference page, from the tables of the parser.

use std::collections::BTreeSet;

use trackbed_core::parameter::Kind;

use crate::field::{Field, SECOND, Shape, Slot};
use crate::schema::SCHEMA;
use crate::suggest;

/// A key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The dotted path, as `--set` takes it; a model's parameter includes the model:
    /// `link.delay.uniform.least`.
    pub path: String,
    /// An example value.
    pub example: String,
    /// The default.
    pub default: Option<String>,
    /// Whether it must be set: always, or where its table or model is used.
    pub required: bool,
    /// Whether a list or range of values makes an axis.
    pub sweeps: bool,
    /// What it means.
    pub help: String,
    /// What it belongs to: a table such as `link`, `workload: bulk` for a key of one kind of workload;
    /// empty for keys of the scenario itself.
    pub group: String,
}

/// Every key of a scenario, in the order of the parser's tables. `[link.up]`, `[link.down]`,
/// `[access]` and `[second-link]` appear once each; they take the keys of `[link]`.
pub fn reference() -> Vec<Key> {
    let mut keys = Vec::new();
    for field in &SCHEMA.top {
        match &field.shape {
            Shape::Section(fields) if !LIKE_LINK.contains(&field.name.as_str()) => {
                collect(&format!("{}.", field.name), fields, &mut keys);
            }
            Shape::Workload => {}
            // The other keys of a group are those of the scenario.
            Shape::Named(fields) => {
                let own = fields
                    .iter()
                    .filter(|field| !SCHEMA.top.iter().any(|top| top.name == field.name));
                own.for_each(|field| {
                    collect(&format!("{}.NAME.", "group"), std::slice::from_ref(field), &mut keys)
                });
            }
            _ => collect("", std::slice::from_ref(field), &mut keys),
        }
    }
    for (kind, fields) in &SCHEMA.workloads {
        let first = keys.len();
        collect("workload.", fields, &mut keys);
        for key in &mut keys[first..] {
            key.help = format!("{kind}: {}", key.help);
            key.group = format!("workload: {kind}");
        }
    }
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert((key.path.clone(), key.group.clone())));
    keys
}

/// The key nearest to `written`, if it is near enough to be meant.
pub fn nearest_key(written: &str) -> Option<String> {
    let keys = reference();
    let paths: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
    let sections = SCHEMA.top.iter().map(|field| field.name.as_str());
    let known: Vec<&str> = sections.chain(paths).collect();
    suggest::nearest(written, &known)
        .map(str::to_owned)
        .or_else(|| suggest::key("", written, &known))
}

/// The tables that take the keys of another one.
const LIKE_LINK: [&str; 2] = ["access", SECOND];

/// How a value is written: all choices if it is one of several words, else an example.
fn written(field: &Field) -> String {
    match field.shape.kind() {
        Some(kind @ (Kind::Choice(_) | Kind::Described(_))) => kind.example(),
        _ => field.example(),
    }
}

fn collect(prefix: &str, fields: &[Field], keys: &mut Vec<Key>) {
    let group = prefix.split_once('.').map_or("", |(section, _)| section).to_owned();
    for field in fields {
        let (sweeps, slot): (bool, Option<&Slot>) = match &field.shape {
            Shape::Fixed(_) | Shape::Section(_) | Shape::Workload | Shape::Named(_) => {
                (false, None)
            }
            Shape::Swept(kind) => (!kind.is_list(), None),
            Shape::Models(slot) => (true, Some(slot)),
        };
        let path = format!("{prefix}{}", field.name);
        keys.push(Key {
            path: path.clone(),
            example: written(field),
            default: field.otherwise.default_text().map(str::to_owned),
            required: field.is_required(),
            sweeps,
            help: field.help.to_owned(),
            group: group.clone(),
        });
        for model in slot.into_iter().flat_map(|slot| &slot.models) {
            let model_path = format!("{path}.{}", model.name);
            keys.push(Key {
                path: model_path.clone(),
                example: model.example(),
                default: None,
                required: false,
                sweeps: true,
                help: model.help.to_owned(),
                group: group.clone(),
            });
            collect(&format!("{model_path}."), &model.fields, keys);
        }
    }
}
