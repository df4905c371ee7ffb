//! Subscriptions, a tree of topic levels; and retained messages.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use trackbed_core::Time;

use crate::packet::{Message, Qos};
use crate::topic;

pub(crate) type SessionId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub qos: Qos,
    pub no_local: bool,
    pub retain_as_published: bool,
    pub identifier: Option<u32>,
}

/// The filters of all sessions. Its depth is that of the deepest filter.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    root: Node,
}

#[derive(Debug, Default)]
struct Node {
    /// By level; `+` is one of them.
    children: BTreeMap<Box<str>, Node>,
    /// The subscribers whose filter ends here.
    ending: Subscribers,
    /// The subscribers whose filter continues with `#`.
    below: Subscribers,
}

#[derive(Debug, Default)]
struct Subscribers {
    single: BTreeMap<SessionId, Options>,
    groups: BTreeMap<Box<str>, Group>,
}

/// Sessions that share a subscription.
#[derive(Debug, Default)]
struct Group {
    members: BTreeMap<SessionId, Options>,
    /// The member that got the last message.
    last: SessionId,
}

/// The recipients of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Matches {
    /// Sessions with their subscriptions that match; a session may have several.
    pub single: Vec<(SessionId, Options)>,
    /// For each group that matches, its members, the one whose turn it is first.
    pub shared: Vec<Vec<(SessionId, Options)>>,
}

impl Filters {
    /// Adds a subscription, or changes its options; true if it is new.
    pub fn insert(
        &mut self,
        session: SessionId,
        group: Option<&str>,
        filter: &str,
        options: Options,
    ) -> bool {
        let mut node = &mut self.root;
        let mut levels = filter.split('/');
        let subscribers = loop {
            match levels.next() {
                None => break &mut node.ending,
                Some("#") => break &mut node.below,
                Some(level) => {
                    if !node.children.contains_key(level) {
                        node.children.insert(level.into(), Node::default());
                    }
                    node = node.children.get_mut(level).expect("it is there or was put there");
                }
            }
        };
        let members = match group {
            None => &mut subscribers.single,
            Some(group) => &mut subscribers.groups.entry(group.into()).or_default().members,
        };
        members.insert(session, options).is_none()
    }

    /// Removes a subscription, and branches that only it used; false if there is none.
    pub fn remove(&mut self, session: SessionId, group: Option<&str>, filter: &str) -> bool {
        let levels: Vec<&str> = filter.split('/').collect();
        self.root.remove(session, group, &levels)
    }

    /// All subscribers whose filter matches `name`. Members of groups take turns.
    pub fn matching(&mut self, name: &str, matches: &mut Matches) {
        let is_reserved = name.starts_with('$');
        let levels: Vec<&str> = name.split('/').collect();
        self.root.collect(&levels, !is_reserved, matches);
    }
}

impl Node {
    fn is_empty(&self) -> bool {
        self.children.is_empty() && self.ending.is_empty() && self.below.is_empty()
    }

    fn remove(&mut self, session: SessionId, group: Option<&str>, levels: &[&str]) -> bool {
        match levels {
            [] => self.ending.remove(session, group),
            ["#"] => self.below.remove(session, group),
            [level, rest @ ..] => {
                let Some(child) = self.children.get_mut(*level) else { return false };
                let removed = child.remove(session, group, rest);
                if child.is_empty() {
                    self.children.remove(*level);
                }
                removed
            }
        }
    }

    /// `wildcards`: whether they match the next level.
    fn collect(&mut self, levels: &[&str], wildcards: bool, matches: &mut Matches) {
        if wildcards {
            self.below.collect(matches);
        }
        let [level, rest @ ..] = levels else { return self.ending.collect(matches) };
        if wildcards && let Some(child) = self.children.get_mut("+") {
            child.collect(rest, true, matches);
        }
        if let Some(child) = self.children.get_mut(*level) {
            child.collect(rest, true, matches);
        }
    }
}

impl Subscribers {
    fn is_empty(&self) -> bool {
        self.single.is_empty() && self.groups.is_empty()
    }

    fn remove(&mut self, session: SessionId, group: Option<&str>) -> bool {
        let Some(name) = group else { return self.single.remove(&session).is_some() };
        let Some(group) = self.groups.get_mut(name) else { return false };
        let removed = group.members.remove(&session).is_some();
        if group.members.is_empty() {
            self.groups.remove(name);
        }
        removed
    }

    fn collect(&mut self, matches: &mut Matches) {
        matches.single.extend(self.single.iter().map(|(id, options)| (*id, *options)));
        for group in self.groups.values_mut() {
            let after = group.members.range(group.last.saturating_add(1)..);
            let before = group.members.range(..=group.last);
            let turns: Vec<_> = after.chain(before).map(|(id, options)| (*id, *options)).collect();
            if let Some((next, _)) = turns.first() {
                group.last = *next;
            }
            matches.shared.push(turns);
        }
    }
}

/// The retained messages by their topics, at most one for each.
#[derive(Debug, Default)]
pub(crate) struct Retained {
    /// By their [`key`]s.
    by_topic: BTreeMap<String, Kept>,
    weight: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub message: Arc<Message>,
    /// When it expires, if ever.
    pub expires: Option<Time>,
}

impl Retained {
    /// The number of messages.
    pub fn count(&self) -> usize {
        self.by_topic.len()
    }

    /// About how many bytes of memory they hold.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Stores a message in place of the previous one.
    pub fn insert(&mut self, new: Kept) {
        let topic = Arc::clone(&new.message.topic);
        self.remove(&topic);
        self.weight += new.message.weight();
        self.by_topic.insert(key(&topic), new);
    }

    /// Removes the message of a topic.
    pub fn remove(&mut self, name: &str) {
        if let Some(old) = self.by_topic.remove(&key(name)) {
            self.weight -= old.message.weight();
        }
    }

    /// Whether there is a message of this topic.
    pub fn contains(&self, name: &str) -> bool {
        self.by_topic.contains_key(&key(name))
    }

    /// The messages whose topic `filter` matches, in the order of their topics' levels.
    pub fn matching(&self, filter: &str) -> Vec<Kept> {
        let Some(wildcard) = filter.find(['+', '#']) else {
            return self.by_topic.get(&key(filter)).cloned().into_iter().collect();
        };
        let levels = key(&filter[..wildcard]);
        // `#` stands for the level above it as well.
        let above = levels.strip_suffix(SEPARATOR).unwrap_or_default();
        let from = self.by_topic.range::<str, _>((Bound::Included(above), Bound::Unbounded));
        let near = from.take_while(|(key, _)| *key == above || key.starts_with(&levels));
        let found = near.filter(|(_, kept)| topic::matches(filter, &kept.message.topic));
        found.map(|(_, kept)| kept.clone()).collect()
    }
}

/// A topic such that the order of bytes is the order of levels: no topic contains the separator,
/// and nothing is less.
fn key(topic: &str) -> String {
    topic.replace('/', SEPARATOR)
}

const SEPARATOR: &str = "\0";

#[cfg(test)]
mod tests;
