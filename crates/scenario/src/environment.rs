//! The environment of a cell, from the keys of `[environment]`.

use trackbed_core::parameter::Arguments;
use trackbed_workloads::environment::{Environment, PARAMETERS};

use crate::cell::CellReader;
use crate::field::{Field, path};
use crate::plan::Cell;
use crate::problem::Problems;
use crate::spec::{Selected, Spec};

pub(crate) const SECTION: &str = "environment";

pub(crate) fn fields() -> Vec<Field> {
    PARAMETERS.iter().map(Field::swept).collect()
}

/// Errors of the environment that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    let file = spec.get("environment.timeline");
    for setting in spec.below(SECTION) {
        let name = setting.field.target;
        if file.is_some() && !["timeline", "reconnect", "overtaking"].contains(&name) {
            let message = format!("{} has no effect together with a timeline", setting.path);
            problems.add_with_help(&setting.place, message, "remove it, or environment.timeline");
        }
        let is_for_clients = match name {
            "reconnections" | "seek" => true,
            // The workload may set the number of events itself.
            "reconnect" => spec.get("workload.reconnections").is_none(),
            _ => false,
        };
        if let Some(workload) = idle_workload(spec).filter(|_| is_for_clients) {
            let message = format!("the workload {workload} ignores {}", setting.path);
            problems.add_with_help(&setting.place, message, "remove it");
        }
    }
}

/// The environment of a cell; `None` if there is an error.
pub(crate) fn resolve(cell: &mut CellReader<'_>) -> Option<Environment> {
    let at = cell.at;
    let Some(first) = at.spec.below(SECTION).next() else { return Some(Environment::default()) };
    let (given, line) = cell.table(SECTION, PARAMETERS)?;
    let arguments = Arguments::read(PARAMETERS, &given);
    let arguments = arguments.map_err(|why| cell.problems.add(&first.place, why)).ok()?;
    let read = Environment::read(&arguments);
    let environment = read
        .map_err(|why| cell.problems.add(at.place(&path(SECTION, why.parameter), first), why))
        .ok()?;
    check_delay(at.spec, &environment, cell.problems)?;
    cell.lines.push(line);
    Some(environment)
}

/// A link has only one delay.
fn check_delay(spec: &Spec, environment: &Environment, problems: &mut Problems) -> Option<()> {
    let rivals = ["link.delay", "link.up.delay", "link.down.delay"];
    let rival = rivals.into_iter().find_map(|path| spec.get(path));
    let Some(rival) = rival.filter(|_| environment.has_delay()) else { return Some(()) };
    let message = format!("{} has no effect: [environment] sets the link's delay", rival.path);
    problems.refuse(&rival.place, message, "remove it, or the delay in [environment]")
}

/// Each reconnection may need a new address.
pub(crate) fn check_addresses(at: Selected<'_>, cell: &Cell, problems: &mut Problems) {
    let Some(setting) = at.spec.get("environment.reconnect") else { return };
    if cell.networks() > NETWORKS_MAX {
        let message = format!("a phone does not have {} successive addresses", cell.networks());
        let help = format!("write at most {} reconnections and moves in all", NETWORKS_MAX - 1);
        problems.add_with_help(&at.pick(setting).place, message, help);
    }
}

/// The workload, if its clients ignore the environment.
fn idle_workload(spec: &Spec) -> Option<String> {
    let name = spec.get("workload.kind")?.choices.first()?.chosen.text();
    let workload = trackbed_workloads::find(&name)?;
    (!workload.follows_environment).then_some(name)
}

/// The number of addresses that a run's topology has for a phone.
const NETWORKS_MAX: u32 = 101;
