//! Results for people: tables for the terminal, and an HTML page.
//!
//! Everything here turns a [`trackbed_measure::results::Document`], a handover table or an
//! [`trackbed_analysis::advise::Advice`] into text or a page. Nothing is measured or computed,
//! apart from the distribution functions that a page draws.
#![forbid(unsafe_code)]

pub mod advice;
pub mod agreement;
pub mod batches;
mod cells;
pub mod contrast;
mod details;
mod differences;
pub mod divergence;
pub mod drops;
pub mod export;
pub mod figure;
pub mod fit;
mod guidance;
pub mod handover;
mod methods;
pub mod page;
pub mod papers;
pub mod plot;
mod spread;
pub mod summary;
mod table;
mod words;

pub use methods::methods;
pub use table::{Align, Table};
pub(crate) use trackbed_analysis::number;
