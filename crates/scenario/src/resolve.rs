//! From settings to cells: every combination, less those that no protocol can do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Value};
use trackbed_workloads::Prepared;

use crate::device::Measurements;
use crate::endpoint::{self, ignored_factor};
use crate::ends::{Refusal, Resolved};
use crate::factors::{Column, Names, columns};
use crate::field::{Field, Shape, kebab};
use crate::network::{self, Builder};
use crate::parts::PART;
use crate::plan::{Cell, Factor};
use crate::preset;
use crate::problem::{Place, Problems};
use crate::radio::{self, Railways};
use crate::schema::{self, SCHEMA};
use crate::spec::{Setting, Spec};
use crate::sweep::{self, combinations};
use crate::{environment, foreign, inference, programs, silence};

#[derive(Default)]
pub(crate) struct Cells {
    pub cells: Vec<Cell>,
    /// What the results depend on, as text; one for each cell.
    pub canonical: Vec<String>,
    /// The same without the inference.
    pub canonical_of_ends: Vec<String>,
    pub notes: Vec<String>,
    pub conditions: Vec<String>,
}

/// Resolves the parts of a scenario, one after the other; what is wrong with them goes to
/// `problems`.
pub(crate) fn cells(parts: &[Spec], problems: &mut Problems) -> Cells {
    let names = Names::of(parts);
    let mut all = Cells::default();
    for part in parts {
        let cells = cells_of(part, &names, problems);
        all.cells.extend(cells.cells);
        all.canonical.extend(cells.canonical);
        all.canonical_of_ends.extend(cells.canonical_of_ends);
        for (list, more) in [(&mut all.notes, cells.notes), (&mut all.conditions, cells.conditions)]
        {
            let new: Vec<String> = more.into_iter().filter(|one| !list.contains(one)).collect();
            list.extend(new);
        }
    }
    if all.cells.len() as u64 > sweep::CELLS_MAX {
        let message = format!("{} cells in all parts together", all.cells.len());
        let help = format!("sweep less at a time, at most {} cells", sweep::CELLS_MAX);
        problems.add_missing(message, help);
    }
    all
}

fn cells_of(spec: &Spec, names: &Names<'_>, problems: &mut Problems) -> Cells {
    network::check(spec, problems);
    environment::check(spec, problems);
    radio::check(spec, problems);
    inference::check(spec, problems);
    silence::check(spec, problems);
    check_present(spec, problems);
    let lengths: Vec<usize> = spec.axes.iter().map(|axis| axis.places.len()).collect();
    let Some(selections) = combinations(&lengths) else {
        let sizes: Vec<String> = spec
            .axes
            .iter()
            .map(|axis| format!("{} values of {}", axis.places.len(), axis.path))
            .collect();
        let message = format!("too many combinations: {}", sizes.join(" times "));
        let help = format!("sweep less at a time, at most {} cells", sweep::CELLS_MAX);
        problems.add_missing(message, help);
        return Cells::default();
    };
    if !problems.is_empty() {
        return Cells::default();
    }
    let mut resolver = Resolver {
        spec,
        columns: columns(spec, names),
        builder: Builder::default(),
        workloads: BTreeMap::new(),
        railways: Railways::new(),
        measurements: Measurements::default(),
        problems,
    };
    let combined = resolver.combine(selections);
    resolver.resolve(combined)
}

/// What no scenario can do without.
fn check_present(spec: &Spec, problems: &mut Problems) {
    let dispensable = |field: &Field| {
        (programs::need_no_protocol(spec) && ["protocol", "workload"].contains(&field.target))
            || (radio::is_present(spec) && field.target == "link")
            || (silence::holds(spec) && ["protocol", "link"].contains(&field.target))
    };
    let missing = |field: &&Field| {
        field.is_required() && !spec.written.contains(&field.name) && !dispensable(field)
    };
    for field in SCHEMA.top.iter().filter(missing) {
        let help = match &field.shape {
            Shape::Workload => {
                let kinds: Vec<&str> = SCHEMA.workloads.keys().copied().collect();
                format!("write [workload] and below it kind = \"{}\"", kinds.join("\" or \""))
            }
            Shape::Section(_) => format!(
                "write [{}], and below it rate = \"50 Mbit/s\" and delay = \"5 ms\"",
                field.name
            ),
            Shape::Swept(kind) => {
                format!("write {} = {}, or a list of these", field.name, kind.example())
            }
            Shape::Fixed(_) | Shape::Models(_) => {
                format!("write {} = {}", field.name, field.example())
            }
        };
        problems.add_missing(format!("the scenario does not say its {}", field.name), help);
    }
}

