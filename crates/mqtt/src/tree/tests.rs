//! Subscriptions and retained messages against a matcher that looks at every filter.

use std::collections::BTreeSet;

use trackbed_core::{Rng, Seed};

use super::*;

fn options(qos: Qos) -> Options {
    Options { qos, no_local: false, retain_as_published: false, identifier: None }
}

/// A few levels of a small alphabet, so that filters and topics meet often.
fn levels(rng: &mut Rng, alphabet: &[&'static str]) -> String {
    let count = 1 + rng.below(4);
    let level = |_| alphabet[rng.below(alphabet.len() as u64) as usize];
    (0..count).map(level).collect::<Vec<_>>().join("/")
}

fn filter(rng: &mut Rng) -> String {
    let mut filter = levels(rng, &["a", "b", "", "$s", "+", "+"]);
    match rng.below(4) {
        0 => filter.push_str("/#"),
        1 if rng.below(5) == 0 => filter = "#".to_owned(),
        _ if filter.is_empty() => filter.push('+'),
        _ => {}
    }
    filter
}

fn name(rng: &mut Rng) -> String {
    loop {
        let name = levels(rng, &["a", "b", "c", "", "$s"]);
        if !name.is_empty() {
            return name;
        }
    }
}

/// Subscriptions come and go; after each, the tree finds whom a look at every filter finds.
#[test]
fn the_tree_finds_whom_a_naive_matcher_finds() {
    let mut rng = Seed::of_run(1, 0).stream("filters");
    let mut tree = Filters::default();
    let mut all: BTreeSet<(SessionId, String)> = BTreeSet::new();
    let mut found_any = 0;
    for _ in 0..20_000 {
        let session = rng.below(20) as SessionId;
        let filter = filter(&mut rng);
        topic::check_filter(&filter).unwrap();
        if rng.below(3) == 0 {
            let expected = all.remove(&(session, filter.clone()));
            assert_eq!(tree.remove(session, None, &filter), expected);
        } else {
            let expected = all.insert((session, filter.clone()));
            assert_eq!(tree.insert(session, None, &filter, options(Qos::AtMostOnce)), expected);
        }
        let name = name(&mut rng);
        let mut matches = Matches::default();
        tree.matching(&name, &mut matches);
        let mut found: Vec<SessionId> = matches.single.iter().map(|(id, _)| *id).collect();
        found.sort_unstable();
        let naive = all.iter().filter(|(_, filter)| topic::matches(filter, &name));
        let naive: Vec<SessionId> = naive.map(|(session, _)| *session).collect();
        assert_eq!(found, naive, "{name}");
        found_any += usize::from(!found.is_empty());
    }
    assert!(found_any > 5_000, "there was something to find");
    for (session, filter) in all {
        assert!(tree.remove(session, None, &filter));
    }
    assert!(tree.root.is_empty(), "no branch is left");
}

#[test]
fn retained_messages_are_found_as_by_a_naive_matcher() {
    let mut rng = Seed::of_run(2, 0).stream("retained");
    let mut kept = Retained::default();
    let mut all: BTreeSet<String> = BTreeSet::new();
    for _ in 0..10_000 {
        let name = name(&mut rng);
        if rng.below(3) == 0 {
            all.remove(&name);
            kept.remove(&name);
        } else {
            all.insert(name.clone());
            let message = Arc::new(Message::new(name.as_str(), b"x"));
            kept.insert(Kept { message, expires: None });
        }
        assert_eq!(kept.count(), all.len());
        let filter = filter(&mut rng);
        let found = kept.matching(&filter);
        let found: Vec<&str> = found.iter().map(|kept| &*kept.message.topic).collect();
        let naive = all.iter().filter(|name| topic::matches(&filter, name));
        let mut naive: Vec<&str> = naive.map(String::as_str).collect();
        naive.sort_by_key(|name| name.split('/').collect::<Vec<_>>());
        assert_eq!(found, naive, "{filter}");
    }
    for name in all {
        assert!(kept.contains(&name));
        kept.remove(&name);
    }
    assert_eq!((kept.count(), kept.weight()), (0, 0));
}

#[test]
fn retained_messages_come_in_the_order_of_their_levels() {
    let mut kept = Retained::default();
    for name in ["b/x", "ab/x", "a/x", "a!", "a/b", "a", "/x", "a!/b", "$SYS/x", "$SYS", "a/b/c"] {
        let message = Arc::new(Message::new(name, b"x"));
        kept.insert(Kept { message, expires: None });
    }
    for line in include_str!("retained.txt").lines() {
        let (filter, expected) = line.split_once(':').unwrap();
        let found = kept.matching(filter);
        let found: Vec<&str> = found.iter().map(|kept| &*kept.message.topic).collect();
        assert_eq!(found.join(" "), expected.trim_start(), "{filter}");
    }
}

#[test]
fn members_of_a_group_take_turns() {
    let mut tree = Filters::default();
    for session in [3, 5, 9] {
        tree.insert(session, Some("g"), "a/+", options(Qos::AtLeastOnce));
    }
    let mut turns = Vec::new();
    for _ in 0..6 {
        let mut matches = Matches::default();
        tree.matching("a/b", &mut matches);
        assert!(matches.single.is_empty());
        assert_eq!(matches.shared[0].len(), 3);
        turns.push(matches.shared[0][0].0);
    }
    assert_eq!(turns, [3, 5, 9, 3, 5, 9]);
}
