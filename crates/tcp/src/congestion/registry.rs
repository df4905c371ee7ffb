//! Every congestion controller: one line each.

use super::{CongestionAlgorithm, balia, cubic, lia, olia, reno};

/// Every congestion controller.
pub fn algorithms() -> &'static [&'static dyn CongestionAlgorithm] {
    &[&cubic::Cubic, &reno::Reno, &lia::Lia, &olia::Olia, &balia::Balia]
}
