//! A device that computes while it communicates: measurements of its resources ([`monitor`]), and a
//! model of its processor in virtual time ([`processor`]).
#![forbid(unsafe_code)]

pub mod monitor;
pub mod processor;
