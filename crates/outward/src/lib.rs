//! What the program shows to others and takes from them. [`files`] of others are opened without following
//! links where they are written, and without waiting where they are read; their text is made [`printable()`]
//! before a terminal or a log gets it. Services that run for weeks share a [`Log`] for people or for machines,
//! [`Metrics`] for Prometheus, and signals.
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
