//! x
#![forbid(unsafe_code)]
#![allow(missing_docs)]
pub mod clock;
pub mod detection;
pub mod generated;
pub mod image;
pub mod letterbox;
pub mod model;
pub mod runtime;
