//! Tests across crates, in virtual time: arithmetic, scenarios, determinism, a swarm of random
//! scenarios, and inputs that fuzzing has found.

mod arithmetic;
mod determinism;
mod formulas;
mod fuzz_corpus;
mod groups;
mod lost_flights;
mod migration;
mod pages;
mod presets;
mod scenarios;
mod slow_start;
mod swarm;
mod telemetry;
