//! A device that computes while it communicates: what it uses, measured ([`monitor`]), and its
//! processor as a model in virtual time ([`processor`]).
#![forbid(unsafe_code)]

pub mod monitor;
pub mod processor;
