//! Which keys a scenario takes. The tables come from the registries; the parser, its error
//! messages and the reference page are all driven by them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use trackbed_core::parameter::{Kind, Otherwise, Parameter};
use trackbed_net::Stage;
use trackbed_net::queue::{QUEUES, QueueEntry, SELECTOR};
use trackbed_net::spec::{MODELS, ModelEntry};

use super::endpoint;
use super::environment;
use super::inference;
use super::mqtt;
use super::plan::Home;
use super::programs;
use super::radio;
use super::tree::{Content, Node};
use crate::paper;

/// The keys of every table.
pub(super) static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::new);

/// The keys of a scenario, table by table.
#[derive(Debug)]
pub(super) struct Schema {
    /// The keys before the first table, and the tables.
    pub top: Vec<Field>,
    /// The keys of `[workload]`, for each kind of workload.
    pub workloads: BTreeMap<&'static str, Vec<Field>>,
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Field {
    /// In kebab-case; a scenario may write `_` for `-`.
    pub name: String,
    /// The name that the registry's entry knows it by.
    pub target: &'static str,
    pub shape: Shape,
    pub otherwise: Otherwise,
    pub help: &'static str,
}

/// What stands behind a key.
#[derive(Debug)]
pub(super) enum Shape {
    /// One value for the whole scenario.
    Fixed(Kind),
    /// A value, or a list or range of values: an axis.
    Swept(Kind),
    /// Models, or a list of such: an axis.
    Models(Slot),
    /// A table of its own.
    Section(Vec<Field>),
    /// The table whose keys depend on its `kind`.
    Workload,
}

/// A place in a link at which models of one stage stand.
#[derive(Debug)]
pub(super) struct Slot {
    /// What a plain value stands for.
    pub shorthands: Vec<Shorthand>,
    /// The plain one first.
    pub models: Vec<Model>,
}

/// A plain value that stands for a model: `"5 ms"` for a fixed delay.
#[derive(Debug)]
pub(super) struct Shorthand {
    pub kind: Kind,
    /// A word that may follow the number, as in `100 packets`.
    pub word: Option<&'static str>,
    /// The parameter of the plain model.
    pub target: &'static str,
}

/// A model that a scenario can name, and what it takes.
#[derive(Debug)]
pub(super) struct Model {
    pub name: String,
    pub help: &'static str,
    pub fields: Vec<Field>,
    pub entry: Entry,
}

/// Where a model comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Link(&'static ModelEntry),
    Queue(&'static QueueEntry),
}

impl Schema {
    fn new() -> Schema {
        let mut top: Vec<Field> = general().iter().map(Field::fixed).collect();
        top.extend(endpoint::parameters().iter().map(Field::swept));
        top.extend(mqtt::parameters().iter().map(Field::swept));
        top.extend(programs::parameters().iter().map(Field::swept));
        let link_help = "the link that all phones share; it has both directions";
        let access_help = "a link of each phone's own, between it and the shared one";
        let (needed, optional) = (Otherwise::Required, Otherwise::Absent);
        top.push(Field::new("link", Shape::Section(link()), needed, link_help));
        top.push(Field::new("access", Shape::Section(link()), optional, access_help));
        let second_help = "a second way from each phone to the server, over an address of its own, for \
                           protocols that use several; it takes the keys of [link]";
        top.push(Field::new(SECOND, Shape::Section(link()), optional, second_help));
        let radio_help = "a train between the base stations of one or two operators, whose links it \
                          makes; in place of [link]";
        top.push(Field::new(radio::SECTION, Shape::Section(radio::fields()), optional, radio_help));
        let help = "what changes during a run: link delay, reconnections, where viewers jump to";
        let environment = Shape::Section(environment::fields());
        top.push(Field::new(environment::SECTION, environment, optional, help));
        let help = "what computes beside the communication on the clients' machine, and is timed; what \
                    both use is then read every second";
        let fields = Shape::Section(inference::fields());
        top.push(Field::new(inference::SECTION, fields, optional, help));
        top.push(Field::new("workload", Shape::Workload, needed, "what is sent"));
        Schema { top, workloads: workloads() }
    }
}

impl Model {
    /// How a scenario writes it, with what it cannot do without.
    pub fn example(&self) -> String {
        let fields = self.fields.iter().filter(|field| field.is_required());
        let fields: Vec<String> =
            fields.map(|field| format!("{} = {}", field.name, field.example())).collect();
        match fields.is_empty() {
            true => format!("\"{}\"", self.name),
            false => format!("{{ {} = {{ {} }} }}", self.name, fields.join(", ")),
        }
    }

