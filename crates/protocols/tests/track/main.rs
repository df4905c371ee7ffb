//! The protocols in virtual time: against arithmetic, and under siege.

mod bodies;
mod coap;
mod coap_hostile;
mod determinism;
mod engine;
mod failures;
mod handshakes;
mod migration;
mod mqtt;
mod negotiation;
mod priorities;
mod recovery;
mod round_trips;
mod sctp;
mod sctp_windows;
mod several_paths;
mod siege;
mod support;
#[cfg(target_os = "linux")]
mod usrsctp;
