//! The engine from outside: one connection or several paths on small test tracks.

mod behaviour;
mod chaos;
mod coupled;
mod details;
mod handovers;
mod kernel;
mod laws;
mod multipath;
mod multipath_middle;
mod multipath_swarm;
mod paths;
mod peers;
mod scheduling;
mod track;
