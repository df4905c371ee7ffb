//! Reads a scenario's text and resolves it to a [`Plan`].
//!
//! The stages: the text; a tree of nodes with their positions (`tree`); settings with known keys
//! and the right kinds (`reader`, driven by the tables of `schema`); cells (`resolve`). Errors are
//! collected and reported together, each with its line and a remedy.
//!
//! # The format
//!
//! TOML. Quantities carry units. On any key of the endpoints, a link or a workload, a list of
//! values or a range (`{ from = "1 ms", to = "9 ms", step = "2 ms" }`, or `points = 5` for the
//! step) makes an axis. The cells are the product of all axes, in the order of the file, the last
//! axis varying fastest. Combinations that a protocol does not support are left out, as long as
//! each written value occurs in some cell.
//!
//! A key of a link takes a plain value (`delay = "5 ms"`), a model by its name (`delay = { uniform
//! = { least = "1 ms", most = "3 ms" } }`), or several models that all apply (`loss = { loss = "0.1
//! %", periodic = 100 }`).
#![forbid(unsafe_code)]

mod cell;
mod device;
mod drive;
mod endpoint;
mod ends;
mod environment;
pub mod expectation;
mod factors;
mod family;
mod field;
mod files;
mod foreign;
mod foresight;
mod groups;
mod inference;
mod inference_keys;
mod ip;
mod json_schema;
mod link;
mod load;
mod measured;
mod network;
mod overrides;
pub mod papers;
mod parts;
mod plan;
mod preset;
mod problem;
mod programs;
mod radio;
mod radio_link;
mod reader;
mod recipe;
mod reference;
mod resolve;
mod schedule;
mod schema;
mod silence;
mod source;
mod spec;
mod suggest;
mod sweep;
#[cfg(test)]
mod tests;
mod tree;
mod unused;
mod values;

pub use drive::{Drive, Journey, Radio};
pub use files::{Copies, Input};
pub use foresight::{Foresight, ForesightKind};
pub use groups::GROUP;
pub use ip::{IpVersion, SERVER_ADDRESSES, SERVER_PORT};
pub use json_schema::json_schema;
pub use link::link;
pub use load::{RUNS_MAX, load};
pub use overrides::{Override, OverrideError};
pub use parts::PART;
pub use plan::{
    Cell, Device, Endpoint, Factor, ForeignClient, Home, Inference, LinkPlan, NetworkPlan, Place,
    Plan, Programs, Work,
};
pub use problem::ScenarioError;
pub use recipe::{Recipe, RecipeError};
pub use reference::{Key, nearest_key, reference};
pub use schedule::{Arrivals, Schedule};
pub use source::{BuiltIn, Source, built_in};
pub use sweep::CELLS_MAX;
