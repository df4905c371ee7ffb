//! The kinds of figures, one per file: which data they need and how they lay it out.

mod difference;
mod distribution;
mod front;
mod load;
pub(super) mod map;
mod overview;
mod registry;
mod sweep;
mod tails;
pub(super) mod timeline;
pub(super) mod waterfall;

pub(crate) use registry::registry;
