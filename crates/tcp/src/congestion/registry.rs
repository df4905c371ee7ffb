//! Every congestion controller: one line each.

use super::{CongestionAlgorithm, balia, cubic, lia, olia, reno};

/// Every congestion controller.
pub fn algorithms() -> &'static [&'static CongestionAlgorithm] {
    ALL
}

static ALL: &[&CongestionAlgorithm] =
    &[&cubic::ENTRY, &reno::ENTRY, &lia::ENTRY, &olia::ENTRY, &balia::ENTRY];
