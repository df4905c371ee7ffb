//! What changes between the two endpoints during a connection: the link's delay, forced
//! reconnections, and the viewer's jumps.
//!
//! This is the *network environment manager* of the study "Performance Analysis of QUIC Protocol
//! for Web and Streaming Services" (KIPS Transactions, 2021): a [`StatusChanger`] draws, at a fixed
//! period, a new link delay and whether to reconnect; a [`SeekChanger`] moves the playing position
//! at random. Their draws form a [`Timeline`], known before the run begins and determined by the
//! seed alone: it is the same for all protocols, can be written to a file, and can be read from
//! one. Placed in a run it is a [`Course`].
//!
//! The module has no network code: it decides what changes when, and its users make the changes.
//!
//! ```
//! use trackbed_core::parameter::Arguments;
//! use trackbed_core::{Ratio, Seed};
//! use trackbed_workloads::environment::{Environment, PARAMETERS};
//!
//! let seek = ("seek", trackbed_core::parameter::Value::Share(Ratio::from_parts(3, 10)));
//! let environment = Environment::read(&Arguments::read(PARAMETERS, &[seek])?)?;
//! let timeline = environment.timeline(&Seed::of_run(1, 0));
//! assert_eq!(timeline.to_string().parse(), Ok((*timeline).clone()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod course;
mod file;
mod parameters;
mod status;
mod timeline;

pub use course::Course;
pub use parameters::{Environment, PARAMETERS, Reconnect};
pub use status::{SeekChanger, StatusChanger, TruncatedNormal};
pub use timeline::{Change, Moment, Timeline, TimelineError};
