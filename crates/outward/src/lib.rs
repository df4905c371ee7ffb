//! The program's output, and untrusted input. [`files`] opens untrusted files without following links for
//! writing and without blocking for reading. Untrusted text is made [`printable()`] before it is shown on a
//! terminal or written to a log. Long-running services share a [`Log`] for people or for programs, [`Metrics`]
//! for Prometheus, and signals.
#![forbid(unsafe_code)]

mod exposition;
pub mod files;
mod log;
mod metrics;
mod printable;
mod seldom;
mod signals;

pub use exposition::expose;
pub use log::{Format, Level, Log, time_of_day};
pub use metrics::{Counter, Gauge, Metrics};
pub use printable::{Printer, printable, printable_line};
pub use seldom::Seldom;
pub use signals::{Signal, listen};
