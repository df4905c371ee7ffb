//! A host's processor as a model: packets and inference share its cores in virtual time.
//!
//! In virtual time computing costs nothing, which is right for protocols and leaves out what a study of
//! inference beside communication is about. Here a host has [`sharing::Cores`], which whoever is runnable
//! shares evenly; [`competitor::Inference`] wants them for frames whose times were measured on a real
//! machine ([`durations`]); and a [`host::Host`] holds packets back until its network thread has handled
//! them. Everything is sans-IO, and its results are those of a model: they say how scheduling acts on
//! round-trip times and frame rates, not how fast a certain device is.
//!
//! A link model can hold a [`host::Host`] of packets in front of another link: a packet that is pushed
//! arrives at the host, and what the host has handled is pushed on.
#![forbid(unsafe_code)]

pub mod competitor;
pub mod durations;
pub mod host;
pub mod sharing;
