//! Every rule: one line each.

use super::{Rule, bola, paper, throughput};

/// Every rule, in the order of lists. A new one is a file and a line here.
pub(in crate::streaming) const RULES: &[Rule] = &[
    Rule { name: "paper", choose: paper::choose },
    Rule { name: "throughput", choose: throughput::choose },
    Rule { name: "bola", choose: bola::choose },
];

pub(in crate::streaming) fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}
