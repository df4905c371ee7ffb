//! The cells of one run: a scenario with groups has one for each group.

use std::collections::BTreeMap;

use crate::plan::{Cell, Place};
use crate::spec::Selected;

/// What became of a combination for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No protocol can do it.
    Refused,
    /// It is the group's cell of this number.
    Cell(usize),
    /// The group has no members in it.
    Empty,
}

/// Where the group of a view stands.
pub(crate) fn place(at: Selected<'_>) -> Option<Place> {
    let name = at.spec.group.clone()?;
    let number = at.spec.groups.iter().position(|(other, _)| *other == name)?;
    Some(Place { schedule: at.spec.schedule(at)?, number: number as u32, name })
}

/// Leaves out combinations that one of the groups cannot do.
pub(crate) fn keep_complete(fates: &mut [Vec<Fate>]) {
    for combination in 0..fates.first().map_or(0, Vec::len) {
        if fates.iter().any(|fates| fates[combination] == Fate::Refused) {
            fates.iter_mut().for_each(|fates| fates[combination] = Fate::Refused);
        }
    }
}

/// Leaves out the cells of a group that no combination has any more.
pub(crate) fn keep_occurring<T>(fates: &mut [Fate], cells: &mut Vec<T>) {
    let mut new_number = vec![None; cells.len()];
    for fate in fates.iter() {
        if let Fate::Cell(number) = fate {
            new_number[*number] = Some(0);
        }
    }
    for (new, number) in new_number.iter_mut().flatten().zip(0..) {
        *new = number;
    }
    let mut occurs = new_number.iter();
    cells.retain(|_| occurs.next().is_some_and(Option::is_some));
    for fate in fates {
        if let Fate::Cell(number) = fate {
            *number = new_number[*number].unwrap_or_default();
        }
    }
}

/// Gives each cell the other groups of its run, and one number to all that share it. The cells of group
/// `g` begin at `begins[g]`, and so do their texts.
pub(crate) fn join(
    fates: &[Vec<Fate>],
    begins: &[usize],
    cells: &mut [Cell],
    texts: [&mut [String]; 2],
) {
    let mut joined = Vec::new();
    let of_parts_before = cells[..begins.first().copied().unwrap_or_default()].iter();
    let first = of_parts_before.map(|cell| cell.family + 1).max().unwrap_or(0);
    let mut families = BTreeMap::new();
    for (group, own) in fates.iter().enumerate() {
        let mut expected = 0;
        for (at, fate) in own.iter().enumerate() {
            // The numbers are in the order of the first combination of each.
            let Fate::Cell(number) = *fate else { continue };
            if number < expected {
                continue;
            }
            expected = number + 1;
            let others = (0..fates.len()).filter(|other| *other != group);
            let others = others.filter_map(|other| match fates[other][at] {
                Fate::Cell(number) => Some(begins[other] + number),
                Fate::Refused | Fate::Empty => None,
            });
            let number = begins[group] + number;
            joined.push((number, others.collect::<Vec<usize>>()));
            let next = first + families.len() as u32;
            cells[number].family = *families.entry(at).or_insert(next);
        }
    }
    let [of_all, of_ends] = texts;
    let alone: Vec<String> = of_all.to_vec();
    let apart = cells.to_vec();
    for (cell, others) in joined {
        cells[cell].beside = others.iter().map(|other| apart[*other].clone()).collect();
        for other in others {
            for text in [&mut of_all[cell], &mut of_ends[cell]] {
                text.push_str("\n\nbeside:\n");
                text.push_str(&alone[other]);
            }
        }
    }
}
