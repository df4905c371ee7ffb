//! The place of a passage among others: its addresses, and those of the passages inside it.
//!
//! The outermost has the whole of 100.64.0.0/10 (RFC 6598: space for address translators, which no
//! outside host uses) and of fd74:7261::/32. Each level divides its space by eight, keeps the first
//! part for its own two ends and gives the others to passages inside, so that every enclosing
//! passage reaches them all by one route.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::MetadataExt as _;

use crate::namespace::Address;

/// The address space of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of enclosing passages.
    depth: u8,
    /// The first address of its space.
    base: u32,
    /// Its number among those inside the same passage.
    number: u8,
}

impl Place {
    pub(super) fn outermost() -> Place {
        Place { depth: 0, base: SPACE.to_bits(), number: 0 }
    }

    pub(super) fn is_outermost(self) -> bool {
        self.depth == 0
    }

    /// The passage that this process is in, according to its environment; `None` if the environment
    /// was inherited across a change of the namespace.
    pub(super) fn enclosing() -> Option<Place> {
        let mark = env::var(MARK).ok()?;
        let mut parts = mark.split(':');
        let (inode, depth, base) = (parts.next()?, parts.next()?, parts.next()?);
        let here = here().ok()?;
        let base: Ipv4Addr = base.parse().ok()?;
        let depth = depth.parse().ok().filter(|depth| *depth <= DEPTH_MAX)?;
        (inode == here.to_string()).then_some(Place { depth, base: base.to_bits(), number: 0 })
    }

    /// The environment variable that identifies this passage to processes in the calling thread's
    /// namespace.
    pub(super) fn mark(self) -> io::Result<(&'static str, String)> {
        let base = Ipv4Addr::from_bits(self.base);
        Ok((MARK, format!("{}:{}:{base}", here()?, self.depth)))
    }

    /// The places inside this one.
    pub(super) fn children(self) -> impl Iterator<Item = Place> {
        let room = self.depth < DEPTH_MAX;
        let depth = self.depth + 1;
        let size = 1 << (32 - prefix(depth));
        (1..FAN_OUT).filter(move |_| room).map(move |number| Place {
            depth,
            base: self.base + u32::from(number) * size,
            number,
        })
    }

    /// The name of the link's outer end. The inner end always has the same name.
    pub(super) fn outer_interface(self) -> String {
        match self.depth {
            0 => "link".to_owned(),
            _ => format!("inner{}", self.number),
        }
    }

    pub(super) fn outer(self) -> [Address; 2] {
        self.hosts(1)
    }

    pub(super) fn inner(self) -> [Address; 2] {
        self.hosts(2)
    }

    fn hosts(self, host: u32) -> [Address; 2] {
        [(self.v4(host).into(), 32), (self.v6(host).into(), 128)]
    }

    /// All addresses reached through the outer end: this passage and those inside.
    pub(super) fn inside(self) -> [Address; 2] {
        let prefix = prefix(self.depth);
        [(self.v4(0).into(), prefix), (self.v6(0).into(), prefix - 10 + 32)]
    }

    fn v4(self, host: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.base + host)
    }

    /// The bits in which passages differ directly follow the prefix.
    fn v6(self, host: u32) -> Ipv6Addr {
        let offset = u128::from(self.base - SPACE.to_bits()) << (96 - 22);
        Ipv6Addr::from_bits(SPACE_V6.to_bits() + offset + u128::from(host))
    }
}

/// The number of this thread's network namespace.
fn here() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}

/// The length of the IPv4 prefix of a space at this depth.
fn prefix(depth: u8) -> u8 {
    10 + 3 * depth
}

const SPACE: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 0);
const SPACE_V6: Ipv6Addr = Ipv6Addr::new(0xfd74, 0x7261, 0, 0, 0, 0, 0, 0);
const FAN_OUT: u8 = 8;
/// The deepest space still has a part for its own ends.
const DEPTH_MAX: u8 = 5;
const MARK: &str = "TRACKBED_PASSAGE";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::contains;

    /// All places down to the deepest, the first two of each level.
    fn tree(place: Place) -> Vec<Place> {
        let inner = place.children().take(2).flat_map(tree);
        std::iter::once(place).chain(inner).collect()
    }

    #[test]
    fn every_passage_lies_in_the_space_of_those_around_it_and_of_no_other() {
        let all = tree(Place::outermost());
        assert_eq!(all.len(), 63, "six levels");
        for place in &all {
            let own: Vec<Address> = place.inner().into_iter().chain(place.outer()).collect();
            for (address, _) in &own {
                assert!(place.inside().iter().any(|network| contains(*network, *address)));
            }
            for child in place.children() {
                for (family, (network, prefix)) in child.inside().into_iter().enumerate() {
                    assert!(contains(place.inside()[family], network), "{place:?} {child:?}");
                    assert!(prefix > place.inside()[family].1);
                    assert!(own.iter().all(|(own, _)| !contains((network, prefix), *own)));
                }
            }
            let siblings: Vec<Place> = place.children().collect();
            for (one, other) in siblings.iter().zip(siblings.iter().skip(1)) {
                assert!(!contains(one.inside()[0], other.inside()[0].0));
                assert!(!contains(one.inside()[1], other.inside()[1].0));
            }
        }
    }

    #[test]
    fn the_outermost_ends_are_easy_to_type() {
        let place = Place::outermost();
        assert_eq!(place.outer()[0].0.to_string(), "100.64.0.1");
        assert_eq!(place.inner()[1].0.to_string(), "fd74:7261::2");
    }
}
