//! Units: the built-in ones, and one's own, from a table in the scenario or from what `trackbed verify --json`
//! wrote on it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use trackbed_core::units::parse_duration;
use trackbed_outward::files;
use trackbed_verifier::KeyTable;

use super::{Board, Costs, Gpu, Tables};

/// The built-in units, by name.
pub(super) static BOARDS: LazyLock<BTreeMap<String, Board>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Known {
        usual: usize,
        measured: usize,
        unit: Unit,
    }
    let known: BTreeMap<String, Known> =
        toml::from_str(include_str!("boards.toml")).expect("a test reads it");
    let board = |(name, Known { usual, measured, unit }): (String, Known)| {
        let board = unit.board(&name).expect("a test reads it");
        (name, Board { usual, measured, ..board })
    };
    known.into_iter().map(board).collect()
});

pub(super) fn described(table: &str) -> Result<Board, String> {
    let read = toml::from_str::<BTreeMap<String, Unit>>(&format!("unit = {table}"));
    let read = read.map_err(|why| format!("{}; {EXAMPLE}", why.message()))?;
    read.into_values().next().ok_or(EXAMPLE)?.board(table)
}

impl Unit {
    /// The board, called as the unit says or `otherwise`.
    fn board(self, otherwise: &str) -> Result<Board, String> {
        let [fast, slow] = match self.cores {
            Cores::Equal(fast) => [fast, 0],
            Cores::Kinds(kinds) => kinds,
        };
        let Unit { signature, slow_signature, known_signature, table: build, .. } = self;
        let (launch, of_gpu) = (self.gpu_launch, self.gpu_signature);
        let is_right = (1..=CORES_MAX).contains(&fast) && slow <= CORES_MAX;
        let is_fast_first =
            slow_signature >= signature && slow > 0 || slow_signature + slow as u64 == 0;
        let has_table = known_signature <= signature && (known_signature == 0) == (build == 0);
        let has_gpu = of_gpu < signature && (launch == 0) == (of_gpu == 0);
        let why = match () {
            () if !is_right => "cores: a board has 1 to 1024 fast cores",
            () if signature == 0 => "signature: write a time above zero",
            () if !is_fast_first => {
                "slow cores, and only they, need a slow-signature that is at least as long"
            }
            () if !has_table => {
                "known-signature and table belong together: the time of a signature by a key that has a table, \
                 which is below signature, and the time to make this table"
            }
            () if !has_gpu => {
                "gpu-launch and gpu-signature belong together, and the second is below signature"
            }
            () => {
                let slowdown = u32::try_from(slow_signature * 1000 / signature);
                let tables = Tables { signature: known_signature, build, bytes: KeyTable::BYTES };
                let tables = (build > 0).then_some(tables);
                return Ok(Board {
                    name: self.name.unwrap_or_else(|| otherwise.to_owned()),
                    cores: vec![(fast, 1000), (slow, slowdown.unwrap_or(u32::MAX))],
                    usual: fast + slow,
                    measured: fast + slow,
                    gpu: (launch > 0).then_some(Gpu { launch, signature: of_gpu }),
                    costs: Costs { message: self.message, batch: self.batch, signature, tables },
                });
            }
        };
        Err(format!("{why}; {EXAMPLE}"))
    }
}

/// Times are in nanoseconds; zero is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Unit {
    /// Stands for the table in results.
    name: Option<String>,
    cores: Cores,
    #[serde(deserialize_with = "nanos")]
    signature: u64,
    #[serde(default, deserialize_with = "nanos")]
    slow_signature: u64,
    #[serde(default, deserialize_with = "nanos")]
    known_signature: u64,
    #[serde(default, deserialize_with = "nanos")]
    table: u64,
    #[serde(default, deserialize_with = "nanos")]
    batch: u64,
    #[serde(default, deserialize_with = "nanos")]
    message: u64,
    #[serde(default, deserialize_with = "nanos")]
    gpu_launch: u64,
    #[serde(default, deserialize_with = "nanos")]
    gpu_signature: u64,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "cores: write a number, or those of fast and slow cores, [4, 0]")]
enum Cores {
    Equal(usize),
    Kinds([usize; 2]),
}

fn nanos<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let span = parse_duration(&String::deserialize(from)?).map_err(D::Error::custom)?;
    // An hour is enough, and its products do not overflow.
    Ok(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).min(3_600_000_000_000))
}

const EXAMPLE: &str = "write for example { cores = [4, 0], signature = \"476 us\" }";
const CORES_MAX: usize = 1_024;

/// The unit on which `trackbed verify --json` wrote this file.
pub(super) fn measured(file: &Path) -> Result<Board, String> {
    let fail = |why: &str| {
        let advice = "write it with `trackbed verify --library trackbed,trackbed-new-keys --json` on the unit";
        format!("{}: {why}; {advice}", file.display())
    };
    let text = files::read_bounded(file, BYTES_MAX).map_err(|why| fail(&why.to_string()))?;
    let read: Measured = serde_json::from_slice(&text).map_err(|why| fail(&why.to_string()))?;
    if read.slow_cores > 0 {
        return Err(fail("its cores were slowed down with --slow-cores"));
    }
    let (board, threads) = read.board(&file.display().to_string()).map_err(fail)?;
    Ok(Board { usual: read.cores, measured: threads, ..board })
}

