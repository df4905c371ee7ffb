//! The link models, a file each.

pub(crate) mod corruption;
pub mod delay;
pub(crate) mod duplication;
pub(crate) mod flush;
mod gate;
pub mod loss;
pub(crate) mod outage;
mod packet_rng;
pub(crate) mod pause;
pub(crate) mod rate;
pub(crate) mod rate_timetable;
pub(crate) mod rate_trace;
pub(crate) mod reordering;
mod schedule;
mod spells;

pub use corruption::Corruption;
pub use delay::Delay;
pub use duplication::Duplication;
pub use flush::Flush;
pub use loss::Loss;
pub use outage::Outage;
pub use pause::Pause;
pub use rate::Rate;
pub use rate_timetable::{RateTimetable, parse_rates};
pub use rate_trace::{RateTrace, Trace};
pub use reordering::Reordering;
pub use spells::Spells;
