//! The links of a cell, from the models named in the scenario.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Bitrate;
use trackbed_core::parameter::{Otherwise, Parameter, Value};
use trackbed_net::medium::MediumModel;
use trackbed_net::spec::ModelEntry;
use trackbed_net::{LinkSpec, Model, QUEUES, SELECTOR};

use crate::cell::CellReader;
use crate::field::{Entry, MEDIUM, SECOND, STAGES, Shape};
use crate::plan::{LinkPlan, NetworkPlan};
use crate::problem::{Place, Problems};
use crate::spec::{Chosen, ModelUse, Selected, Setting, Spec};

/// Errors of the links that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    for setting in &spec.settings {
        let Some((link, key)) = setting.path.split_once('.') else { continue };
        let own = |direction| spec.get(&format!("{link}.{direction}.{key}")).is_some();
        if own("up") && own("down") && !is_overruled(spec, link, key, setting) {
            let message =
                format!("{} has no effect: both directions set it themselves", setting.path);
            let help = format!("set {link}.up.{key} and {link}.down.{key}");
            problems.add_with_help(&setting.place, message, help);
        }
    }
}

/// Whether the command line sets a key for one direction that the file sets for both.
fn is_overruled(spec: &Spec, link: &str, key: &str, common: &Setting) -> bool {
    let by_command = |direction: &str| {
        spec.get(&format!("{link}.{direction}.{key}")).is_some_and(|own| own.place.origin > 0)
    };
    common.place.origin == 0 && ["up", "down"].iter().any(|direction| by_command(direction))
}

/// Explains which keys of the file the command line overrides in part or entirely.
pub(crate) fn notes(spec: &Spec) -> Vec<String> {
    let of = |setting: &Setting| {
        let (link, key) = setting.path.split_once('.')?;
        if !is_overruled(spec, link, key, setting) {
            return None;
        }
        let is_open = |direction: &str| spec.get(&format!("{link}.{direction}.{key}")).is_none();
        let path = &setting.path;
        Some(match ["up", "down"].iter().find(|direction| is_open(direction)) {
            Some(open) => format!("{path} of the scenario holds for {link}.{open} only"),
            None => format!("{path} of the scenario has no effect: both directions are set"),
        })
    };
    spec.settings.iter().filter_map(of).collect()
}

/// A model with what the file says of it: `rate 10 Mbit/s, queue codel`.
fn in_words(model: &str, given: &Given) -> String {
    let says = |(name, value): &(&str, Value)| match *name == model {
        true => value.to_string(),
        false => format!("{} {value}", name.replace('_', " ")),
    };
    let said: Vec<String> = given.iter().map(says).collect();
    let colon = if given.first().is_some_and(|(name, _)| *name == model) { "" } else { ":" };
    format!("{model}{colon} {}", said.join(", "))
}

/// Models built so far, by their canonical lines.
pub(crate) type Models = BTreeMap<String, Arc<dyn Model>>;

/// The network of a cell; `None` if there is an error.
pub(crate) fn resolve(cell: &mut CellReader<'_>, models: &mut Models) -> Option<NetworkPlan> {
    let mut builder = Builder { at: cell.at, cell, models };
    let link = builder.link("link");
    let access = builder.link_if_any("access")?;
    let further = builder.link_if_any(SECOND)?;
    let (medium, medium_shown) = builder.medium()?.unzip();
    let medium_shown = medium_shown.unwrap_or_default();
    let paths = iter::once(link?).chain(further).collect();
    Some(NetworkPlan { paths, access, medium, medium_shown, courses: Vec::new() })
}

struct Builder<'a, 'c> {
    at: Selected<'a>,
    cell: &'c mut CellReader<'a>,
    models: &'c mut Models,
}

