//! What a key of a scenario takes: a value, models, or a table.

use trackbed_core::parameter::{Kind, Otherwise, Parameter};
use trackbed_net::Stage;
use trackbed_net::medium::MediumEntry;
use trackbed_net::queue::QueueEntry;
use trackbed_net::spec::ModelEntry;

use crate::tree::{Content, Node};

#[derive(Debug)]
pub(crate) struct Field {
    /// In kebab-case; a scenario may write `_` for `-`.
    pub name: String,
    /// The name that the registry's entry knows it by.
    pub target: &'static str,
    pub shape: Shape,
    pub otherwise: Otherwise,
    pub help: &'static str,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// One value for the whole scenario.
    Fixed(Kind),
    /// A value, or a list or range of values: an axis.
    Swept(Kind),
    /// Models, or a list of such: an axis.
    Models(Slot),
    Section(Vec<Field>),
    /// The table whose keys depend on its `kind`.
    Workload,
    /// A table of tables with these keys, each under a name of the user's.
    Named(Vec<Field>),
}

/// A place in a link that takes models of one stage.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The plain values that stand for a model.
    pub shorthands: Vec<Shorthand>,
    /// The plain model first.
    pub models: Vec<Model>,
}

/// A plain value that stands for a model: `"5 ms"` for a fixed delay.
#[derive(Debug)]
pub(crate) struct Shorthand {
    pub kind: Kind,
    /// A word that may follow the number, as in `100 packets`.
    pub word: Option<&'static str>,
    /// The parameter of the plain model.
    pub target: &'static str,
}

/// A model that a scenario can name, and what it takes.
#[derive(Debug)]
pub(crate) struct Model {
    pub name: String,
    pub help: &'static str,
    pub fields: Vec<Field>,
    pub entry: Entry,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    Link(&'static ModelEntry),
    Queue(&'static QueueEntry),
    Medium(&'static MediumEntry),
}

impl Model {
    /// How a scenario writes it, with its required parameters or else those of the registry's example.
    pub fn example(&self) -> String {
        let any = self.fields.iter().any(Field::is_required);
        let is_shown =
            |field: &&Field| if any { field.is_required() } else { self.value(field).is_some() };
        let fields = self.fields.iter().filter(is_shown);
        let fields: Vec<String> =
            fields.map(|field| format!("{} = {}", field.name, self.example_of(field))).collect();
        match fields.is_empty() {
            true => format!("\"{}\"", self.name),
            false => format!("{{ {} = {{ {} }} }}", self.name, fields.join(", ")),
        }
    }

    /// A parameter's value as written in a scenario.
    pub fn example_of(&self, field: &Field) -> String {
        self.value(field).map_or_else(|| field.example(), |value| format!("\"{value}\""))
    }

    /// Its value in the registry's example, unless that is the content of a file.
    fn value(&self, field: &Field) -> Option<&'static str> {
        let example = match self.entry {
            Entry::Link(entry) => entry.example,
            Entry::Medium(entry) => entry.example,
            Entry::Queue(_) => return None,
        };
        let is_quantity = matches!(field.shape.kind(), Some(Kind::Share | Kind::Time));
        let found = example.iter().find(|(name, _)| *name == field.target);
        found.filter(|_| is_quantity).map(|(_, value)| *value)
    }

    /// The parameter that suffices alone, if the others are optional.
    pub fn only_field(&self) -> Option<&Field> {
        let (first, rest) = self.fields.split_first()?;
        rest.iter().all(|field| !field.is_required()).then_some(first)
    }
}

impl Shorthand {
    pub fn example(&self) -> String {
        match self.word {
            Some(word) => format!("\"100 {word}\""),
            None => self.kind.example(),
        }
    }
}

impl Field {
    /// A key that the registry's entry calls `name`.
    pub fn new(
        name: &'static str,
        shape: Shape,
        otherwise: Otherwise,
        help: &'static str,
    ) -> Field {
        Field { name: kebab(name), target: name, shape, otherwise, help }
    }

    /// A key that has one value for the whole scenario.
    pub fn fixed(parameter: &Parameter) -> Field {
        let &Parameter { name, kind, otherwise, help } = parameter;
        Field::new(name, Shape::Fixed(kind), otherwise, help)
    }

    /// A key that may be an axis.
    pub fn swept(parameter: &Parameter) -> Field {
        let &Parameter { name, kind, otherwise, help } = parameter;
        Field::new(name, Shape::Swept(kind), otherwise, help)
    }

    /// Whether the scenario must set it.
    pub fn is_required(&self) -> bool {
        self.otherwise == Otherwise::Required
    }

    /// An example value as written in a scenario.
    pub fn example(&self) -> String {
        match &self.shape {
            Shape::Fixed(kind) | Shape::Swept(kind) => {
                match (kind, self.otherwise.default_text()) {
                    (Kind::Choice([first, ..]), _) => format!("\"{first}\""),
                    // The kind alone does not show what the text must contain.
                    (Kind::Text, Some(default)) => format!("\"{default}\""),
                    (kind, _) => kind.example(),
                }
            }
            Shape::Models(slot) => {
                slot.shorthands.first().map_or_else(|| slot.examples(), Shorthand::example)
            }
            Shape::Section(_) | Shape::Workload => format!("[{}]", self.name),
            Shape::Named(_) => format!("[{}.NAME]", self.name),
        }
    }
}

impl Shape {
    /// The kind of its plain value.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Shape::Fixed(kind) | Shape::Swept(kind) => Some(*kind),
            Shape::Models(_) | Shape::Section(_) | Shape::Workload | Shape::Named(_) => None,
        }
    }

