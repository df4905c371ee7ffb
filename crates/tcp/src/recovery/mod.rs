//! Data in flight, loss detection and recovery.

pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod scoreboard;
mod sent;
pub(crate) mod undo;
