//! Our broker and clients, joined by byte streams that a test splits at any point; and our client
//! against Mosquitto's broker.

mod behaviour;
#[cfg(target_os = "linux")]
mod broker;
mod limits;
#[cfg(target_os = "linux")]
mod mosquitto;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/src/programs.rs"]
mod programs;
mod swarm;
mod world;
