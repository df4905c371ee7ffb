//! The data of a transfer: generated while sending, checked on arrival.

use std::fmt::Display;
use std::ops::Range;
use std::sync::LazyLock;

use bytes::Bytes;
use trackbed_connection::{Response, body};
use trackbed_core::Seed;

/// How much of the data has arrived, from its beginning on, and whether it is what was sent.
#[derive(Default)]
pub(crate) struct Arrived {
    pub(crate) bytes: u64,
    differs: bool,
}

impl Arrived {
    pub(crate) fn take(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let place = place(self.bytes, self.bytes.saturating_add(piece.len() as u64));
            let (next, rest) = piece.split_at(place.len());
            self.differs |= next != &BLOCK[place];
            self.bytes += next.len() as u64;
            piece = rest;
        }
    }

    /// Whether it is what was sent, so far.
    pub(crate) fn is_intact(&self) -> bool {
        !self.differs
    }

    /// Whether it is the whole of that many bytes.
    pub(crate) fn is_all_of(&self, bytes: u64) -> bool {
        self.bytes == bytes && self.is_intact()
    }
}

/// The test data from byte `from` to before byte `end`. It is the same in every run: slices of one
/// random block at varying offsets, so that a lost, duplicated or misplaced piece is found. Nothing is
/// copied, however long the data is.
pub(crate) fn pieces(from: u64, end: u64) -> impl Iterator<Item = Bytes> {
    let mut at = from;
    std::iter::from_fn(move || {
        let place = place(at, end);
        at += place.len() as u64;
        (!place.is_empty()).then(|| BLOCK.slice(place))
    })
}

/// Where the block has the data from byte `at` to the end of its piece, or to before byte `end`.
fn place(at: u64, end: u64) -> Range<usize> {
    let (index, skipped) = (at / PIECE_LEN as u64, (at % PIECE_LEN as u64) as usize);
    let len = end.saturating_sub(at).min((PIECE_LEN - skipped) as u64) as usize;
    let start = (mix(index) % OFFSETS) as usize + skipped;
    start..start + len
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

/// One TLS record.
const PIECE_LEN: usize = 16 << 10;

/// Offsets in the block at which a piece may start.
const OFFSETS: u64 = 1 << 18;

pub(crate) fn refuse(status: u16, reason: impl Display) -> Response {
    let content = serde_json::json!({ "status": "refused", "reason": reason.to_string() });
    Response { status, body: body::full(content.to_string()) }
}

pub(crate) fn nothing_at(path: &str) -> Response {
    refuse(404, format!("there is nothing at {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived<'a>(pieces: impl IntoIterator<Item = &'a Bytes>) -> Arrived {
        let mut arrived = Arrived::default();
        pieces.into_iter().for_each(|piece| arrived.take(piece));
        arrived
    }

    #[test]
    fn only_the_very_same_data_is_intact() {
        let bytes = 10 * PIECE_LEN as u64 + 1;
        let is_whole = |arrived: Arrived| arrived.is_all_of(bytes);
        let sent: Vec<Bytes> = pieces(0, bytes).collect();
        assert_eq!(sent.iter().map(Bytes::len).sum::<usize>() as u64, bytes);
        assert!(is_whole(arrived(&sent)));
        let one = Bytes::from(sent.concat());
        assert!(is_whole(arrived([&one])), "pieces may be cut anywhere");
        let (head, tail) = (one.slice(..50_000), one.slice(50_000..));
        assert!(is_whole(arrived([&head, &tail])));

        let mut swapped = sent.clone();
        swapped.swap(3, 4);
        let mut doubled = sent.clone();
        doubled[5] = doubled[6].clone();
        let mut flipped = one.to_vec();
        flipped[100_000] ^= 1;
        for damaged in [swapped.concat(), doubled.concat(), flipped] {
            assert!(!arrived([&Bytes::from(damaged)]).is_intact());
        }
        assert!(!arrived([&head, &tail.slice(1..)]).is_intact());
        assert!(!is_whole(arrived([&head])) && arrived([&head]).is_intact());
        assert!(!is_whole(Arrived::default()));
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
