//! A host's processor as a model: packets and inference share its cores in virtual time.
//!
//! In virtual time computing costs nothing, which is right for protocols and leaves out what a study of
//! inference beside communication is about. Here a host has [`sharing::Cores`], which whoever is runnable
//! shares evenly; [`competitor::Inference`] wants them for frames whose times were measured on a real
//! machine ([`durations`]); a table says what packets and messages cost ([`costs`]); and a [`host::Host`] holds packets back until its network thread has handled
//! them. Everything is sans-IO, and its results are those of a model: they say how scheduling acts on
//! round-trip times and frame rates, not how fast a certain device is.
//!
//! A network can hold a [`host::Host`] at an end: a packet that is sent or received waits there until the
//! host has handled it.
pub mod competitor;
pub mod costs;
pub mod durations;
pub mod host;
pub mod sharing;
