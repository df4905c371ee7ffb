//! Messages and certificates against captures, other implementations, arithmetic, and input from
//! attackers.

mod captures;
mod certificates;
mod mutation;
#[path = "../../../../tests/src/programs.rs"]
mod programs;
mod reference;
mod refusals;
mod traffic;
mod world;
