//! Values that no cell uses: in a part they are left out with a note, in the whole scenario each is an
//! error.

use std::collections::BTreeSet;

use crate::endpoint::ignored_factor;
use crate::ends::{Refusal, Resolved};
use crate::field::Shape;
use crate::problem::{Place, Problems};
use crate::spec::{Selected, Setting, Spec};
use crate::{preset, silence};

/// What the cells of a part make use of.
pub(crate) struct Uses<'a> {
    pub spec: &'a Spec,
    /// The values that occur in a cell, by the path of their key and their index.
    pub occurring: BTreeSet<(&'a str, usize)>,
    /// The combinations that cannot be run.
    pub refusals: Vec<(Selected<'a>, Refusal)>,
    pub nothing_left: bool,
}

/// The same of all parts together.
#[derive(Default)]
pub(crate) struct UsesOfAll {
    /// The keys and values that some part uses.
    used: BTreeSet<(String, String)>,
    unused: Vec<Unused>,
}

struct Unused {
    key_and_value: (String, String),
    place: Place,
    message: String,
    help: String,
    /// Whether the command line leaves no cell of the part, which other parts may make up for.
    is_of_lost_part: bool,
}

impl<'a> Uses<'a> {
    /// Notes that a combination can be run.
    pub fn add(&mut self, at: Selected<'a>, resolved: &Resolved) {
        let used = endpoint_settings(at.spec).filter(|setting| {
            let path = setting.path.as_str();
            let same =
                || at.pick(setting).chosen.text() == ignored_factor(path, &resolved.endpoint);
            silence::is_between(&resolved.endpoint) || !resolved.ignored.contains(&path) || same()
        });
        self.occurring.extend(used.map(|setting| (setting.path.as_str(), at.index(setting))));
    }

    /// A note about values that mean nothing to the protocols of this part, where the command line
    /// has chosen either.
    pub fn note(&self) -> Option<String> {
        if let (Some(part), true) = (&self.spec.part, self.nothing_left) {
            return Some(format!("left out the part \"{part}\": none of its combinations can run"));
        }
        let settings = || endpoint_settings(self.spec);
        if settings().all(|setting| setting.place.origin == 0) {
            return None;
        }
        let unused = settings().filter_map(|setting| {
            // A single value of the file stays for the protocols that use it.
            if setting.axis.is_none() && setting.place.origin == 0 {
                return None;
            }
            let is_refused = |index| self.refusals.iter().any(|(at, _)| at.index(setting) == index);
            let is_unused = |index: &usize| {
                !self.occurring.contains(&(setting.path.as_str(), *index)) && !is_refused(*index)
            };
            let indices = (0..setting.choices.len()).filter(is_unused);
            let values: Vec<String> = indices.map(|it| setting.choices[it].chosen.text()).collect();
            (!values.is_empty()).then(|| format!("{} {}", setting.path, values.join(", ")))
        });
        let unused: Vec<String> = unused.collect();
        let place = match &self.spec.part {
            Some(part) => format!("of the part \"{part}\" "),
            None => String::new(),
        };
        let values = unused.join("; ");
        (!unused.is_empty()).then(|| format!("left out values that no cell {place}uses: {values}"))
    }

    /// Every value must be used somewhere. There are two exceptions: a value of the file may be unused
    /// because of a choice on the command line, and a value common to all parts because of a choice of
    /// one part. So a user can choose one protocol without rewriting the rest.
    pub fn count(&self, all: &mut UsesOfAll) {
        let begins = self.spec.part_begins;
        let is_common = |place: &Place| place.origin == 0 && place.span.start < begins;
        let places: Vec<&Place> = endpoint_settings(self.spec).map(|it| &it.place).collect();
        let by_command = places.iter().any(|place| place.origin > 0);
        let by_part = begins > 0 && places.iter().any(|p| p.origin == 0 && !is_common(p));
        let mut unused = Vec::new();
        for setting in endpoint_settings(self.spec) {
            for (index, choice) in setting.choices.iter().enumerate() {
                if self.occurring.contains(&(setting.path.as_str(), index)) {
                    all.used.insert((setting.path.clone(), choice.chosen.text()));
                    continue;
                }
                let narrowed =
                    by_command && choice.place.origin == 0 || by_part && is_common(&choice.place);
                if narrowed && !self.nothing_left {
                    continue;
                }
                let of_this = self.refusals.iter().filter(|(at, _)| at.index(setting) == index);
                let why = of_this.map(|(_, refusal)| refusal);
                let why = why.max_by_key(|refusal| refusal.path == setting.path);
                unused.push((setting, choice, why));
            }
        }
        // A value that causes the error comes before those that only occur with it.
        unused.sort_by_key(|(setting, _, why)| why.is_some_and(|why| why.path != setting.path));
        let mut told = BTreeSet::new();
        for (setting, choice, refusal) in unused {
            let value = choice.chosen.text();
            let why = match refusal {
                Some(refusal) => refusal.why.clone(),
                None if OF_PROGRAMS.contains(&setting.path.as_str()) => {
                    "it is for a third-party program, on the emulated substrate".to_owned()
                }
                None => "no protocol of this scenario has a use for it".to_owned(),
            };
            if refusal.is_none() || told.insert(why.clone()) {
                all.unused.push(Unused {
                    message: format!("{} {value} occurs in no cell: {why}", setting.path),
                    help: format!("remove \"{value}\", or add what it goes with"),
                    key_and_value: (setting.path.clone(), value),
                    place: choice.place.clone(),
                    is_of_lost_part: by_command && self.nothing_left,
                });
            }
        }
    }
}

impl UsesOfAll {
    /// Refuses what is used nowhere. A value of the command line must fit one part, and the parts that
    /// it leaves without cells are left out if there are others.
    pub fn refuse_unused(self, has_cells: bool, problems: &mut Problems) {
        for Unused { key_and_value, place, message, help, is_of_lost_part } in self.unused {
            let is_excused = match place.origin {
                0 => is_of_lost_part && has_cells,
                _ => self.used.contains(&key_and_value),
            };
            if !is_excused {
                problems.add_with_help(&place, message, help);
            }
        }
    }
}

/// The keys of the two ends that the scenario sets.
fn endpoint_settings(spec: &Spec) -> impl Iterator<Item = &Setting> {
    let is_of_ends = |path: &str| !path.contains('.') || preset::is_key(path);
    let top = spec.settings.iter().filter(move |setting| is_of_ends(&setting.path));
    top.filter(|setting| matches!(setting.field.shape, Shape::Swept(_)))
}

const OF_PROGRAMS: [&str; 3] = ["server-command", "client-command", "client-timeout"];