/// The part of the document that matters here.
#[derive(Deserialize)]
struct Measured {
    cores: usize,
    slow_cores: usize,
    batch: u64,
    libraries: Vec<Library>,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Library {
    library: String,
    table_us: Option<f64>,
    #[serde(default)]
    batches: Vec<Batch>,
}

#[derive(Deserialize)]
struct Batch {
    batch: u64,
    cpu_us_per_verification: f64,
}

#[derive(Deserialize)]
struct Cell {
    library: String,
    threads: usize,
    cpu_us_per_verification: f64,
}

impl Measured {
    /// The board, and the number of threads that its times were measured with.
    fn board(&self, name: &str) -> Result<(Board, usize), &'static str> {
        if self.cores == 0 || self.cores > CORES_MAX {
            return Err("it names no cores");
        }
        let known = self.of("trackbed");
        let new = self.of("trackbed-new-keys").or_else(|| self.of("openssl"));
        let (unknown, threads) =
            new.ok_or("it has no times of trackbed-new-keys, for keys not seen before")?;
        let ours = self.libraries.iter().find(|it| it.library == "trackbed");
        // With few signatures at a time, each bears more of what a batch costs whatever its size.
        let one = ours.and_then(|it| it.batches.iter().find(|it| it.batch == 1));
        let more =
            known.zip(one).map_or(0.0, |((whole, _), one)| one.cpu_us_per_verification - whole);
        let batch = more.max(0.0) * self.batch as f64 / (self.batch as f64 - 1.0).max(1.0);
        let nanos =
            |us: f64| ((us - batch / self.batch.max(1) as f64) * 1e3).round().max(1.0) as u64;
        let build =
            ours.map(|it| it.table_us.ok_or("it has no `table_us`: an earlier version wrote it"));
        let build = build.transpose()?.map(|us| (us * 1e3) as u64);
        let tables = known.zip(build).map(|((known, _), build)| Tables {
            signature: nanos(known),
            build,
            bytes: KeyTable::BYTES,
        });
        let costs =
            Costs { message: 0, batch: (batch * 1e3) as u64, signature: nanos(unknown), tables };
        let (name, cores) = (name.to_owned(), vec![(self.cores, 1000)]);
        Ok((Board { name, cores, usual: 0, measured: 0, costs, gpu: None }, threads))
    }

    /// The processor time of a signature with as many threads as cores, or the most below.
    fn of(&self, library: &str) -> Option<(f64, usize)> {
        let own = self.cells.iter().filter(|it| it.library == library && it.threads <= self.cores);
        let most = own.max_by_key(|cell| cell.threads)?;
        let is_right = most.cpu_us_per_verification > 0.0;
        is_right.then_some((most.cpu_us_per_verification, most.threads))
    }
}

const BYTES_MAX: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 us in batches of 32 and 41 us alone: 32 us a batch, 9 us each.
    const VERIFY: &str = r#"{ "cores": 4, "slow_cores": 0, "batch": 32, "schema": 1,
        "libraries": [{ "library": "trackbed", "table_us": 150.5,
                        "batches": [{ "batch": 1, "cpu_us_per_verification": 41.0 }] }],
        "cells": [{ "library": "trackbed", "threads": 1, "cpu_us_per_verification": 8.0 },
                  { "library": "trackbed", "threads": 4, "cpu_us_per_verification": 10.0 },
                  { "library": "trackbed", "threads": 8, "cpu_us_per_verification": 30.0 },
                  { "library": "trackbed-new-keys", "threads": 2, "cpu_us_per_verification": 61.0 }] }"#;

    #[test]
    fn a_table_or_a_measurement_describes_a_unit() {
        let board =
            described(r#"{ cores = [4, 2], signature = "476 us", slow-signature = "952 us" }"#);
        let board = board.unwrap();
        assert_eq!(board.cores, [(4, 1000), (2, 2000)]);
        assert_eq!((board.usual, board.costs.signature, board.costs.tables), (6, 476_000, None));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), VERIFY).unwrap();
        let board = measured(file.path()).unwrap();
        assert_eq!((board.usual, board.measured), (4, 2));
        let tables = Tables { signature: 9_000, build: 150_500, bytes: KeyTable::BYTES };
        let costs = Costs { message: 0, batch: 32_000, signature: 60_000, tables: Some(tables) };
        assert_eq!(board.costs, costs);
    }

    #[test]
    fn what_describes_no_unit_is_refused_with_advice() {
        for (table, why) in [
            (r#"{ signature = "1 ms" }"#, "missing field `cores`"),
            (r#"{ cores = [0, 0], signature = "1 ms" }"#, "1 to 1024 fast cores"),
            (r#"{ cores = "many", signature = "1 ms" }"#, "those of fast and slow cores, [4, 0]"),
            (r#"{ cores = 4, signature = "1" }"#, "\"1\""),
            (r#"{ cores = [4, 4], signature = "1 ms" }"#, "slow cores, and only they"),
            (r#"{ cores = 4, signature = "1 ms", known-signature = "1 us" }"#, "belong together"),
            (r#"{ cores = 4, signature = "1 ms", gpu-launch = "9 us" }"#, "belong together"),
            (r#"{ cores = 4, signature = "1 ms", speed = 3 }"#, "unknown field `speed`"),
        ] {
            let refusal = described(table).unwrap_err();
            assert!(refusal.contains(why), "{table}: {refusal}");
        }
        for (text, why) in [
            ("{}", "missing field `cores`"),
            (&VERIFY.replace("\"cores\": 4", "\"cores\": 0"), "no cores"),
            (&VERIFY.replace("-new-keys", "-others"), "no times of trackbed-new-keys"),
            (&VERIFY.replace("table_us", "tables"), "no `table_us`"),
            (&VERIFY.replace("\"slow_cores\": 0", "\"slow_cores\": 1"), "--slow-cores"),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            let refusal = measured(file.path()).unwrap_err();
            assert!(refusal.contains(why) && refusal.contains("trackbed verify"), "{refusal}");
        }
    }
}
