//! The cost of a signature, depending on its key.

use trackbed_verifier::cache::{Policy, Residence};

use super::Costs;

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
