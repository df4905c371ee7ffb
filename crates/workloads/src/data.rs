//! The data of a transfer: generated while sending, checked on arrival.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use blake3::{Hash, Hasher};
use bytes::Bytes;
use trackbed_core::Seed;

pub(crate) struct Expected {
    bytes: u64,
    /// Computed on first use.
    digest: Arc<OnceLock<Hash>>,
}

impl Expected {
    /// All of the same length share the digest: computing it takes most of a second for a gigabyte.
    pub(crate) fn of(bytes: u64) -> Expected {
        static DIGESTS: Mutex<BTreeMap<u64, Arc<OnceLock<Hash>>>> = Mutex::new(BTreeMap::new());
        let mut digests = DIGESTS.lock().unwrap_or_else(PoisonError::into_inner);
        Expected { bytes, digest: Arc::clone(digests.entry(bytes).or_default()) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn matches(&self, arrived: &Arrived) -> bool {
        arrived.bytes == self.bytes && arrived.digest() == *self.digest()
    }

    fn digest(&self) -> &Hash {
        self.digest.get_or_init(|| {
            let mut hash = Hasher::new();
            for piece in pieces(0, self.bytes) {
                hash.update(&piece);
            }
            hash.finalize()
        })
    }
}

#[derive(Default)]
pub(crate) struct Arrived {
    pub(crate) bytes: u64,
    hash: Hasher,
    /// Short pieces are collected here until they are worth hashing.
    waiting: Vec<u8>,
}

impl Arrived {
    pub(crate) fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.waiting.extend_from_slice(piece);
        if self.waiting.len() >= HASH_LEN {
            self.hash.update(&self.waiting);
            self.waiting.clear();
        }
    }

    fn digest(&self) -> Hash {
        self.hash.clone().update(&self.waiting).finalize()
    }
}

/// The test data from byte `from` to before byte `end`. It is the same in every run: slices of one
/// random block at varying offsets, so that a lost, duplicated or misplaced piece changes the
/// digest. Nothing is copied, however long the data is.
pub(crate) fn pieces(from: u64, end: u64) -> impl Iterator<Item = Bytes> {
    let mut at = from;
    std::iter::from_fn(move || {
        let (index, skipped) = (at / PIECE_LEN as u64, (at % PIECE_LEN as u64) as usize);
        let len = end.saturating_sub(at).min((PIECE_LEN - skipped) as u64) as usize;
        at += len as u64;
        let start = (mix(index) % OFFSETS) as usize + skipped;
        (len > 0).then(|| BLOCK.slice(start..start + len))
    })
}

/// Generates the block that all bodies are cut from, which takes most of a millisecond, if it is not there yet:
/// in real time the first answer would wait for it.
pub fn generate() {
    LazyLock::force(&BLOCK);
}

/// A bijection that scatters consecutive numbers (the finaliser of SplitMix64).
fn mix(index: u64) -> u64 {
    let mut z = index.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

static BLOCK: LazyLock<Bytes> = LazyLock::new(|| {
    let mut block = vec![0; OFFSETS as usize + PIECE_LEN];
    Seed::of_run(0, 0).stream("workload/bulk/data").fill(&mut block);
    Bytes::from(block)
});

/// BLAKE3 hashes this much several times faster than single packets.
const HASH_LEN: usize = 64 << 10;

/// One TLS record.
const PIECE_LEN: usize = 16 << 10;

/// Offsets in the block at which a piece may start.
const OFFSETS: u64 = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived<'a>(pieces: impl IntoIterator<Item = &'a Bytes>) -> Arrived {
        let mut arrived = Arrived::default();
        pieces.into_iter().for_each(|piece| arrived.take(piece));
        arrived
    }

    #[test]
    fn only_the_very_same_data_matches() {
        let bytes = 10 * PIECE_LEN as u64 + 1;
        let expected = Expected::of(bytes);
        let sent: Vec<Bytes> = pieces(0, bytes).collect();
        assert_eq!(sent.iter().map(Bytes::len).sum::<usize>() as u64, bytes);
        assert!(expected.matches(&arrived(&sent)));
        let one = Bytes::from(sent.concat());
        assert!(expected.matches(&arrived([&one])), "pieces may be cut anywhere");

        let mut swapped = sent.clone();
        swapped.swap(3, 4);
        let mut doubled = sent.clone();
        doubled[5] = doubled[6].clone();
        let mut flipped = one.to_vec();
        flipped[100_000] ^= 1;
        for damaged in [swapped.concat(), doubled.concat(), flipped] {
            assert!(!expected.matches(&arrived([&Bytes::from(damaged)])));
        }
        assert!(!expected.matches(&arrived([&one.slice(1..)])));
        assert!(!expected.matches(&Arrived::default()));
    }

    #[test]
    fn the_rest_of_the_data_is_the_end_of_the_whole() {
        let end = 3 * PIECE_LEN as u64 + 5;
        let whole: Vec<u8> = pieces(0, end).flatten().collect();
        for from in [0, 1, 16_383, 16_384, 16_385, 40_000, end - 1, end, end + 1] {
            let rest: Vec<u8> = pieces(from, end).flatten().collect();
            assert_eq!(rest, whole[(from as usize).min(whole.len())..], "from {from}");
        }
    }

    #[test]
    fn a_terabyte_costs_no_memory() {
        assert_eq!(
            pieces(0, 1_000_000_000_000).take(1_000).map(|p| p.len()).sum::<usize>(),
            16_384_000
        );
        assert_eq!(pieces(0, 0).count(), 0);
    }
}
