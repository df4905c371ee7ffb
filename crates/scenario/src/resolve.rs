//! From settings to cells: every combination, less those that no protocol can do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Value};
use trackbed_measure::results::FactorKind;
use trackbed_protocols::{OwnCertificate, TlsSettings};
use trackbed_workloads::Prepared;

use crate::cell::CellReader;
use crate::device::Measurements;
use crate::drive::Radio;
use crate::endpoint;
use crate::ends::Resolved;
use crate::factors::{Column, Names, columns};
use crate::family::{self, Fate};
use crate::field::{Field, SECOND, Shape, path};
use crate::files::Files;
use crate::groups::{self, GROUP};
use crate::network::{self, Models};
use crate::parts::PART;
use crate::plan::{Cell, Factor};
use crate::problem::Problems;
use crate::radio::{self, Railways};
use crate::schema::{self, SCHEMA};
use crate::spec::{Selected, Spec};
use crate::sweep::{self, combinations};
use crate::unused::{Uses, UsesOfAll};
use crate::{environment, foreign, inference, preset, programs, silence};

#[derive(Default)]
pub(crate) struct Cells {
    pub cells: Vec<Cell>,
    /// What the results depend on, as text; one for each cell.
    pub canonical: Vec<String>,
    /// The same without the inference.
    pub canonical_of_ends: Vec<String>,
    pub notes: Vec<String>,
    pub conditions: Vec<String>,
    /// The files of all parts.
    pub files: Files,
    /// What the values of the factors are; parts have them in common.
    pub factors: BTreeMap<String, FactorKind>,
}

/// Resolves the parts of a scenario, one after the other; what is wrong with them goes to
/// `problems`.
pub(crate) fn cells(parts: &[Spec], problems: &mut Problems) -> Cells {
    let mut all = Cells::default();
    let mut uses = UsesOfAll::default();
    for part in parts {
        groups::check(part, problems);
        let views = part.views();
        let names = Names::of(if part.groups.is_empty() { parts } else { &views });
        add_cells(&views, &names, (&mut all, &mut uses), problems);
    }
    let uses_two = |cell: &Cell| {
        let protocol = cell.endpoint.protocol;
        protocol.capabilities().multipath || protocol.name() == foreign::PROTOCOL.name()
    };
    if parts.iter().any(|part| part.below(SECOND).next().is_some())
        && !all.cells.iter().any(uses_two)
    {
        let why = "no protocol here uses two paths, as mptcp and mpquic do";
        all.notes.push(format!("[{SECOND}] has no effect: {why}"));
    }
    // Otherwise not all parts have been counted.
    if problems.is_empty() {
        uses.refuse_unused(!all.cells.is_empty(), problems);
    }
    if all.cells.len() as u64 > sweep::CELLS_MAX {
        let message = format!("{} cells in all parts together", all.cells.len());
        let help = format!("sweep less at a time, at most {} cells", sweep::CELLS_MAX);
        problems.add_missing(message, help);
    }
    all
}

