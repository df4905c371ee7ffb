//! What runs show: intervals and verdicts, checks, claims of papers, advice.
//!
//! [`document`] summarises the runs of a plan; everything else works on such a document and its
//! runs. Nothing here executes runs.
#![forbid(unsafe_code)]

pub mod advise;
mod aggregate;
pub mod agreement;
mod answer;
pub mod calibration;
mod checks;
pub mod compare;
pub mod computing;
pub mod divergence;
mod document;
pub mod drops;
pub mod fit;
pub mod groups;
pub mod needed;
pub mod number;
pub mod paper;
pub mod significance;

pub use answer::Names;
pub use document::{Origin, document, open};
