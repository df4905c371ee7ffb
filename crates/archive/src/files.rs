//! The names of the files and folders of a run directory.

/// How the directory was created.
pub const ABOUT: &str = "about.json";
/// The result of each run, one per line.
pub const RUNS: &str = "runs.jsonl";
/// The summary document.
pub const DOCUMENT: &str = "run.json";
/// Every sample of every metric.
pub const SAMPLES: &str = "samples.csv";
/// The page of `report`.
pub const PAGE: &str = "report.html";
/// Captures of repeated runs.
pub const REPLAY: &str = "replay";
/// Captures of runs while they happened.
pub const CAPTURES: &str = "captures";
/// The environment's changes in each run.
pub const TIMELINES: &str = "timelines";
/// Copies of the files that the scenario reads, in an unpacked pack.
pub const FILES: &str = "files";
/// The list of the files of a pack.
pub const PACK: &str = "pack.json";
/// Locked by the writing process.
pub const LOCK: &str = ".lock";
/// The prefix of the folders of shards, followed by their number.
pub const SHARD_PREFIX: &str = "shard-";