    /// The parameter that says all, if the others need not be written.
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
    fn new(name: &'static str, shape: Shape, otherwise: Otherwise, help: &'static str) -> Field {
        Field { name: kebab(name), target: name, shape, otherwise, help }
    }

    /// A key that has one value for the whole scenario.
    fn fixed(parameter: &Parameter) -> Field {
        let &Parameter { name, kind, otherwise, help } = parameter;
        Field::new(name, Shape::Fixed(kind), otherwise, help)
    }

    /// A key that may be an axis.
    pub fn swept(parameter: &Parameter) -> Field {
        let &Parameter { name, kind, otherwise, help } = parameter;
        Field::new(name, Shape::Swept(kind), otherwise, help)
    }

    /// Whether it must be written.
    pub fn is_required(&self) -> bool {
        self.otherwise == Otherwise::Required
    }

    /// How a value is written.
    pub fn example(&self) -> String {
        match &self.shape {
            Shape::Fixed(kind) | Shape::Swept(kind) => {
                match (kind, self.otherwise.default_text()) {
                    (Kind::Choice([first, ..]), _) => format!("\"{first}\""),
                    // What a text is to say, its kind does not know.
                    (Kind::Text, Some(default)) => format!("\"{default}\""),
                    (kind, _) => kind.example(),
                }
            }
            Shape::Models(slot) => {
                slot.shorthands.first().map_or_else(|| slot.examples(), Shorthand::example)
            }
            Shape::Section(_) | Shape::Workload => format!("[{}]", self.name),
        }
    }
}

impl Shape {
    /// Whether a list of these items is an axis, and not one value.
    pub fn is_axis(&self, items: &[Node]) -> bool {
        let no_table = || items.iter().all(|item| !matches!(item.content, Content::Table(_)));
        match self {
            Shape::Fixed(_) => false,
            Shape::Swept(kind) => !kind.is_list(),
            Shape::Models(slot) => match &slot.shorthands[..] {
                [shorthand] if shorthand.kind.is_list() => !no_table(),
                _ => true,
            },
            Shape::Section(_) | Shape::Workload => true,
        }
    }
}

impl Slot {
    /// What may stand here, for messages.
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

    /// The models that no plain value stands for.
    pub fn other_models(&self) -> Option<String> {
        let names: Vec<&str> = self.models.iter().skip(1).map(|m| m.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// The key as it is compared: `_` and `-` are the same.
pub(super) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// The keys of the scenario as a whole.
fn general() -> [Parameter; 6] {
    static PAPERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| paper::names().collect());
    let name_help = "the scenario's name in results; without it the file's name";
    let paper_help = "the study whose figures are printed beside the results";
    let home_help = "where the runs happen unless --substrate says otherwise";
    let (runs, seed) = (Kind::Count { min: 1 }, Kind::Count { min: 0 });
    [
        Parameter::optional("name", Kind::Text, name_help),
        Parameter::optional("summary", Kind::Text, "one line that says what is compared"),
        Parameter::optional("paper", Kind::Choice(&PAPERS), paper_help),
        Parameter::with_default("substrate", Kind::Choice(&Home::NAMES), "virtual", home_help),
        Parameter::with_default("runs", runs, "30", "how many runs each cell has"),
        Parameter::with_default("seed", seed, "1", "where all randomness comes from"),
    ]
}

fn workloads() -> BTreeMap<&'static str, Vec<Field>> {
    static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        trackbed_workloads::registry().iter().map(|workload| workload.name()).collect()
    });
    let fields = |parameters: &[Parameter]| {
        let kind = Parameter::required("kind", Kind::Choice(&KINDS), "which workload");
        std::iter::once(Field::fixed(&kind)).chain(parameters.iter().map(Field::swept)).collect()
    };
    let registry = trackbed_workloads::registry().iter();
    registry.map(|workload| (workload.name(), fields(workload.parameters()))).collect()
}

fn link() -> Vec<Field> {
    let mut fields = direction();
    let help = "the largest packet that the link takes, IP header included; 1280 B to 65535 B";
    fields.push(Field::swept(&Parameter::with_default("mtu", Kind::Size, "1500 B", help)));
    for (name, help) in [
        ("up", "the same keys, from the phone to the server"),
        ("down", "the same keys, from the server to the phone"),
    ] {
        fields.push(Field::new(name, Shape::Section(direction()), Otherwise::Absent, help));
    }
    fields
}

