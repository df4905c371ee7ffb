//! Roles: trees of processes, and their processor time.

use std::collections::{BTreeMap, BTreeSet};

use crate::monitor::process::{Identity, Process};

/// The processes of a role. A process stays in the role even if its parent changes.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub(crate) name: String,
    /// Numbers of processes whose trees are added at the next reading.
    wanted: Vec<u32>,
    members: BTreeMap<Identity, Process>,
    /// Clock ticks since the role was first seen.
    pub(crate) used: u64,
}

impl Role {
    pub(crate) fn new(name: &str) -> Role {
        Role { name: name.to_owned(), wanted: Vec::new(), members: BTreeMap::new(), used: 0 }
    }

    /// Adds the tree that begins at this process, if it exists at the next reading: a later process
    /// with its number is a different one.
    pub(crate) fn add(&mut self, pid: u32) {
        self.wanted.push(pid);
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Process> {
        self.members.values()
    }

    /// Reads all processes, and returns the clock ticks that the role has used since the last
    /// reading.
    pub(crate) fn look(&mut self, all: &BTreeMap<u32, Process>, below: &Children) -> u64 {
        let new_trees = std::mem::take(&mut self.wanted);
        let new_trees = new_trees.into_iter().filter(|pid| all.contains_key(pid)).collect();
        let is_here = |identity: &Identity| {
            all.get(&identity.pid).is_some_and(|process| process.identity == *identity)
        };
        let known = self.members.keys().filter(|member| is_here(member)).map(|member| member.pid);
        let mut here = BTreeSet::new();
        descend(below, known.collect(), &mut here);
        let before = here.clone();
        descend(below, new_trees, &mut here);
        let now: BTreeMap<Identity, Process> =
            here.iter().filter_map(|pid| all.get(pid)).map(|p| (p.identity, *p)).collect();
        // Earlier time of a newly added tree is not counted.
        let used = used(&self.members, now.values().filter(|p| before.contains(&p.identity.pid)));
        self.members = now;
        self.used += used;
        used
    }
}

pub(crate) type Children = BTreeMap<u32, Vec<u32>>;

pub(crate) fn children(all: &BTreeMap<u32, Process>) -> Children {
    let mut children = Children::new();
    for process in all.values() {
        children.entry(process.parent).or_default().push(process.identity.pid);
    }
    children
}

fn descend(below: &Children, mut open: Vec<u32>, found: &mut BTreeSet<u32>) {
    while let Some(pid) = open.pop() {
        if found.insert(pid) {
            open.extend(below.get(&pid).into_iter().flatten());
        }
    }
}

/// The clock ticks used between two readings.
///
/// A process that ends leaves all its time to the parent that waits for it: its time at the
/// previous reading was counted then. A parent that ignores its children's ends gets nothing; then
/// their last ticks are lost.
fn used<'a>(before: &BTreeMap<Identity, Process>, now: impl Iterator<Item = &'a Process>) -> u64 {
    let (mut own, mut inherited) = (0, 0_u64);
    let mut gone: u64 = before.values().map(|process| process.own + process.children).sum();
    for process in now {
        let (own_before, children_before) = match before.get(&process.identity) {
            Some(known) => {
                gone -= known.own + known.children;
                (known.own, known.children)
            }
            None => (0, 0),
        };
        own += process.own.saturating_sub(own_before);
        inherited += process.children.saturating_sub(children_before);
    }
    own + inherited.saturating_sub(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, start: u64, parent: u32, own: u64, children: u64) -> (u32, Process) {
        let identity = Identity { pid, start };
        (pid, Process { identity, parent, own, children, resident: 1 })
    }

    fn look(role: &mut Role, processes: &[(u32, Process)]) -> (u64, usize) {
        let all = processes.iter().copied().collect();
        let used = role.look(&all, &children(&all));
        (used, role.members().count())
    }

    fn role(pid: u32) -> Role {
        let mut role = Role::new("server");
        role.add(pid);
        role
    }

    #[test]
    fn a_tree_is_counted_from_its_first_look_on() {
        let mut role = role(10);
        let first =
            [process(1, 0, 0, 500, 0), process(10, 5, 1, 100, 7), process(11, 6, 10, 50, 0)];
        assert_eq!(look(&mut role, &first), (0, 2));
        // 20 and 5 more, and a new process that has used 3 already.
        let second = [
            process(1, 0, 0, 900, 0),
            process(10, 5, 1, 120, 7),
            process(11, 6, 10, 55, 0),
            process(12, 9, 11, 3, 0),
        ];
        assert_eq!(look(&mut role, &second), (28, 3));
        assert_eq!(role.used, 28);
    }

    #[test]
    fn the_time_of_who_has_ended_comes_from_its_parent() {
        let mut role = role(10);
        look(&mut role, &[process(10, 5, 1, 100, 0)]);
        assert_eq!(look(&mut role, &[process(10, 5, 1, 100, 0), process(11, 6, 10, 50, 0)]).0, 50);
        // It used 8 more before it ended; one that was never seen used 4.
        assert_eq!(look(&mut role, &[process(10, 5, 1, 101, 62)]).0, 1 + 8 + 4);
    }

    #[test]
    fn who_ends_unheard_takes_nothing_away() {
        let mut role = role(10);
        look(&mut role, &[process(10, 5, 1, 100, 0)]);
        look(&mut role, &[process(10, 5, 1, 100, 0), process(11, 6, 10, 50, 0)]);
        assert_eq!(look(&mut role, &[process(10, 5, 1, 107, 0)]), (7, 1));
    }

    #[test]
    fn another_process_of_the_same_number_does_not_belong_to_it() {
        let mut role = role(10);
        look(&mut role, &[process(10, 5, 1, 100, 0), process(11, 6, 10, 50, 0)]);
        let others = [process(10, 90, 1, 7_000, 0), process(11, 91, 10, 8_000, 0)];
        assert_eq!(look(&mut role, &others), (0, 0));
        assert_eq!(look(&mut role, &[process(10, 90, 1, 9_000, 0)]), (0, 0));
    }

    #[test]
    fn who_is_not_there_at_the_next_look_never_will_be() {
        let mut role = role(10);
        assert_eq!(look(&mut role, &[process(1, 0, 0, 500, 500)]), (0, 0));
        assert_eq!(look(&mut role, &[process(10, 5, 1, 100, 7)]), (0, 0));
    }

    #[test]
    fn orphans_still_belong_to_it() {
        let mut role = role(10);
        look(&mut role, &[process(10, 5, 1, 100, 0), process(11, 6, 10, 50, 0)]);
        // Its parent has ended; init has adopted it.
        let orphan = [process(1, 0, 0, 0, 100), process(11, 6, 1, 60, 0), process(12, 7, 11, 1, 0)];
        assert_eq!(look(&mut role, &orphan), (11, 2));
    }

    #[test]
    fn a_circle_of_parents_is_gone_round_once() {
        let mut role = role(10);
        let circle = [process(10, 5, 11, 1, 0), process(11, 6, 10, 1, 0)];
        assert_eq!(look(&mut role, &circle), (0, 2));
    }
}
