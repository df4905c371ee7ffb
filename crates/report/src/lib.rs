//! Results as people read them: tables for the terminal.
//!
//! Everything here turns a [`trackbed_measure::results::Document`], or a handover table, into text;
//! nothing is measured or computed anew.
#![forbid(unsafe_code)]

pub mod agreement;
mod cells;
pub mod comparison;
mod conclusion;
mod details;
mod differences;
pub mod handover;
mod number;
mod section;
pub mod summary;
mod table;
mod words;

pub use table::{Align, Table};
