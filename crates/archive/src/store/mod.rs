//! Run directories in object stores, for campaigns on machines that share no disk.
//!
//! An address contains the files of a run directory, with one difference. A directory has the results in one
//! growing file (`runs.jsonl`). Objects cannot grow, so a store has the results in pieces under `runs/`, each
//! named by the SHA-256 of its bytes. While any process runs, pieces are only added, so that no process can
//! delete the results of another.
//!
//! | object | content |
//! | --- | --- |
//! | `about.json` | the origin of the results; created once, before the first result |
//! | `runs/SHA256.jsonl` | results, one per line |
//! | the rest | the other files of the directory, uploaded when a process ends |
//!
//! All calls block until the store has answered.

mod error;
mod fetch;
mod mirror;
mod place;

pub use error::StoreError;
pub use fetch::Fetched;
pub use mirror::{Mirror, PERIOD};
pub use place::{SCHEMES, Store};

use crate::files::{ABOUT, RUNS};

/// The folder of the pieces of results in a store.
const PIECES: &str = "runs";