/// Adds the cells of a part, as each of its groups sees it.
fn add_cells(
    views: &[Spec],
    names: &Names<'_>,
    (cells, uses): (&mut Cells, &mut UsesOfAll),
    problems: &mut Problems,
) {
    for spec in views {
        network::check(spec, problems);
        environment::check(spec, problems);
        radio::check(spec, problems);
        inference::check(spec, problems);
        silence::check(spec, problems);
        check_present(spec, problems);
    }
    let Some(spec) = views.first() else { return };
    let lengths: Vec<usize> = spec.axes.iter().map(|axis| axis.values).collect();
    let Some(selections) = combinations(&lengths) else {
        let sizes: Vec<String> = spec
            .axes
            .iter()
            .map(|axis| format!("{} values of {}", axis.values, axis.path))
            .collect();
        let message = format!("too many combinations: {}", sizes.join(" times "));
        let help = format!("sweep less at a time, at most {} cells", sweep::CELLS_MAX);
        return problems.add_missing(message, help);
    };
    if !problems.is_empty() {
        return;
    }
    let mut resolver = Resolver {
        files: std::mem::take(&mut cells.files),
        models: Models::new(),
        workloads: Workloads::new(),
        railways: Railways::new(),
        measurements: Measurements::default(),
        problems,
    };
    let columns: Vec<Vec<Column<'_>>> = views.iter().map(|spec| columns(spec, names)).collect();
    let combine =
        |(spec, columns): (_, &Vec<_>)| combine((spec, views), columns, &selections, uses);
    let (combined, mut fates): (Vec<Combined<'_>>, Vec<Vec<Fate>>) =
        views.iter().zip(&columns).map(combine).unzip();
    family::keep_complete(&mut fates);
    let mut begins = Vec::new();
    for ((mut combined, fates), columns) in combined.into_iter().zip(&mut fates).zip(&columns) {
        family::keep_occurring(fates, &mut combined.cells);
        begins.push(cells.cells.len());
        resolver.resolve(combined, columns, cells);
    }
    cells.files = resolver.files;
    if problems.is_empty() && !spec.groups.is_empty() {
        let texts = [&mut cells.canonical[..], &mut cells.canonical_of_ends[..]];
        family::join(&fates, &begins, &mut cells.cells, texts);
        let first = begins.first().copied().unwrap_or_default();
        groups::check_phones(spec, &cells.cells[first..], problems);
    }
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
            Shape::Fixed(_) | Shape::Models(_) | Shape::Named(_) => {
                format!("write {} = {}", field.name, field.example())
            }
        };
        problems.add_missing(format!("the scenario does not say its {}", field.name), help);
    }
}

struct Resolver<'a> {
    files: Files,
    models: Models,
    workloads: Workloads,
    railways: Railways,
    measurements: Measurements,
    problems: &'a mut Problems,
}

/// What is left of the combinations of a part.
struct Combined<'a> {
    spec: &'a Spec,
    cells: Vec<Combination<'a>>,
    notes: Vec<String>,
}

struct Combination<'a> {
    at: Selected<'a>,
    resolved: Resolved,
    factors: Vec<(String, Factor)>,
}

