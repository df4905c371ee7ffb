//! A host's processor as a model.
#![forbid(unsafe_code)]

pub mod durations;