struct Resolver<'a> {
    spec: &'a Spec,
    columns: Vec<Column<'a>>,
    builder: Builder,
    /// Prepared workloads by their canonical text.
    workloads: BTreeMap<String, Arc<dyn Prepared>>,
    railways: Railways,
    measurements: Measurements,
    problems: &'a mut Problems,
}

struct Combined {
    cells: Vec<Combination>,
    notes: Vec<String>,
}

struct Combination {
    /// The place of the chosen value on each axis.
    selection: Vec<usize>,
    resolved: Resolved,
    factors: Vec<(String, Factor)>,
}

impl Resolver<'_> {
    /// Leaves out what cannot be run, and merges cells that differ only in values that their
    /// protocol ignores.
    fn combine(&mut self, selections: Vec<Vec<usize>>) -> Combined {
        let mut combined = Combined { cells: Vec::new(), notes: Vec::new() };
        let mut occurring = BTreeSet::new();
        let mut refusals = Vec::new();
        let mut seen = BTreeSet::new();
        for selection in selections {
            let resolved = match endpoint::resolve(self.spec, &selection) {
                None => continue,
                Some(Err(refusal)) => {
                    refusals.push((selection, refusal));
                    continue;
                }
                Some(Ok(resolved)) => resolved,
            };
            occurring.extend(used_values(self.spec, &selection, &resolved));
            let part = self.spec.part.iter();
            let part = part.map(|name| (PART.to_owned(), Factor::Text(name.clone())));
            let value = |column: &Column<'_>| column.value(&selection, &resolved);
            let varied = self.columns.iter().map(|column| (column.name.clone(), value(column)));
            let factors: Vec<(String, Factor)> = part.chain(varied).collect();
            if seen.insert(format!("{factors:?}")) {
                combined.cells.push(Combination { selection, resolved, factors });
            }
        }
        self.refuse_unused(&occurring, &refusals, combined.cells.is_empty());
        let warnings =
            combined.cells.iter().filter_map(|cell| endpoint::warning(&cell.resolved.endpoint));
        combined.notes = warnings.collect::<BTreeSet<_>>().into_iter().collect();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        refusals.iter().for_each(|(_, refusal)| *reasons.entry(&refusal.why).or_default() += 1);
        let reasons: Vec<String> =
            reasons.into_iter().map(|(why, count)| format!("{why} ({count})")).collect();
        combined.notes.extend(match refusals.len() {
            0 => None,
            1 => Some(format!("left out 1 combination: {}", refusals[0].1.why)),
            count => Some(format!("left out {count} combinations: {}", reasons.join("; "))),
        });
        combined.notes.extend(self.unused_values(&occurring, &refusals));
        combined
    }

    /// A note about listed values of the file that mean nothing to the protocols chosen on the command line.
    fn unused_values(
        &self,
        occurring: &BTreeSet<(&str, usize)>,
        refusals: &[(Vec<usize>, Refusal)],
    ) -> Option<String> {
        let settings = || endpoint_settings(self.spec);
        if settings().all(|setting| setting.place.origin == 0) {
            return None;
        }
        let unused = settings().filter_map(|setting| {
            let axis = setting.axis?;
            let is_refused = |index| refusals.iter().any(|(selection, _)| selection[axis] == index);
            let is_unused = |index: &usize| {
                !occurring.contains(&(setting.path.as_str(), *index)) && !is_refused(*index)
            };
            let indices = (0..setting.choices.len()).filter(is_unused);
            let values: Vec<String> =
                indices.map(|index| setting.choices[index].chosen.text()).collect();
            (!values.is_empty()).then(|| format!("{} {}", setting.path, values.join(", ")))
        });
        let unused: Vec<String> = unused.collect();
        let values = unused.join("; ");
        (!unused.is_empty()).then(|| format!("left out values that no cell uses: {values}"))
    }

    /// Every value must be used somewhere. There are two exceptions: a value of the file may be unused
    /// because of a choice on the command line, and a value common to all parts because of a choice of
    /// one part. So a user can choose one protocol without rewriting the rest.
    fn refuse_unused(
        &mut self,
        occurring: &BTreeSet<(&str, usize)>,
        refusals: &[(Vec<usize>, Refusal)],
        nothing_left: bool,
    ) {
        let begins = self.spec.part_begins;
        let is_common = |place: &Place| place.origin == 0 && place.span.start < begins;
        let places: Vec<&Place> =
            endpoint_settings(self.spec).map(|setting| &setting.place).collect();
        let by_command = places.iter().any(|place| place.origin > 0);
        let by_part = begins > 0 && places.iter().any(|p| p.origin == 0 && !is_common(p));
        let mut unused = Vec::new();
        for setting in endpoint_settings(self.spec) {
            for (index, choice) in setting.choices.iter().enumerate() {
                let narrowed =
                    by_command && choice.place.origin == 0 || by_part && is_common(&choice.place);
                let lenient = narrowed && !nothing_left;
                if lenient || occurring.contains(&(setting.path.as_str(), index)) {
                    continue;
                }
                let of_this = refusals.iter().filter(|(selection, _)| {
                    setting.axis.is_none_or(|axis| selection[axis] == index)
                });
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
                None => "no protocol of this scenario has a use for it".to_owned(),
            };
            if refusal.is_none() || told.insert(why.clone()) {
                let message = format!("{} {value} occurs in no cell: {why}", setting.path);
                let help = format!("remove \"{value}\", or add what it goes with");
                self.problems.add_with_help(&choice.place, message, help);
            }
        }
    }

    /// The cells with their networks and workloads.
    fn resolve(mut self, combined: Combined) -> Cells {
        // The keys in tables describe the track or the load. The ends have no table, except for the
        // keys of `radio` that configure foresight at an end.
        let conditions = self.columns.iter().filter(|column| {
            let path = column.path();
            path.contains('.') && !radio::OF_THE_ENDS.contains(&path) && !preset::is_key(path)
        });
        let part = self.spec.part.iter().map(|_| PART.to_owned());
        let conditions = part.chain(conditions.map(|column| column.name.clone())).collect();
        let mut cells = Cells { notes: combined.notes, conditions, ..Cells::default() };
        cells.notes.extend(network::notes(self.spec));
        for Combination { selection, resolved, factors } in combined.cells {
            let mut lines = endpoint_lines(self.spec, &selection, &resolved);
            let network = self.builder.network(self.spec, &selection, self.problems);
            let workload = self.workload(&selection, &mut lines);
            let files = &mut self.builder.files;
            let environment = environment::resolve(self.spec, &selection, files, self.problems);
            let of_radio = (&mut self.builder.files, &mut self.railways);
            let radio = radio::resolve(self.spec, &selection, of_radio, self.problems);
            let files = (&mut self.builder.files, &mut self.measurements);
            let (place, ends) = ((self.spec, selection.as_slice()), &resolved.endpoint);
            let inference = inference::resolve(place, ends, files, self.problems);
            let (Some((mut network, network_lines)), Some((workload_name, workload))) =
                (network, workload)
            else {
                continue;
            };
            let (Some((environment, environment_line)), Some((radio, radio_line))) =
                (environment, radio)
            else {
                continue;
            };
            let Some((inference, inference_line)) = inference else { continue };
            if environment.has_delay() || radio.is_some() {
                network.link.round_trip_delay = None;
            }
            lines.extend(network_lines);
            lines.extend(environment_line);
            lines.extend(radio_line);
            cells.canonical_of_ends.push(lines.join("\n"));
            lines.extend(inference_line);
            cells.canonical.push(lines.join("\n"));
            let mut endpoint = resolved.endpoint;
            // Longer packets would be lost each time: SCTP does not look for the path MTU.
            let packet_len_max = &mut endpoint.transport.packet_len_max;
            *packet_len_max = network.mtu().min(*packet_len_max as u32) as usize;
            let cell = Cell {
                factors,
                endpoint,
                network,
                radio,
                environment,
                inference,
                workload_name,
                workload,
                runs: u32::try_from(schema::count(self.spec, "runs")).unwrap_or(u32::MAX),
            };
            endpoint::check_whole_requests(self.spec, &selection, &cell, self.problems);
            environment::check_addresses(self.spec, &selection, &cell, self.problems);
            cells.cells.push(cell);
        }
        cells
    }

    fn workload(
        &mut self,
        selection: &[usize],
        lines: &mut Vec<String>,
    ) -> Option<(&'static str, Arc<dyn Prepared>)> {
        let Some(kind) = self.spec.get("workload.kind") else {
            // It was required unless third-party programs are at both ends.
            return Some((foreign::WORKLOAD, Arc::new(foreign::NoWorkload)));
        };
        let name = kind.pick(selection).chosen.text();
        let workload = trackbed_workloads::find(&name)?;
        let parameters = workload.parameters();
        let given = parameters.iter().filter_map(|parameter| {
            let value = self.spec.value(&workload_path(parameter.name), selection)?;
            Some((parameter.name, value.clone()))
        });
        let given: Vec<(&str, Value)> = given.collect();
        let arguments = Arguments::read(parameters, &given);
        let arguments =
            arguments.map_err(|why| self.problems.add(&kind.pick(selection).place, why)).ok()?;
        let mut canonical = format!("workload: {name}");
        for parameter in parameters {
            let Some(value) = arguments.value(parameter.name) else { continue };
            match self.builder.files.canonical(value) {
                Ok(text) => canonical.push_str(&format!(" {}={text}", parameter.name)),
                Err(why) => {
                    let setting = self.spec.get(&workload_path(parameter.name)).unwrap_or(kind);
                    self.problems.add(&setting.pick(selection).place, why);
                    return None;
                }
            }
        }
        lines.push(canonical.clone());
        if let Some(prepared) = self.workloads.get(&canonical) {
            return Some((workload.name, Arc::clone(prepared)));
        }
        // The paths of files are complete already.
        match (workload.prepare)(&arguments, Path::new("")) {
            Ok(prepared) => {
                let prepared: Arc<dyn Prepared> = prepared.into();
                self.workloads.insert(canonical, Arc::clone(&prepared));
                Some((workload.name, prepared))
            }
            Err(error) => {
                let setting = self.spec.get(&workload_path(error.parameter)).unwrap_or(kind);
                self.problems.add(&setting.pick(selection).place, error);
                None
            }
        }
    }
}

