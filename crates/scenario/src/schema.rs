//! The keys of a scenario. The tables come from the registries; they drive the parser, its error
//! messages and the reference page.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use trackbed_core::parameter::{FromValue as _, Kind, Otherwise, Parameter};
use trackbed_net::medium::MediumEntry;
use trackbed_net::queue::QueueEntry;
use trackbed_net::spec::ModelEntry;
use trackbed_net::{MEDIA, MODELS, QUEUES, SELECTOR};

use crate::field::{Entry, Field, MEDIUM, Model, SECOND, STAGES, Shape, Shorthand, Slot, kebab};
use crate::groups::{self, GROUP};
use crate::plan::Home;
use crate::spec::Spec;
use crate::{endpoint, environment, inference, inference_keys, papers, preset, radio};

/// The key of the smallest difference that matters.
pub(crate) const USEFUL: &str = "useful-difference";

pub(crate) static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::new);

/// The keys of a scenario, table by table.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The keys before the first table, and the tables.
    pub top: Vec<Field>,
    /// The keys of `[workload]`, for each kind of workload.
    pub workloads: BTreeMap<&'static str, Vec<Field>>,
}

impl Schema {
    fn new() -> Schema {
        let mut top: Vec<Field> = general().iter().map(Field::fixed).collect();
        top.extend(endpoint::parameters().iter().map(Field::swept));
        let help = "software used in studies, by protocol: defaults for the keys above";
        let section = Shape::Section(preset::fields());
        top.push(Field::new(preset::SECTION, section, Otherwise::Absent, help));
        let link_help = "the link shared by all phones, in both directions";
        let access_help = "a separate link for each phone, between it and the shared link";
        let (needed, optional) = (Otherwise::Required, Otherwise::Absent);
        top.push(Field::new("link", Shape::Section(link()), needed, link_help));
        top.push(Field::new("access", Shape::Section(link()), optional, access_help));
        let medium_help = "what the phones share on the way to the shared link, such as a radio cell; \
                           default: a wire for each";
        let media = MEDIA.iter().map(|entry| medium_model(entry)).collect();
        let media = Slot { shorthands: Vec::new(), models: media };
        top.push(Field::new(MEDIUM, Shape::Models(media), optional, medium_help));
        let second_help = "a second path from each phone to the server, over a separate address, \
                           for multipath protocols; it takes the keys of [link]";
        top.push(Field::new(SECOND, Shape::Section(link()), optional, second_help));
        let radio_help = "a train between base stations of one or two operators, instead of [link]";
        top.push(Field::new(radio::SECTION, Shape::Section(radio::fields()), optional, radio_help));
        let help = "changes during a run: link delay, reconnections, viewers' jumps";
        let environment = Shape::Section(environment::fields());
        top.push(Field::new(environment::SECTION, environment, optional, help));
        let help = "inference on the clients' machine, timed, with the load measured every second";
        let fields = Shape::Section(inference::fields());
        top.push(Field::new(inference_keys::SECTION, fields, optional, help));
        top.push(Field::new("workload", Shape::Workload, needed, "the traffic"));
        let help = "the traffic of some clients, beside that of the other groups";
        let fields = groups::fields(vec![
            Field::new("access", Shape::Section(link()), optional, access_help),
            Field::new(preset::SECTION, Shape::Section(preset::fields()), optional, ""),
            Field::new("workload", Shape::Workload, optional, "the group's traffic"),
        ]);
        top.push(Field::new(GROUP, Shape::Named(fields), optional, help));
        Schema { top, workloads: workloads() }
    }
}

fn general() -> [Parameter; 7] {
    static PAPERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| papers::names().collect());
    let name_help = "the scenario's name in results; default: the file's name";
    let paper_help = "study whose figures are shown beside the results";
    let home_help = "where runs happen unless --substrate is given";
    let useful_help = "smallest difference between cells that matters: a share, a time, or both; of \
                       times the larger one counts";
    let (runs, seed) = (Kind::Count { min: 1 }, Kind::Count { min: 0 });
    [
        Parameter::optional("name", Kind::Text, name_help),
        Parameter::optional("summary", Kind::Text, "one line that describes the comparison"),
        Parameter::optional("paper", Kind::Choice(&PAPERS), paper_help),
        Parameter::with_default("substrate", Kind::Choice(Home::NAMES), "virtual", home_help),
        Parameter::with_default("runs", runs, "30", "runs per cell"),
        Parameter::with_default("seed", seed, "1", "root seed of all randomness"),
        Parameter::with_default(USEFUL, Kind::Text, "1 %, 1 ms", useful_help),
    ]
}

fn workloads() -> BTreeMap<&'static str, Vec<Field>> {
    static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        trackbed_workloads::registry().iter().map(|workload| workload.name).collect()
    });
    let fields = |parameters: &[Parameter]| {
        let kind = Parameter::required("kind", Kind::Choice(&KINDS), "kind of workload");
        std::iter::once(Field::fixed(&kind)).chain(parameters.iter().map(Field::swept)).collect()
    };
    let registry = trackbed_workloads::registry().iter();
    registry.map(|workload| (workload.name, fields(workload.parameters()))).collect()
}

fn link() -> Vec<Field> {
    let mut fields = direction();
    for (name, help) in [
        ("up", "the same keys for the direction from the phone to the server"),
        ("down", "the same keys for the direction from the server to the phone"),
    ] {
        fields.push(Field::new(name, Shape::Section(direction()), Otherwise::Absent, help));
    }
    fields
}

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
    let help =
        "queue of packets that wait for the link; behind a medium the default is 1000 packets";
    let default = Otherwise::Default("100 packets");
    fields.push(Field::new(SELECTOR.name, Shape::Models(slot), default, help));
    let help = "largest packet of the link, IP header included, from 1280 B to 65535 B";
    fields.push(Field::swept(&Parameter::with_default("mtu", Kind::Size, "1500 B", help)));
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

fn medium_model(entry: &'static MediumEntry) -> Model {
    Model {
        name: kebab(entry.name),
        help: entry.summary,
        fields: entry.parameters.iter().map(Field::swept).collect(),
        entry: Entry::Medium(entry),
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

/// A parameter as named in a scenario: without its owner's name, because it is inside the owner's
/// table.
fn owned(parameter: &Parameter, owners: &[&str]) -> Field {
    let field = Field::swept(parameter);
    let mut owners = owners.iter().map(|owner| format!("{}-", kebab(owner)));
    let short = owners.find_map(|owner| field.name.strip_prefix(owner.as_str()).map(str::to_owned));
    Field { name: short.unwrap_or_else(|| field.name.clone()), ..field }
}

/// The first model of a stage is the plain one; if it needs only one parameter, a value suffices.
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

/// The value of a whole number at the top, or its default.
pub(crate) fn count(spec: &Spec, name: &str) -> u64 {
    let otherwise = || {
        SCHEMA.top.iter().find(|field| field.name == name)?.otherwise.default_text()?.parse().ok()
    };
    spec.value(name).and_then(u64::from_value).or_else(otherwise).unwrap_or(1)
}
