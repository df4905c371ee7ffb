//! Our broker and clients, joined by byte streams that a test splits at any point; and our client
//! against Mosquitto's broker.

mod behaviour;
mod hostile;
mod limits;
#[cfg(target_os = "linux")]
mod mosquitto;
mod swarm;
mod world;
