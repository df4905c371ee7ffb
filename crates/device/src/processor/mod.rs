//! A model of a host's processor: packets and inference share its cores in virtual time.
//!
//! In virtual time computing costs nothing, which is right for protocols but ignores the subject of
//! a study of inference beside communication. Here a host has [`sharing::Cores`], which all
//! runnable threads share evenly; [`competitor::Inference`] uses them for frames whose durations
//! were measured on a real machine ([`durations`]); a table has the costs of packets and messages
//! ([`costs`]); and a [`host::Host`] holds packets back until its network thread has handled them.
//! Everything is sans-IO, and its results are those of a model: they show how scheduling affects
//! round-trip times and frame rates, not how fast a certain device is.
//!
//! A network can have a [`host::Host`] at an endpoint: a packet that is sent or received waits
//! there until the host has handled it.
pub mod competitor;
pub mod costs;
pub mod durations;
pub mod host;
pub mod sharing;

/// Why a text is not a table of costs, or not a measurement of durations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TextError {
    /// From 1 on.
    pub line: usize,
    /// What is wrong, and the remedy.
    pub why: String,
}

fn error(line: usize, why: String) -> TextError {
    TextError { line, why }
}
