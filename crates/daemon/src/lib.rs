//! What services that run for weeks share: a [`Log`] for people or for machines, [`Metrics`] for
//! Prometheus, and signals.
#![forbid(unsafe_code)]

mod exposition;
mod log;
mod metrics;
mod seldom;
mod signals;

pub use exposition::expose;
pub use log::{Format, Level, Log, time_of_day};
pub use metrics::{Counter, Gauge, Metrics};
pub use seldom::Seldom;
pub use signals::{Signal, listen};
