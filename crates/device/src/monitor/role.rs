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

    /// Number, start, parent, and the ticks of it and of its children that have ended.
    fn process(text: &str) -> (u32, Process) {
        let fields: Vec<u32> = text.split_whitespace().map(|one| one.parse().unwrap()).collect();
        let [pid, start, parent, own, children] = fields[..] else { panic!("{text}") };
        let identity = Identity { pid, start: start.into() };
        let (own, children) = (own.into(), children.into());
        (pid, Process { identity, parent, own, children, resident: 1 })
    }

    /// A line is a look at processes, after which the role with the tree of process 10 has used this many ticks
    /// more, and has this many members; a heading begins another role.
    #[test]
    fn what_a_role_has_used_is_what_its_looks_have_seen() {
        let (mut role, mut sum) = (Role::new("server"), 0);
        for line in include_str!("role-looks.txt").lines() {
            let Some((processes, expected)) = line.split_once(" = ") else {
                (role, sum) = (Role::new("server"), 0);
                role.add(10);
                continue;
            };
            let all = processes.split(", ").map(process).collect();
            let used = role.look(&all, &children(&all));
            sum += used;
            assert_eq!(format!("{used} {}", role.members().count()), expected, "{line}");
            assert_eq!(role.used, sum, "{line}");
        }
    }
}
