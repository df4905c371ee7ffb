//! The picture of `trackbed plan --picture`: who shares what, for each network that differs.

use std::iter;

use anyhow::bail;
use trackbed_report::plot::network::{Network, svg as drawn};
use trackbed_scenario::{Cell, LinkPlan, Plan};

/// The networks of the cells, each once, as SVG.
pub fn svg(plan: &Plan) -> anyhow::Result<String> {
    let mut found: Vec<(Network, &Cell)> = Vec::new();
    let firsts = plan.families().into_iter().filter_map(|family| family.first().copied());
    for cell in firsts.filter_map(|number| plan.cells.get(number as usize)) {
        let network = network(cell);
        if !found.iter().any(|(known, _)| *known == network) {
            found.push((network, cell));
        }
    }
    if found.len() > MOST {
        let number = found.len();
        bail!(
            "--picture: the cells have {number} networks, a picture takes {MOST}; choose some with --part or --set"
        );
    }
    let cells: Vec<&Cell> = found.iter().map(|(_, cell)| *cell).collect();
    let titled = found
        .iter()
        .map(|(network, cell)| Network { title: title(cell, &cells), ..network.clone() });
    Ok(drawn(&titled.collect::<Vec<_>>(), WIDTH_MM))
}

/// The factors of `cell` by which `cells` differ.
fn title(cell: &Cell, cells: &[&Cell]) -> String {
    let own = cell.factors.iter().filter(|factor| {
        factor.0 != "group" && cells.iter().any(|other| !other.factors.contains(factor))
    });
    own.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

fn network(cell: &Cell) -> Network {
    let groups = cell.groups();
    let clients = groups.iter().map(|group| {
        (clients(group), group.network.access.as_ref().map(|access| access.shown.clone()))
    });
    let clients: Vec<_> = clients.collect();
    let are_many = groups.len() > 1 || cell.workload.phones() > 1;
    let has_access = clients.iter().any(|(_, access)| access.is_some());
    let network = &cell.network;
    let meeting = match network.medium_shown.as_str() {
        "" => (are_many || has_access).then(|| "access point".to_owned()),
        medium => Some(medium.to_owned()),
    };
    let shown = |link: &LinkPlan| link.shown.clone();
    let paths = match &cell.radio {
        None => network.paths.iter().map(shown).collect(),
        Some(radio) => {
            iter::repeat_n([(); 2].map(|()| RADIO.to_owned()), radio.operators()).collect()
        }
    };
    Network { title: String::new(), clients, meeting, paths }
}

fn clients(group: &Cell) -> String {
    let place = group.place.as_ref();
    let name = place.map_or_else(String::new, |place| format!("{}: ", place.name));
    let on = place.and_then(|place| place.schedule.on.as_ref());
    let whose = on.map_or_else(String::new, |on| format!(" on the phones of {on}"));
    let members = place.map_or(1, |place| place.schedule.count);
    let number = u64::from(members) * u64::from(group.workload.phones());
    format!("{name}{number} x {}{whose}", group.workload_name)
}

const RADIO: &str = "as the radio of an operator has it on the ride";
const MOST: usize = 24;
const WIDTH_MM: f64 = 180.0;
