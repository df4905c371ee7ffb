//! The link models.

pub(crate) mod alteration;
pub(crate) mod background;
mod chosen;
pub mod delay;
pub(crate) mod flush;
mod gate;
pub mod loss;
pub(crate) mod outage;
pub(crate) mod pause;
pub(crate) mod rate;
pub(crate) mod rate_timetable;
pub(crate) mod rate_trace;
pub(crate) mod reordering;
mod schedule;

pub use alteration::{Corruption, Duplication};
pub use background::Background;
pub use chosen::{Chosen, Fault};
pub use delay::Delay;
pub use flush::Flush;
pub use gate::{Gate, Gated};
pub use loss::Loss;
pub use outage::{Outage, Spells};
pub use pause::Pause;
pub use rate::Rate;
pub use rate_timetable::{RateTimetable, parse_rates};
pub use rate_trace::{RateTrace, Trace};
pub use reordering::Reordering;
