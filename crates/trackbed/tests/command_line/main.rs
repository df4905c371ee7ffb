//! The real binary: its output, its files and its exit status.

mod advise;
mod bad_input;
mod captures;
#[cfg(target_os = "linux")]
mod commands;
mod compare;
mod continuing;
#[cfg(target_os = "linux")]
mod crashes;
mod damage;
mod doctor;
mod drive;
mod drops;
#[cfg(target_os = "linux")]
mod endless;
mod export;
mod figure;
mod files;
mod fit;
mod handover;
mod infer;
mod kubernetes;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod live_siege;
mod merging;
mod packs;
mod recorded;
mod reference;
#[cfg(target_os = "linux")]
mod relay;
mod report;
mod results;
mod schemas;
#[cfg(target_os = "linux")]
mod slurm;
#[cfg(all(unix, feature = "store"))]
mod store;
#[cfg(all(unix, feature = "store"))]
mod store_faults;
#[path = "../support/mod.rs"]
mod support;
mod sweeps;
mod untrusted;
mod v2x;
mod variants;
mod verify;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use support::{Ended, Scratch, has};

/// A scenario of two messages over a clean link: 3 round trips of 10 ms.
const SCENARIO: &str = include_str!("../data/scenarios/two-messages.toml");

/// A folder with it as `a.toml`.
fn scenario() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("a.toml", SCENARIO);
    scratch
}
