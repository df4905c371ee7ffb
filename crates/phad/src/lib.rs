//! PHA-D for a Linux router.
#![forbid(unsafe_code)]

pub mod controller;
pub mod gpsd;
pub mod interfaces;
pub mod source;
