//! The broker and clients of ours, joined by byte streams that a test cuts as it likes.

mod behaviour;
mod hostile;
mod limits;
mod swarm;
mod world;