/// Leaves out what cannot be run, and merges cells that differ only in values that their
/// protocol ignores.
fn combine<'a>(
    (spec, views): (&'a Spec, &[Spec]),
    columns: &[Column<'a>],
    selections: &'a [Vec<usize>],
    all: &mut UsesOfAll,
) -> (Combined<'a>, Vec<Fate>) {
    let mut combined = Combined { spec, cells: Vec::new(), notes: Vec::new() };
    let mut fates = Vec::new();
    let (occurring, refusals) = (BTreeSet::new(), Vec::new());
    let mut uses = Uses { spec, occurring, refusals, nothing_left: true };
    let mut seen = BTreeMap::new();
    for selection in selections {
        let at = Selected { spec, selection };
        let fate = match endpoint::resolve(at) {
            None => Fate::Refused,
            Some(Err(refusal)) => {
                uses.refusals.push((at, refusal));
                Fate::Refused
            }
            Some(Ok(resolved)) => {
                uses.add(at, &resolved);
                let named = |key: &str, name: &Option<String>| {
                    name.clone().map(|name| (key.to_owned(), Factor::Text(name)))
                };
                let names = [named(PART, &spec.part), named(GROUP, &spec.group)];
                let value = |column: &Column<'_>| column.value_among(at, &resolved, views);
                let varied = columns.iter().map(|column| (column.name.clone(), value(column)));
                let factors: Vec<(String, Factor)> =
                    names.into_iter().flatten().chain(varied).collect();
                let number = *seen.entry(format!("{factors:?}")).or_insert(combined.cells.len());
                match spec.schedule(at).is_some_and(|schedule| schedule.count == 0) {
                    true => Fate::Empty,
                    false => {
                        if number == combined.cells.len() {
                            combined.cells.push(Combination { at, resolved, factors });
                        }
                        Fate::Cell(number)
                    }
                }
            }
        };
        fates.push(fate);
    }
    uses.nothing_left = combined.cells.is_empty();
    uses.count(all);
    combined.notes = notes(&combined, &uses);
    (combined, fates)
}

/// What the user should know of the combinations of a part.
fn notes(combined: &Combined<'_>, uses: &Uses<'_>) -> Vec<String> {
    let warnings = combined.cells.iter().filter_map(|it| endpoint::warning(&it.resolved.endpoint));
    let mut notes: Vec<String> = warnings.collect::<BTreeSet<_>>().into_iter().collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let refusals = &uses.refusals;
    refusals.iter().for_each(|(_, refusal)| *reasons.entry(&refusal.why).or_default() += 1);
    let reasons: Vec<String> =
        reasons.into_iter().map(|(why, count)| format!("{why} ({count})")).collect();
    notes.extend(match refusals.len() {
        0 => None,
        1 => Some(format!("left out 1 combination: {}", refusals[0].1.why)),
        count => Some(format!("left out {count} combinations: {}", reasons.join("; "))),
    });
    notes.extend(uses.note());
    notes
}

impl Resolver<'_> {
    /// Adds the cells with their networks and workloads.
    fn resolve(&mut self, combined: Combined<'_>, columns: &[Column<'_>], cells: &mut Cells) {
        // The keys in tables describe the track or the load. The ends have no table, except for the
        // keys of `radio` that configure foresight at an end.
        let spec = combined.spec;
        let conditions = columns.iter().filter(|column| {
            let path = column.path();
            path.contains('.') && !radio::OF_THE_ENDS.contains(&path) && !preset::is_key(path)
        });
        let part = spec.part.iter().map(|_| PART.to_owned());
        let group = spec.group.iter().map(|_| GROUP.to_owned());
        let conditions = part.chain(group).chain(conditions.map(|column| column.name.clone()));
        add_new(&mut cells.conditions, conditions);
        cells.factors.extend(columns.iter().map(|column| (column.name.clone(), column.kind())));
        add_new(&mut cells.notes, combined.notes.into_iter().chain(network::notes(spec)));
        for Combination { at, mut resolved, factors } in combined.cells {
            let (files, problems) = (&mut self.files, &mut *self.problems);
            if let Err(why) = read_certificate(files, &mut resolved.endpoint.tls_settings)
                && let Some(setting) = at.spec.get("certificate")
            {
                problems.add(&at.pick(setting).place, format!("certificate: {why}"));
                continue;
            }
            let mut lines = endpoint_lines(at, &resolved, files);
            lines.extend(spec.schedule(at).map(|schedule| format!("{GROUP}: {schedule:?}")));
            let mut reader = CellReader { at, files, problems, lines };
            // Each reports its errors before the cell is given up.
            let workload = workload(&mut reader, &mut self.workloads);
            let network = network::resolve(&mut reader, &mut self.models);
            let environment = environment::resolve(&mut reader);
            let radio = radio::resolve(&mut reader, &mut self.railways);
            add_new(&mut cells.notes, radio.iter().flatten().filter_map(Radio::note));
            let of_ends = reader.lines.join("\n");
            let ends = &resolved.endpoint;
            let inference = inference::resolve(&mut reader, ends, &mut self.measurements);
            let canonical = reader.lines.join("\n");
            let (Some(sent), Some(mut network)) = (workload, network) else { continue };
            let (Some(environment), Some(radio), Some(inference)) = (environment, radio, inference)
            else {
                continue;
            };
            let fps: &[&str] = if inference.is_some() { &["fps"] } else { &[] };
            if environment.has_delay() || radio.is_some() || network.medium.is_some() {
                network.paths[0].round_trip_delay = None;
            }
            cells.canonical_of_ends.push(of_ends);
            cells.canonical.push(canonical);
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
                workload_name: sent.name,
                workload: sent.workload,
                ranking: [sent.ranking, fps].concat(),
                runs: u32::try_from(schema::count(spec, "runs")).unwrap_or(u32::MAX),
                place: family::place(at),
                beside: Vec::new(),
                family: cells.cells.len() as u32,
            };
            endpoint::check_whole_requests(at, &cell, self.problems);
            endpoint::check_echo(at, &cell, self.problems);
            radio::check_balancer(at, &cell, self.problems);
            environment::check_addresses(at, &cell, self.problems);
            cells.cells.push(cell);
        }
    }
}

