//! Rules that choose the resolution of the next piece, each in its own file.

mod bola;
mod paper;
mod registry;
mod throughput;

use std::time::Duration;

use super::storage::Resolution;

pub(super) use registry::{RULES, find};

pub(super) struct Rule {
    pub name: &'static str,
    pub choose: fn(&Situation<'_>) -> Resolution,
}

/// What a client knows when it requests a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    /// The one-way delay of a packet.
    pub link_delay: Duration,
    /// Whether it is the first request on its connection, or the first one after a jump.
    pub is_fresh: bool,
    /// The buffered media.
    pub buffered: Duration,
    /// The maximum buffered media.
    pub limit: Duration,
    /// The mean size of a piece of each resolution in bytes; at least one.
    pub sizes: [u64; 3],
    /// The pieces that have arrived, the latest last.
    pub transfers: &'a [Transfer],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// Its bytes.
    pub bytes: u64,
    /// From the request to the last byte.
    pub took: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A situation without any knowledge, for media of 1, 2 and 4 MB a second.
    pub fn situation() -> Situation<'static> {
        Situation {
            link_delay: Duration::ZERO,
            is_fresh: false,
            buffered: Duration::ZERO,
            limit: Duration::from_secs(10),
            sizes: [1_000_000, 2_000_000, 4_000_000],
            transfers: &[],
        }
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        for (index, rule) in RULES.iter().enumerate() {
            assert!(RULES[..index].iter().all(|other| other.name != rule.name));
            assert!(find(rule.name).is_some());
        }
        assert!(find("none").is_none());
    }
}
