//! From a scenario to a plan to runs to results: the crate that wires all the others.
#![forbid(unsafe_code)]

pub mod audit;
mod beside;
mod boards;
pub mod campaign;
pub mod capture;
pub mod cluster;
mod device;
pub mod emulated;
mod ends;
mod environment;
pub mod foresight;
pub mod link;
pub mod live;
mod machine;
pub mod merge;
pub mod replay;
pub mod run;
mod scene;
pub mod shell;
pub mod substrate;
pub mod timeline;
pub mod track;
pub mod until;
mod warm_up;
