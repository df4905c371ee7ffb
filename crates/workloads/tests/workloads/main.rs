//! The workloads over an arithmetic protocol (a connection takes a set-up time, an exchange takes
//! two one-way delays, and failures happen where a test wants them), and over every real protocol.

mod bulk;
mod distributions;
mod disturbances;
mod fake;
mod messages;
mod mortal;
mod page;
mod protocols;
mod refusals;
mod signed;
mod streaming;
mod streaming_protocols;
mod support;
mod telemetry;
mod timelines;
mod trouble;
mod warm_up;
