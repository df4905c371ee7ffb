//! The link models, a file each.

pub mod delay;
mod rate;

pub use delay::Delay;
pub use rate::Rate;
