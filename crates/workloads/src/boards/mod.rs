//! Units of known speed: the time that signatures take on their cores. Each figure has its source, in
//! `boards.toml`.

mod own;

use std::path::Path;

use trackbed_core::Arguments;
use trackbed_core::parameter::Value;
use trackbed_verifier::cache::{Policy, Residence};
use trackbed_verifier::engine::model::Core;

use crate::arguments::{WorkloadError, ensure};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Board {
    /// The name that scenarios use; of one's own unit, its file or its table.
    pub name: String,
    /// Its cores: how many, and how much slower each is than the first, in thousandths.
    pub cores: Vec<(usize, u32)>,
    /// The default number of cores that verify.
    pub usual: usize,
    /// The largest number of cores whose speed was measured; that of more is extrapolated.
    pub measured: usize,
    /// Nanoseconds on its first core.
    pub costs: Costs,
    /// A GPU that verifies beside the cores.
    pub gpu: Option<Gpu>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gpu {
    /// From the start of a batch to its verdicts, in nanoseconds, besides its signatures.
    pub launch: u64,
    /// A signature of a large batch by a key without a table, in nanoseconds.
    pub signature: u64,
}

impl Board {
    /// The first cores of the board: the wanted number, as far as available, or the default.
    pub(crate) fn cores(&self, wanted: Option<usize>) -> Vec<Core> {
        let batch_nanos = self.costs.batch;
        let core = |slowdown_permille| Core { batch_nanos, slowdown_permille, least: 1 };
        let all = self.cores.iter().flat_map(|(count, slowdown)| vec![core(*slowdown); *count]);
        all.take(wanted.unwrap_or(self.usual)).collect()
    }

    /// The GPU beside the cores, if it has one, as a core that large batches are worth.
    pub(crate) fn device(&self) -> Option<Core> {
        let Gpu { launch, signature } = self.gpu?;
        let slowdown = (signature * 1000 / self.costs.signature.max(1)).max(1);
        let own = self.costs.tables.map_or(self.costs.signature, |tables| tables.signature);
        let gain = own.saturating_sub(own * slowdown / 1000).max(1);
        Some(Core {
            batch_nanos: launch * 1000 / slowdown,
            slowdown_permille: u32::try_from(slowdown).unwrap_or(u32::MAX),
            least: usize::try_from(launch / gain + 1).unwrap_or(usize::MAX).max(2),
        })
    }

    /// Whether these are more than were measured.
    pub(crate) fn is_extrapolated(&self, wanted: Option<usize>) -> bool {
        self.cores(wanted).len() > self.measured
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// All checks of a message except its signature: decoding, policy, hash.
    pub message: u64,
    /// A batch of signatures, whatever its size.
    pub batch: u64,
    /// A signature by a key without a table.
    pub signature: u64,
    /// Tables of keys, if the verifier has any.
    pub tables: Option<Tables>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tables {
    /// A signature by a key with a table, in nanoseconds.
    pub signature: u64,
    /// Building a table, in nanoseconds.
    pub build: u64,
    /// Its memory.
    pub bytes: usize,
}

/// The board that a scenario chooses, and its name if it chooses one. The default one also stands for [`HERE`] in
/// directories of earlier versions.
///
/// # Errors
/// If a file or table does not describe a board.
pub(crate) fn find(
    arguments: &Arguments,
    base: &Path,
) -> Result<(Board, Option<String>), WorkloadError> {
    let refuse = |why| WorkloadError::new("board", why);
    let board = match arguments.value("board") {
        Some(Value::File(file)) => own::measured(&base.join(file)).map_err(refuse)?,
        Some(Value::Text(table)) => own::described(table).map_err(refuse)?,
        other => {
            let name = other.map(ToString::to_string);
            let found = name.as_deref().and_then(|name| own::BOARDS.get(name));
            return Ok((found.unwrap_or(&own::BOARDS[NAMES[0]]).clone(), name));
        }
    };
    let name = board.name.clone();
    Ok((board, Some(name)))
}

pub(crate) fn workers(arguments: &Arguments) -> Result<Option<usize>, WorkloadError> {
    let workers: Option<u64> = arguments.get("workers");
    let is_right = workers.is_none_or(|workers| workers <= WORKERS_MAX);
    ensure(is_right, "workers", format!("at most {WORKERS_MAX}"))?;
    Ok(workers.map(|workers| workers as usize))
}

const WORKERS_MAX: u64 = 64;

/// This machine, in real time.
pub const HERE: &str = "here";

pub(crate) const NAMES: &[&str] = &[
    "trackbed-xeon-ifma",
    "trackbed-epyc-portable",
    "trackbed-xeon-openssl",
    "etri-odroid-xu4",
    "etri-udoo-quad",
    HERE,
];

pub(crate) const HELP: &str = "processors of the unit; real time: only `here`, this machine, which \
                               is the default; virtual time: a model, by default trackbed-xeon-ifma, a \
                               Sapphire Rapids Xeon with AVX-512 running this program; \
                               trackbed-epyc-portable is a Zen 3 EPYC without it, trackbed-xeon-openssl the Xeon \
                               with OpenSSL 3.0, etri-odroid-xu4 four Cortex-A15 and four A7, \
                               etri-udoo-quad four Cortex-A9; one's own unit: a file that `trackbed \
                               verify --json` wrote on it, or a table { cores = [4, 0], signature = \
                               \"476 us\" } with the numbers of fast and slow cores, and if known \
                               `name` (in results), `slow-signature`, `known-signature` (with a table of the key, which \
                               takes the time `table` to make), `batch` (fixed time of a batch), \
                               `message` (time of all other checks), and of a GPU `gpu-launch` (fixed \
                               time of a batch) and `gpu-signature` (as signature, in a large batch)";

/// The number of the authority's key, which has certified all others; no other key has it.
pub(crate) const AUTHORITY: u64 = u64::MAX;

/// The costs of signatures by different keys, for which a board's verifier keeps tables.
#[derive(Debug)]
pub(crate) struct KeyCosts {
    costs: Costs,
    tables: Residence<u64, ()>,
    tables_max: usize,
}

impl KeyCosts {
    pub(crate) fn new(costs: Costs, policy: Policy) -> KeyCosts {
        let bytes = costs.tables.map_or(usize::MAX, |tables| tables.bytes);
        KeyCosts { costs, tables: Residence::new(policy, bytes), tables_max: 0 }
    }

    /// The cost of the next signature by this key, in nanoseconds, with that of building its table.
    pub(crate) fn signature(&mut self, key: u64) -> u64 {
        let Some(costs) = self.costs.tables else { return self.costs.signature };
        let mut built = 0;
        let has_table = self.tables.get(key, || built = costs.build).is_some();
        self.tables_max = self.tables_max.max(self.tables.tables());
        if has_table { costs.signature + built } else { self.costs.signature }
    }

    pub(crate) fn tables_bytes(&self) -> u64 {
        let bytes = self.costs.tables.map_or(0, |tables| tables.bytes);
        (bytes * self.tables_max) as u64
    }
}

#[cfg(test)]
mod tests {
    use trackbed_verifier::KeyTable;

    use super::*;

    #[test]
    fn every_name_has_its_board() {
        let (here, names) = NAMES.split_last().unwrap();
        assert_eq!((*here, names.len()), (HERE, own::BOARDS.len()));
        for name in names {
            assert!(own::BOARDS.contains_key(*name) && HELP.contains(name), "{name}");
        }
        let tables = Some(Tables { signature: 3_170, build: 150_000, bytes: KeyTable::BYTES });
        let costs = Costs { message: 2_600, batch: 10_700, signature: 12_000, tables };
        assert_eq!(own::BOARDS["trackbed-xeon-ifma"].costs, costs);
        assert_eq!(own::BOARDS["etri-odroid-xu4"].cores, [(4, 1000), (4, 2184)]);
    }
}
