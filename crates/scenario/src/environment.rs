//! The environment of a cell, from the keys of `[environment]`.

use trackbed_core::parameter::Arguments;
use trackbed_workloads::environment::{Environment, PARAMETERS};

use crate::field::{Field, kebab};
use crate::files::Files;
use crate::plan::Cell;
use crate::problem::Problems;
use crate::spec::Spec;

pub(crate) const SECTION: &str = "environment";

pub(crate) fn fields() -> Vec<Field> {
    PARAMETERS.iter().map(Field::swept).collect()
}

/// Errors of the environment that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    let file = spec.get(&path("timeline"));
    for setting in spec.below(SECTION) {
        let name = setting.field.target;
        if file.is_some() && !["timeline", "reconnect", "overtaking"].contains(&name) {
            let message = format!("{} has no effect together with a timeline", setting.path);
            let help = format!("remove it, or {}", path("timeline"));
            problems.add_with_help(&setting.place, message, help);
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

/// The environment for value `selection[i]` of each axis `i`, and its canonical line if the
/// scenario sets any of it; `None` if there is an error.
pub(crate) fn resolve(
    spec: &Spec,
    selection: &[usize],
    files: &mut Files,
    problems: &mut Problems,
) -> Option<(Environment, Option<String>)> {
    let Some(first) = spec.below(SECTION).next() else {
        return Some((Environment::default(), None));
    };
    let (given, line) = files.table((spec, selection), SECTION, PARAMETERS, problems)?;
    let arguments = Arguments::read(PARAMETERS, &given);
    let arguments = arguments.map_err(|why| problems.add(&first.place, why)).ok()?;
    let read = Environment::read(&arguments).map_err(|why| {
        let setting = spec.get(&path(why.parameter)).unwrap_or(first);
        problems.add(&setting.pick(selection).place, why);
    });
    let environment = read.ok()?;
    check_delay(spec, &environment, problems)?;
    Some((environment, Some(line)))
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
pub(crate) fn check_addresses(
    spec: &Spec,
    selection: &[usize],
    cell: &Cell,
    problems: &mut Problems,
) {
    let Some(setting) = spec.get("environment.reconnect") else { return };
    if cell.networks() > NETWORKS_MAX {
        let message = format!("a phone does not have {} successive addresses", cell.networks());
        let help = format!("write at most {} reconnections and moves in all", NETWORKS_MAX - 1);
        problems.add_with_help(&setting.pick(selection).place, message, help);
    }
}

/// The workload, if its clients ignore the environment.
fn idle_workload(spec: &Spec) -> Option<String> {
    let kind = spec.get("workload.kind")?;
    let name = kind.choices.first()?.chosen.text();
    let workload = trackbed_workloads::find(&name)?;
    (!workload.follows_environment).then_some(name)
}

fn path(parameter: &str) -> String {
    format!("{SECTION}.{}", kebab(parameter))
}

/// The number of addresses that a run's topology has for a phone.
const NETWORKS_MAX: u32 = 101;
