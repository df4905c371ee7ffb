//! Results as people read them: tables for the terminal.
//!
//! Everything here turns a [`trackbed_measure::results::Document`] into text; nothing is measured
//! or computed anew.
#![forbid(unsafe_code)]

pub mod comparison;
mod number;
pub mod summary;
mod table;

pub use table::{Align, Table};
