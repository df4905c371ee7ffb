//! What runs say: intervals and verdicts, checks, claims of papers, advice.
//!
//! [`document`] sums the runs of a plan up; everything else is made of such a document and the runs behind
//! it. Nothing here runs anything.
#![forbid(unsafe_code)]

pub mod advise;
mod aggregate;
pub mod agreement;
mod answer;
pub mod calibration;
mod checks;
pub mod compare;
mod document;
pub mod number;
pub mod paper;

pub use document::{Origin, document};
