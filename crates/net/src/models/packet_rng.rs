//! Random numbers for packets.

use std::collections::BTreeMap;

use trackbed_core::Rng;

/// Random numbers for packets, with a stream for each size of packets.
///
/// Two runs with the same seed are alike only if the same packets meet the same numbers. With one
/// stream for all, an acknowledgment more in one of them would change the fate of all data after it.
#[derive(Clone, Debug)]
pub(super) struct PacketRng {
    base: Rng,
    streams: BTreeMap<usize, Rng>,
}

/// Packets share a stream if their sizes differ by less than this number of bytes. The sizes of
/// signatures, and of numbers of variable length in QUIC, differ by one or two.
const STEP: usize = 16;

/// From this size on, in bytes, a packet is full, and shares its stream with all full ones.
const FULL: usize = 1_024;

impl PacketRng {
    pub fn new(base: Rng) -> PacketRng {
        PacketRng { base, streams: BTreeMap::new() }
    }

    /// The stream for a packet of `size` bytes.
    pub fn of(&mut self, size: usize) -> &mut Rng {
        let class = size.min(FULL) / STEP;
        self.streams.entry(class).or_insert_with(|| self.base.numbered(class as u64 + 1))
    }
}
