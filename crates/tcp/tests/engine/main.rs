//! The engine from outside: one connection or several paths on small test tracks.

mod behaviour;
mod chaos;
mod course;
mod details;
mod handovers;
mod kernel;
mod laws;
mod multipath;
mod multipath_middle;
mod multipath_swarm;
mod paths;
mod peers;
#[path = "../../../../tests/src/random.rs"]
#[allow(dead_code, reason = "the tests across crates use the rest")]
mod random;
mod scheduling;
mod track;
