//! The broker and clients of ours, joined by byte streams that a test cuts as it likes; and our client
//! against Mosquitto's broker.

mod behaviour;
mod hostile;
mod limits;
#[cfg(target_os = "linux")]
mod mosquitto;
mod swarm;
mod world;
