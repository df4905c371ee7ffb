//! The names of the files and folders of a run directory.

/// What made the directory.
pub const ABOUT: &str = "about.json";
/// The result of each run, a line each.
pub const RUNS: &str = "runs.jsonl";
/// The document that sums up.
pub const DOCUMENT: &str = "run.json";
/// Every sample of every metric.
pub const SAMPLES: &str = "samples.csv";
/// Where `report` puts its page.
pub const PAGE: &str = "report.html";
/// Captures of runs that were repeated.
pub const REPLAY: &str = "replay";
/// What the environment does in each run.
pub const TIMELINES: &str = "timelines";
/// Held by the process that writes.
pub const LOCK: &str = ".lock";
/// What the folders of shards are called, with their number behind it.
pub const SHARD_PREFIX: &str = "shard-";