/// The keys under which the models of each stage stand.
pub(super) const STAGES: [(Stage, &str, &str); 9] = [
    (Stage::Queue, "rate", "how fast packets are sent; without it, infinitely fast"),
    (Stage::Delay, "delay", "how long packets are on the way, in one direction"),
    (Stage::Loss, "loss", "which packets are lost"),
    (Stage::Outage, "outage", "when nothing gets through"),
    (Stage::Pause, "pause", "when nothing is sent, and packets wait"),
    (Stage::Flush, "flush", "when the queue loses what waits in it"),
    (Stage::Corruption, "corruption", "which packets are damaged"),
    (Stage::Duplication, "duplication", "which packets arrive twice"),
    (Stage::Reordering, "reordering", "which packets are overtaken"),
];

fn direction() -> Vec<Field> {
    let mut fields = Vec::new();
    for (stage, name, help) in STAGES {
        let entries = MODELS.iter().filter(|entry| entry.stage() == stage);
        let models: Vec<Model> = entries.map(|entry| link_model(entry, name)).collect();
        if !models.is_empty() {
            let slot = Slot { shorthands: link_shorthands(&models), models };
            fields.push(Field::new(name, Shape::Models(slot), Otherwise::Absent, help));
        }
    }
    let models: Vec<Model> = QUEUES.iter().map(|entry| queue_model(entry)).collect();
    let slot = Slot { shorthands: queue_shorthands(&models), models };
    let help = "who may wait while another packet is sent";
    let default = Otherwise::Default("100 packets");
    fields.push(Field::new(SELECTOR.name, Shape::Models(slot), default, help));
    fields
}

/// A model may be named without the stage's name: `delay = { uniform = ... }` for `uniform-delay`.
fn link_model(entry: &'static ModelEntry, stage: &str) -> Model {
    let name = kebab(entry.name);
    let short = name.strip_suffix(stage).or_else(|| name.strip_prefix(stage));
    let short = short.map(|short| short.trim_matches('-')).filter(|short| !short.is_empty());
    Model {
        name: short.unwrap_or(&name).to_owned(),
        help: entry.summary,
        fields: entry.parameters.iter().map(|p| owned(p, &[entry.name])).collect(),
        entry: Entry::Link(entry),
    }
}

fn queue_model(entry: &'static QueueEntry) -> Model {
    let owners = [entry.name, SELECTOR.name];
    Model {
        name: kebab(entry.name),
        help: entry.summary,
        fields: entry.parameters.iter().map(|p| owned(p, &owners)).collect(),
        entry: Entry::Queue(entry),
    }
}

/// A parameter as a scenario calls it: without its owner's name, as it stands inside the owner's
/// table.
fn owned(parameter: &Parameter, owners: &[&str]) -> Field {
    let field = Field::swept(parameter);
    let mut owners = owners.iter().map(|owner| format!("{}-", kebab(owner)));
    let short = owners.find_map(|owner| field.name.strip_prefix(owner.as_str()).map(str::to_owned));
    Field { name: short.unwrap_or_else(|| field.name.clone()), ..field }
}

/// The first model of a stage is the plain one; where one parameter says all, a value suffices.
fn link_shorthands(models: &[Model]) -> Vec<Shorthand> {
    let only = models.first().and_then(Model::only_field);
    let Some(Field { shape: Shape::Swept(kind), target, .. }) = only else { return Vec::new() };
    vec![Shorthand { kind: *kind, word: None, target }]
}

/// The parameters of the plain queue are its limits: `100 packets`, `150 kB`.
fn queue_shorthands(models: &[Model]) -> Vec<Shorthand> {
    let fields = models.first().into_iter().flat_map(|model| &model.fields);
    let shorthand = |field: &Field| {
        let Shape::Swept(kind) = field.shape else { return None };
        let word = match kind {
            Kind::Count { .. } => field.target.strip_prefix("queue_"),
            _ => None,
        };
        Some(Shorthand { kind, word, target: field.target })
    };
    fields.filter_map(shorthand).collect()
}

/// The table of the second link.
pub(super) const SECOND: &str = "second-link";

/// The default of a whole number at the top.
pub(super) fn default_count(name: &str) -> Option<u64> {
    let field = SCHEMA.top.iter().find(|field| field.name == name)?;
    field.otherwise.default_text()?.parse().ok()
}
