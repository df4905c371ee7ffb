//! Run directories in object stores, for campaigns on machines that share no disk.
//!
//! Below one address lies what a run directory holds, with one difference: the results, which a
//! directory has in one file that grows (`runs.jsonl`), are pieces under `runs/`, each named by the SHA-256
//! of its bytes, since objects cannot grow. Pieces are only ever added while anybody runs, so that no
//! process, whatever becomes of it, takes results from another.
//!
//! | object | content |
//! | --- | --- |
//! | `about.json` | what made the results; created once, before the first result |
//! | `runs/SHA256.jsonl` | results, one line each |
//! | the rest | what the directory has, when a process has come to its end |
//!
//! Everything here waits: calls come back when the store has answered.

#![cfg(feature = "object-stores")]
#![forbid(unsafe_code)]

mod error;
mod fetch;
mod mirror;
mod place;

pub use error::StoreError;
pub use fetch::Fetched;
pub use mirror::{Mirror, PERIOD};
pub use place::{SCHEMES, Store};

/// The file of results in a run directory, and the folder of their pieces in a store.
const RUNS_FILE: &str = "runs.jsonl";
const PIECES: &str = "runs";
const ABOUT: &str = "about.json";
