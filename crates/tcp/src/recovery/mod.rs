//! What is in flight, what of it was lost, and how the loss is made good.

pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod scoreboard;
mod sent;
pub(crate) mod undo;
