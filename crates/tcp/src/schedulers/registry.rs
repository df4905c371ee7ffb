//! Every scheduler: one line each.

use super::{
    SchedulingAlgorithm, blest, ecf, linux, minrtt, peekaboo, redundant, reinject, roundrobin, sttf,
};

/// Every scheduler.
pub fn algorithms() -> &'static [&'static dyn SchedulingAlgorithm] {
    &[
        &minrtt::MinRtt,
        &roundrobin::RoundRobin,
        &redundant::Redundant,
        &linux::Linux,
        &ecf::Ecf,
        &blest::Blest,
        &peekaboo::Peekaboo,
        &sttf::Sttf,
        &reinject::Reinject,
    ]
}
