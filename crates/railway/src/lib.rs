//! A railway: where a train is ([`motion`]), what the radio along the track does to a link
//! ([`radio`]), and where handovers are to be expected ([`handover`]), which [`preliminary`] rides tell.
//!
//! The crate is pure and knows no network: time is an argument, randomness comes from a seed, and
//! files are text that the caller has read.
#![forbid(unsafe_code)]

pub mod handover;
pub mod motion;
pub mod preliminary;
pub mod radio;