/// A link model, its parameters, and its position in the text.
type Use = (&'static ModelEntry, Given, Place);
/// Parameters by their names in the registry.
type Given = Vec<(&'static str, Value)>;

impl<'a> Builder<'a, '_> {
    fn link(&mut self, name: &str) -> Option<LinkPlan> {
        let up = self.direction(name, "up");
        let down = self.direction(name, "down");
        let mtu = [self.mtu(name, "up")?, self.mtu(name, "down")?];
        let [up_mtu, down_mtu] = mtu;
        let other = if up_mtu == down_mtu { "".into() } else { format!(" up, {down_mtu} down") };
        self.cell.lines.push(format!("{name}: mtu {up_mtu}{other}"));
        let (rates, round_trip_delay) = (self.fixed_rates(name), self.fixed_delay(name));
        let ((up, up_shown), (down, down_shown)) = (up?, down?);
        let shown = [up_shown, down_shown];
        Some(LinkPlan { up, down, mtu, rates, shown, round_trip_delay })
    }

    fn link_if_any(&mut self, name: &str) -> Option<Option<LinkPlan>> {
        match self.at.spec.below(name).next() {
            Some(_) => Some(Some(self.link(name)?)),
            None => Some(None),
        }
    }

    fn medium(&mut self) -> Option<Option<(Arc<dyn MediumModel>, String)>> {
        let Some(setting) = self.at.spec.get(MEDIUM) else { return Some(None) };
        let choice = self.at.pick(setting);
        if self.at.spec.below(SECOND).next().is_some() {
            let message = "a medium leads to one link";
            return self.cell.problems.refuse(&choice.place, message, "remove [second-link]");
        }
        let Chosen::Models(uses) = &choice.chosen else { return None };
        let [ModelUse { model, settings, .. }] = uses.as_slice() else {
            let message = "phones share only one medium";
            return self.cell.problems.refuse(&choice.place, message, "keep one of them");
        };
        let Entry::Medium(entry) = model.entry else { return None };
        let given = arguments(settings, self.at);
        let texts = parameters_text(entry.parameters, &given);
        self.cell.lines.push(format!("{MEDIUM}: {}{texts}", entry.name));
        let built = entry.model(&given).map_err(|why| why.to_string());
        let built = built.map_err(|why| self.cell.problems.add(&choice.place, why)).ok()?;
        Some(Some((built, in_words(entry.name, &given))))
    }

    fn mtu(&mut self, link: &str, direction: &str) -> Option<u32> {
        let Some(setting) = self.setting(link, direction, "mtu") else {
            return Some(MTU_BYTES);
        };
        let choice = self.at.pick(setting);
        let Chosen::Value(Value::Size(size)) = &choice.chosen else { return None };
        match u32::try_from(size.as_bytes()) {
            Ok(mtu) if (MTU_BYTES_MIN..=MTU_BYTES_MAX).contains(&mtu) => Some(mtu),
            _ => {
                let message = format!("an MTU of {size} is not supported");
                let help = format!("write a size from {MTU_BYTES_MIN} B to {MTU_BYTES_MAX} B");
                self.cell.problems.refuse(&choice.place, message, help)
            }
        }
    }

    /// The models of a direction, and what they are in words.
    fn direction(&mut self, link: &str, direction: &str) -> Option<(LinkSpec, String)> {
        let queue_setting = self.setting(link, direction, SELECTOR.name);
        let queue = match queue_setting {
            Some(setting) => Some(self.queue(setting)?),
            None => self.at.spec.get(MEDIUM).map(|_| behind_medium()),
        };
        let (mut spec, mut shown) = (LinkSpec::new(), Vec::new());
        let (mut has_rate, mut complete) = (false, true);
        for (_, key, _) in STAGES {
            let Some(setting) = self.setting(link, direction, key) else { continue };
            for (entry, mut given, place) in uses(setting, self.at) {
                if let Some(queue) = queue.as_ref().filter(|_| entry.has_queue) {
                    given.extend(queue.iter().cloned());
                }
                has_rate |= entry.has_queue;
                shown.push(in_words(entry.name, &given));
                match self.model(&format!("{link}.{direction}"), entry, &given, &place) {
                    Some(model) => spec = spec.with(model),
                    None => complete = false,
                }
            }
        }
        let background = || self.setting(link, direction, "background");
        if let Some(setting) = queue_setting.or_else(background).filter(|_| !has_rate && complete) {
            let name = &setting.field.name;
            let message = format!("{name} without a rate: nothing is ever queued");
            let help = format!("set the rate too, for example {link}.rate = \"50 Mbit/s\"");
            return self.cell.problems.refuse(&setting.place, message, help);
        }
        complete.then(|| (spec, shown.join(", ")))
    }

    /// The setting of one direction, or else that of both.
    fn setting(&self, link: &str, direction: &str, key: &str) -> Option<&'a Setting> {
        let own = self.at.spec.get(&format!("{link}.{direction}.{key}"));
        own.or_else(|| self.at.spec.get(&format!("{link}.{key}")))
    }

    fn queue(&mut self, setting: &Setting) -> Option<Given> {
        let named = |name| (SELECTOR.name, Value::Choice(name));
        let choice = self.at.pick(setting);
        match &choice.chosen {
            Chosen::Value(_) => None,
            Chosen::Shorthand(shorthand, value) => {
                Some(vec![named(QUEUES.first()?.name), (shorthand.target, value.clone())])
            }
            Chosen::Models(uses) => match uses.as_slice() {
                [model] => {
                    let Entry::Queue(entry) = model.model.entry else { return None };
                    let mut given = vec![named(entry.name)];
                    given.extend(arguments(&model.settings, self.at));
                    Some(given)
                }
                _ => {
                    let message = "a rate takes only one queue";
                    self.cell.problems.refuse(&choice.place, message, "keep one of them")
                }
            },
        }
    }

    fn model(
        &mut self,
        link: &str,
        entry: &'static ModelEntry,
        given: &Given,
        place: &Place,
    ) -> Option<Arc<dyn Model>> {
        let built = self.canonical(entry, given).and_then(|line| {
            self.cell.lines.push(format!("{link}: {line}"));
            if let Some(model) = self.models.get(&line) {
                return Ok(Arc::clone(model));
            }
            let mut values = Vec::new();
            for (name, value) in given {
                values.push((*name, self.cell.files.with_contents(value)?));
            }
            let model = entry.model(&values).map_err(|why| {
                let why = why.to_string();
                // The error's position already shows which model it is.
                let owner = format!("{}: ", entry.name);
                why.strip_prefix(&owner).unwrap_or(&why).to_owned()
            })?;
            self.models.insert(line, Arc::clone(&model));
            Ok(model)
        });
        built.map_err(|why| self.cell.problems.add(place, why)).ok()
    }

    /// The model with all its parameters; equal models give equal lines.
    fn canonical(&mut self, entry: &ModelEntry, given: &Given) -> Result<String, String> {
        let chosen = given.iter().find_map(|(name, value)| match value {
            Value::Choice(word) if *name == SELECTOR.name => Some(*word),
            _ => None,
        });
        let queue = match chosen {
            Some(word) => QUEUES.iter().find(|queue| queue.name == word),
            None => QUEUES.first(),
        };
        let queue = queue.filter(|_| entry.has_queue);
        let of_queue = queue.map_or(&[] as &[Parameter], |queue| queue.parameters);
        let mut line = entry.name.to_owned();
        if let Some(queue) = queue {
            line.push_str(&format!(" queue={}", queue.name));
        }
        for parameter in entry.parameters.iter().chain(of_queue) {
            let text = match given.iter().find(|(name, _)| *name == parameter.name) {
                Some((_, value)) => self.cell.files.canonical(value)?,
                None => match parameter.otherwise {
                    Otherwise::Default(text) => text.to_owned(),
                    Otherwise::Required | Otherwise::Absent => continue,
                },
            };
            line.push_str(&format!(" {}={text}", parameter.name));
        }
        Ok(line)
    }

    /// The plain value of a direction's `key`, if it uses the plain model.
    fn plain_value(&self, link: &str, direction: &str, key: &str) -> Option<Value> {
        let setting = self.setting(link, direction, key)?;
        let Shape::Models(slot) = &setting.field.shape else { return None };
        let Entry::Link(plain) = slot.models.first()?.entry else { return None };
        match uses(setting, self.at).as_slice() {
            [(entry, given, _)] if entry.name == plain.name => match given.as_slice() {
                [(_, value)] => Some(value.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The rate of the slower direction, if both are constant.
    fn fixed_rates(&self, link: &str) -> Option<[Bitrate; 2]> {
        let rate = |direction| match self.plain_value(link, direction, "rate")? {
            Value::Rate(rate) => Some(rate),
            _ => None,
        };
        Some([rate("up")?, rate("down")?])
    }

    /// The delay of both directions, if it is the same for every packet.
    fn fixed_delay(&self, link: &str) -> Option<Duration> {
        let delay = |direction| match self.plain_value(link, direction, "delay") {
            Some(Value::Time(delay)) => Some(delay),
            Some(_) => None,
            None => self.setting(link, direction, "delay").is_none().then_some(Duration::ZERO),
        };
        delay("up")?.checked_add(delay("down")?)
    }
}

/// All parameters with their values, but those that have none.
fn parameters_text(parameters: &[Parameter], given: &Given) -> String {
    let text = |parameter: &Parameter| {
        let value = given.iter().find(|(name, _)| *name == parameter.name);
        let default = || parameter.otherwise.default_text().map(str::to_owned);
        let text = value.map(|(_, value)| value.to_string()).or_else(default)?;
        Some(format!(" {}={text}", parameter.name))
    };
    parameters.iter().filter_map(text).collect()
}

/// The link models of a setting.
fn uses(setting: &Setting, at: Selected<'_>) -> Vec<Use> {
    let choice = at.pick(setting);
    let link = |entry: Entry| match entry {
        Entry::Link(entry) => Some(entry),
        Entry::Queue(_) | Entry::Medium(_) => None,
    };
    match (&choice.chosen, &setting.field.shape) {
        (Chosen::Shorthand(shorthand, value), Shape::Models(slot)) => {
            let plain = slot.models.first().and_then(|model| link(model.entry));
            let given = vec![(shorthand.target, value.clone())];
            plain.map(|entry| (entry, given, choice.place.clone())).into_iter().collect()
        }
        (Chosen::Models(uses), _) => {
            let model = |model: &ModelUse| {
                let given = arguments(&model.settings, at);
                Some((link(model.model.entry)?, given, model.place.clone()))
            };
            uses.iter().filter_map(model).collect()
        }
        (Chosen::Value(_) | Chosen::Shorthand(..), _) => Vec::new(),
    }
}

fn arguments(settings: &[Setting], at: Selected<'_>) -> Given {
    let given =
        |setting: &Setting| Some((setting.field.target, at.pick(setting).chosen.value()?.clone()));
    settings.iter().filter_map(given).collect()
}

/// Linux's txqueuelen: a medium delivers hundreds of packets at once, which must not be lost behind it.
fn behind_medium() -> Given {
    vec![(SELECTOR.name, Value::Choice("drop-tail")), ("queue_packets", Value::Count(1_000))]
}

/// Ethernet's.
const MTU_BYTES: u32 = 1_500;
/// The minimum link MTU of IPv6 (RFC 8200 section 5).
const MTU_BYTES_MIN: u32 = 1_280;
/// The longest IP packet without extensions.
const MTU_BYTES_MAX: u32 = 65_535;
