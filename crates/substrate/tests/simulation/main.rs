//! The virtual substrate as its users see it.

#[path = "../support/mod.rs"]
mod support;

mod determinism;
mod failures;
mod multipath;
mod parallel;
mod roaming;
mod tcp;
mod time;
mod udp;
