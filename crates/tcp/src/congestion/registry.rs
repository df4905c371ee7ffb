//! Every congestion controller: one line each.

use super::{CongestionAlgorithm, balia, cubic, lia, olia, reno};

/// Every congestion controller.
pub fn algorithms() -> &'static [&'static dyn CongestionAlgorithm] {
    ALL
}

static ALL: &[&dyn CongestionAlgorithm] =
    &[&cubic::Cubic, &reno::Reno, &lia::ENTRY, &olia::ENTRY, &balia::ENTRY];
