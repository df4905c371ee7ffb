//! What the steps of a chore tested and skipped, for its summary.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of all steps so far.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Whether a skip is a failure: where programs were installed on purpose, nothing may be missing.
    pub strict: bool,
    pub passed: u64,
    pub failed: u64,
    /// Tests marked `#[ignore]`, which belong to the thorough tier.
    pub ignored: u64,
    /// Commands of the documentation.
    pub commands: u64,
    /// Why something was skipped, and how often.
    skipped: BTreeMap<String, u64>,
}

impl Ledger {
    /// Records a test or a command that cannot run on this machine.
    pub fn skip(&mut self, why: &str) {
        *self.skipped.entry(why.trim().to_owned()).or_default() += 1;
    }

    /// Whether anything was tested.
    pub fn has_entries(&self) -> bool {
        self.passed + self.failed + self.commands + self.skips() > 0
    }

    /// How many skips there were.
    pub fn skips(&self) -> u64 {
        self.skipped.values().sum()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (why, count) in &self.skipped {
            writeln!(f, "    skipped {count} x: {why}")?;
        }
        write!(f, "{} tests passed", self.passed)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.commands > 0 {
            write!(f, ", {} commands of the documentation printed what it shows", self.commands)?;
        }
        write!(f, "; {} skips (listed above)", self.skips())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reasons_are_one_line() {
        let mut ledger = Ledger { passed: 3, ..Ledger::default() };
        for why in ["no curl", "no namespaces", "no curl"] {
            ledger.skip(why);
        }
        assert_eq!(
            ledger.to_string(),
            "    skipped 2 x: no curl\n    skipped 1 x: no namespaces\n3 tests passed; 3 skips (listed above)"
        );
    }
}
