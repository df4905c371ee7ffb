//! A railway: the position of a train ([`motion`]), the effects of the radio along the track on a link
//! ([`radio`]), where handovers are expected ([`handover`]), learnt from [`preliminary`] rides, and when a path is
//! left before its handover ([`phad`]). Logs of a real train become a drive ([`recording`]).
//!
//! The crate is pure and has no network: time is an argument, randomness comes from a seed, and files are text
//! that the caller has read.
#![forbid(unsafe_code)]

pub mod handover;
pub mod motion;
pub mod phad;
pub mod preliminary;
pub mod radio;
pub mod recording;
