//! The kernel's MPTCP counters: `MPTcpExt` of /proc/net/netstat.

use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Counters of a network namespace since its creation, by the kernel's names (net/mptcp/mib.c).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, u64>);

impl Counters {
    /// The counter of this name, for example `MPPrioTx`; 0 if this kernel has none.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Parses the file: a line of names, and a line of values.
    fn parse(text: &str) -> Counters {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("MPTcpExt:"));
        let (names, values) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        let pairs = names.split_whitespace().zip(values.split_whitespace());
        let parsed = pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        Counters(parsed.collect())
    }
}

/// The counters of the calling thread's network namespace.
///
/// # Errors
/// If /proc is missing.
pub fn counters() -> io::Result<Counters> {
    Ok(Counters::parse(&fs::read_to_string("/proc/thread-self/net/netstat")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_two_lines() {
        let text = "TcpExt: A B\nTcpExt: 1 2\nMPTcpExt: MPPrioTx MPPrioRx New\nMPTcpExt: 3 4 x\n";
        let counters = Counters::parse(text);
        assert_eq!((counters.get("MPPrioTx"), counters.get("MPPrioRx")), (3, 4));
        assert_eq!((counters.get("A"), counters.get("New")), (0, 0));
        assert_eq!(Counters::parse(""), Counters::default());
    }
}
