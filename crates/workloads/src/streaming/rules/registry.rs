//! Every rule: one line each.

use super::{Rule, bola, paper, throughput};

/// Every rule, in the order of lists. A new one is a file and a line here.
pub(in crate::streaming) fn registry() -> &'static [&'static dyn Rule] {
    &[&paper::Paper, &throughput::Throughput, &bola::Bola]
}

/// The rule called `name`.
pub(in crate::streaming) fn find(name: &str) -> Option<&'static dyn Rule> {
    registry().iter().copied().find(|rule| rule.name() == name)
}
