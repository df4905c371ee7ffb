//! The version of the tool; results are only meaningful with it.

/// The version of the tool, as in results and captures.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
