//! The workloads over a protocol that is nothing but arithmetic: a connection takes a set-up time,
//! an exchange takes two times a one-way delay, and faults happen where a test wants them.

mod bulk;
mod disturbances;
mod fake;
mod messages;
mod page;
mod signed;
mod streaming;
#[path = "../support/mod.rs"]
mod support;
mod telemetry;
mod trouble;
mod warm_up;
