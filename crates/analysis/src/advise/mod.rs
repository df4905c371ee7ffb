//! Decides which configurations meet a need: results and expressions in, verdicts out.
//!
//! A [`Need`] is an expression over metrics, such as `p99 rtt < 50 ms and lost = 0`, parsed by
//! [`Need::parse`]. [`advise`] evaluates it for every cell of a [`Document`] with its runs, and
//! answers by intervals: a cell *meets* the need if the whole interval does, *fails* it if none of
//! it does, and is *undecided* otherwise.
//!
//! Nothing here reads a file, a clock or a network, and nothing is measured.
//!
//! [`Document`]: trackbed_measure::results::Document

mod advice;
mod baseline;
pub(crate) mod cells;
mod conditions;
mod front;
mod judge;
mod need;
pub(crate) mod words;

pub use advice::{Advice, AdviseError, CellAdvice, Finding, Measured, Objective, Question, advise};
pub use baseline::Baseline;
pub use judge::Verdict;
pub use need::{Bound, Comparison, Names, Need, NeedError, Relation};
