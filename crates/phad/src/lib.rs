//! PHA-D for a Linux router.
#![forbid(unsafe_code)]

pub mod controller;