    /// Whether a list of these items is an axis rather than one value.
    pub fn is_axis(&self, items: &[Node]) -> bool {
        let no_table = || items.iter().all(|item| !matches!(item.content, Content::Table(_)));
        match self {
            Shape::Fixed(_) => false,
            Shape::Swept(kind) => !kind.is_list(),
            Shape::Models(slot) => match &slot.shorthands[..] {
                [shorthand] if shorthand.kind.is_list() => !no_table(),
                _ => true,
            },
            Shape::Section(_) | Shape::Workload | Shape::Named(_) => true,
        }
    }
}

impl Slot {
    /// The accepted values, for messages.
    pub fn examples(&self) -> String {
        let plain: Vec<String> = self.shorthands.iter().map(Shorthand::example).collect();
        if plain.is_empty() {
            let models: Vec<String> = self.models.iter().map(Model::example).collect();
            return models.join(" or ");
        }
        match self.other_models() {
            Some(models) => format!("{}, or a model: {models}", plain.join(" or ")),
            None => plain.join(" or "),
        }
    }

    /// The models other than the plain one.
    pub fn other_models(&self) -> Option<String> {
        let names: Vec<&str> = self.models.iter().skip(1).map(|m| m.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// The dotted path of a table's key that the registry's entry calls `name`.
pub(crate) fn path(section: &str, name: &str) -> String {
    format!("{section}.{}", kebab(name))
}

/// The key in the form used for comparison: `_` and `-` are equivalent.
pub(crate) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// The keys of the models of each stage.
pub(crate) const STAGES: [(Stage, &str, &str); 10] = [
    (Stage::Queue, "rate", "link rate; default: unlimited"),
    (Stage::Delay, "delay", "one-way propagation delay; default: none"),
    (Stage::Loss, "loss", "packet loss; default: none"),
    (Stage::Outage, "outage", "times at which every packet is lost"),
    (Stage::Pause, "pause", "times at which nothing is sent and packets are queued"),
    (Stage::Flush, "flush", "times at which queued packets are dropped"),
    (Stage::Corruption, "corruption", "packet corruption"),
    (Stage::Duplication, "duplication", "packet duplication"),
    (Stage::Reordering, "reordering", "packet reordering"),
    (
        Stage::Background,
        "background",
        "traffic of others, which takes part of the queue and the rate",
    ),
];

/// The key of what phones share before the shared link.
pub(crate) const MEDIUM: &str = "medium";

pub(crate) const SECOND: &str = "second-link";
