//! Results as people read them: tables for the terminal.
//!
//! Everything here turns a [`trackbed_measure::results::Document`], a handover table or an
//! [`trackbed_advise::Advice`] into text;
//! nothing is measured or computed anew.
#![forbid(unsafe_code)]

pub mod advice;
pub mod agreement;
mod cells;
pub mod comparison;
mod conclusion;
pub mod contrast;
mod details;
mod differences;
pub mod export;
pub mod guidance;
pub mod handover;
mod number;
pub mod page;
pub mod papers;
mod section;
mod spread;
pub mod summary;
mod table;
mod words;

pub use table::{Align, Table};
