//! The run directory: what a campaign leaves behind, and the plan behind it once more.
//!
//! [`RunDirectory`] is one that is being written; [`Recorded`] and [`RecordedRuns`] read one that is there.
//! Readers of results take them as [`Results`], wherever they are kept.
#![forbid(unsafe_code)]

mod about;
mod directory;
mod error;
pub mod files;
mod form;
mod index;
mod log;
mod recorded;
mod refresh;
pub mod results;
mod timelines;
mod units;
mod version;

pub use about::{About, read_about};
pub use directory::{RunDirectory, check_complete, is_part, is_run_directory, read_document};
pub use error::DirectoryError;
pub use index::RecordedRuns;
pub use recorded::{Recorded, RecordedError};
pub use refresh::Refresh;
pub use results::{Counted, Results};
pub use timelines::{keep_timeline, keep_timelines};
pub use units::{Shard, Units};
pub use version::VERSION;
