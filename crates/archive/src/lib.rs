//! The run directory: the results of a campaign, and how to recreate its plan.
//!
//! [`RunDirectory`] is for writing; [`Recorded`] and [`RecordedRuns`] read existing directories.
//! Readers take results as [`Results`], wherever they are stored.
#![forbid(unsafe_code)]

mod about;
mod directory;
mod error;
pub mod files;
mod form;
mod hashing;
mod index;
mod log;
mod pack;
mod recorded;
mod refresh;
pub mod results;
#[cfg(feature = "store")]
pub mod store;
mod timelines;
mod units;

pub use about::{About, build_id, read_about};
pub use directory::{RunDirectory, check_complete, is_part, is_run_directory, read_document};
pub use error::DirectoryError;
pub use files::CAPTURES;
pub use index::RecordedRuns;
pub use pack::{check_pack, pack, unpack};
pub use recorded::{Recorded, RecordedError};
pub use refresh::Refresh;
pub use results::{Counted, Results};
pub use timelines::{keep_timeline, keep_timelines};
pub use units::{Shard, Units};

/// The version of the tool, as in results and captures; results are only meaningful with it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
