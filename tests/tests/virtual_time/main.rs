//! What spans crates, in virtual time: arithmetic, scenarios, determinism, and inputs that fuzzing has found.

mod arithmetic;
mod determinism;
mod fuzz_corpus;
mod migration;
mod pages;
mod scenarios;
mod slow_start;
mod telemetry;
