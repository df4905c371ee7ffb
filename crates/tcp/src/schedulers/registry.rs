//! Every scheduler: one line each.

use super::{
    SchedulingAlgorithm, blest, ecf, linux, minrtt, peekaboo, redundant, reinject, roundrobin, sttf,
};

/// Every scheduler.
pub fn algorithms() -> &'static [&'static SchedulingAlgorithm] {
    ALL
}

static ALL: &[&SchedulingAlgorithm] = &[
    &minrtt::ENTRY,
    &roundrobin::ENTRY,
    &redundant::ENTRY,
    &linux::ENTRY,
    &ecf::ENTRY,
    &blest::ENTRY,
    &peekaboo::ENTRY,
    &sttf::ENTRY,
    &reinject::ENTRY,
];
