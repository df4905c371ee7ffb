//! What the how-to pages "Add a ..." walk through: each file here is an extension that its page
//! quotes, and that runs here without being in a registry.

mod congestion;
mod link_model;
mod pages;
#[path = "../../../crates/tcp/tests/engine/paths/mod.rs"]
mod paths;
mod protocol;
mod queue;
mod runs;
mod scheduler;
#[path = "../../../crates/tcp/tests/engine/track/mod.rs"]
mod track;
mod workload;
