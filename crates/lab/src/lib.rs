//! Executes the runs of a plan, one by one or as a campaign: in virtual time, between the kernel's
//! sockets, or between two machines.
#![forbid(unsafe_code)]

mod actor;
pub mod backend;
mod balancer;
pub mod beside;
pub mod campaign;
pub mod capture;
mod computing;
mod crowd;
mod device;
pub mod drops;
pub mod emulated;
mod ends;
mod environment;
pub mod explain;
pub mod fit;
mod foresight;
pub mod journal;
pub mod live;
mod logs;
mod machine;
mod models;
mod notes;
pub mod replay;
pub mod run;
mod scene;
#[cfg(test)]
mod testing;
mod tick;
pub mod timeline;
mod topology;
mod warm_up;
mod windows;
mod wiring;