/// Adds what is not in the list yet: parts have much in common.
fn add_new(list: &mut Vec<String>, more: impl Iterator<Item = String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

const WORKLOAD: &str = "workload";

/// Prepared workloads by their canonical text.
type Workloads = BTreeMap<String, Arc<dyn Prepared>>;

/// A cell's workload, and what ranks the cells that have it.
struct Sent {
    name: &'static str,
    ranking: &'static [&'static str],
    workload: Arc<dyn Prepared>,
}

fn workload(cell: &mut CellReader<'_>, known: &mut Workloads) -> Option<Sent> {
    let at = cell.at;
    let Some(kind) = at.spec.get("workload.kind") else {
        // It was required unless third-party programs are at both ends.
        let workload = Arc::new(foreign::NoWorkload);
        return Some(Sent { name: foreign::WORKLOAD, ranking: &["completion_ms"], workload });
    };
    let choice = at.pick(kind);
    let name = choice.chosen.text();
    let workload = trackbed_workloads::find(&name)?;
    let parameters = workload.parameters();
    let given = parameters.iter().filter_map(|parameter| {
        Some((parameter.name, at.value(&path(WORKLOAD, parameter.name))?.clone()))
    });
    let given: Vec<(&str, Value)> = given.collect();
    let arguments = Arguments::read(parameters, &given);
    let arguments = arguments.map_err(|why| cell.problems.add(&choice.place, why)).ok()?;
    let mut canonical = format!("workload: {name}");
    for parameter in parameters {
        let Some(value) = arguments.value(parameter.name) else { continue };
        let place = at.place(&path(WORKLOAD, parameter.name), kind);
        let text = cell.files.canonical(value);
        let text = text.map_err(|why| cell.problems.add(place, why)).ok()?;
        canonical.push_str(&format!(" {}={text}", parameter.name));
    }
    cell.lines.push(canonical.clone());
    let (name, ranking) = (workload.name, workload.ranking(&arguments));
    if let Some(prepared) = known.get(&canonical) {
        return Some(Sent { name, ranking, workload: Arc::clone(prepared) });
    }
    // The paths of files are complete already.
    let prepared = (workload.prepare)(&arguments, Path::new("")).map_err(|error| {
        cell.problems.add(at.place(&path(WORKLOAD, error.parameter), kind), error);
    });
    let prepared: Arc<dyn Prepared> = prepared.ok()?.into();
    known.insert(canonical, Arc::clone(&prepared));
    Some(Sent { name, ranking, workload: prepared })
}

/// Reads the user's own certificates.
fn read_certificate(files: &mut Files, settings: &mut TlsSettings) -> Result<(), String> {
    let Some(path) = &settings.certificate else { return Ok(()) };
    if let Value::Contents(text) = files.with_contents(&Value::File(path.clone()))? {
        let own = OwnCertificate::from_pem(&text);
        let own = own.map_err(|why| format!("{}: {why}", path.display()))?;
        settings.chain.certificate = Some(Arc::new(own));
    }
    Ok(())
}

/// The two ends as text: every key that means something, with its default.
fn endpoint_lines(at: Selected<'_>, resolved: &Resolved, files: &mut Files) -> Vec<String> {
    let keys = SCHEMA.top.iter().filter(|field| matches!(field.shape, Shape::Swept(_)));
    let keys = keys.filter(|field| !resolved.ignored.contains(&field.target));
    let transport = &resolved.endpoint.transport;
    let line = |field: &Field| {
        let text = match (field.target, resolved.endpoint.tls) {
            ("tls", Some(version)) => version.name().to_owned(),
            (name, _) => match (transport.arguments.value(name), &field.shape) {
                // A file that cannot be read has been reported.
                (Some(value @ Value::File(_)), _) => files.canonical(value).ok()?,
                (Some(value), _) => value.to_string(),
                (None, Shape::Swept(kind)) => match at.value(&field.name) {
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