fn workload_path(parameter: &str) -> String {
    format!("workload.{}", kebab(parameter))
}

/// The keys of the two ends that the scenario sets.
fn endpoint_settings(spec: &Spec) -> impl Iterator<Item = &Setting> {
    let is_of_ends = |path: &str| !path.contains('.') || preset::is_key(path);
    let top = spec.settings.iter().filter(move |setting| is_of_ends(&setting.path));
    top.filter(|setting| matches!(setting.field.shape, Shape::Swept(_)))
}

/// Which values of the two ends' keys a cell makes use of.
fn used_values<'s>(
    spec: &'s Spec,
    selection: &[usize],
    resolved: &Resolved,
) -> Vec<(&'s str, usize)> {
    let used = endpoint_settings(spec).filter_map(|setting| {
        let index = setting.axis.map_or(0, |axis| selection[axis]);
        let path = setting.path.as_str();
        let same =
            || setting.choices[index].chosen.text() == ignored_factor(path, &resolved.endpoint);
        let is_used =
            silence::is_between(&resolved.endpoint) || !resolved.ignored.contains(&path) || same();
        is_used.then_some((path, index))
    });
    used.collect()
}

/// The two ends as text: every key that means something, with its default.
fn endpoint_lines(spec: &Spec, selection: &[usize], resolved: &Resolved) -> Vec<String> {
    let keys = SCHEMA.top.iter().filter(|field| matches!(field.shape, Shape::Swept(_)));
    let keys = keys.filter(|field| !resolved.ignored.contains(&field.target));
    let transport = &resolved.endpoint.transport;
    let line = |field: &Field| {
        let text = match (field.target, resolved.endpoint.tls) {
            ("tls", Some(version)) => version.name().to_owned(),
            (name, _) => match (transport.arguments.value(name), &field.shape) {
                (Some(value), _) => value.to_string(),
                (None, Shape::Swept(kind)) => match spec.value(&field.name, selection) {
                    Some(value) => value.to_string(),
                    None => kind.parse(field.otherwise.default_text()?).ok()?.to_string(),
                },
                _ => return None,
            },
        };
        Some(format!("{}: {text}", field.name))
    };
    keys.filter_map(line).collect()
}
