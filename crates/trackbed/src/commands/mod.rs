//! One file for each subcommand.

pub mod advise;
pub mod agree;
pub mod calibrate;
pub mod campaign;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod export;
pub mod fetch;
pub mod handover;
pub mod infer;
pub mod link;
pub mod list;
pub mod merge;
pub mod monitor;
pub mod paper;
pub mod phad;
pub mod plan;
pub mod relay;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
pub mod v2x;
pub mod verify;
pub mod verify_results;
