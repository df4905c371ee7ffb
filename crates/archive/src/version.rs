//! The version of the tool, without which results mean nothing.

/// The version of the tool, as results and captures name it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
