//! Where the frames of a stream begin and end (RFC 9114 section 7.1).
//!
//! h3 keeps a frame other than DATA until it is complete, whatever its length. It also reads one piece
//! before each head and one before each payload, so pieces with many frames would pile up there. So
//! every piece ends with a head or a payload, and long frames are refused.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

/// The maximum length of a frame that is kept until it is complete, and of a field section.
pub(super) const FIELDS_MAX: u64 = 16 << 10;

/// The incomplete frames that one connection may have on all streams.
const INCOMPLETE_MAX: u64 = 4 * FIELDS_MAX;

/// The bytes of a connection's incomplete frames.
pub(super) type Incomplete = Rc<Cell<u64>>;

/// The place in a stream.
pub(super) struct Frames {
    within: Within,
    /// What has arrived of a stream's type or a frame's head.
    head: Vec<u8>,
    incomplete: Incomplete,
    /// This stream's part of it.
    counted: u64,
}

#[derive(Clone, Copy)]
enum Within {
    /// The type of a unidirectional stream (section 6.2).
    Type,
    Head,
    /// With the rest of its length.
    Payload(u64),
    /// A stream of another type.
    Other,
}

impl Frames {
    pub(super) fn new(has_type: bool, incomplete: Incomplete) -> Frames {
        let within = if has_type { Within::Type } else { Within::Head };
        Frames { within, head: Vec::new(), incomplete, counted: 0 }
    }

    /// Takes the next piece from `bytes`, which are not empty.
    ///
    /// # Errors
    /// If a frame is too long.
    pub(super) fn cut(&mut self, bytes: &mut Bytes) -> Result<Bytes, String> {
        let len = match self.within {
            Within::Other => bytes.len(),
            Within::Payload(left) => {
                let len = left.min(bytes.len() as u64);
                self.go_on(left - len);
                len as usize
            }
            Within::Type | Within::Head => {
                let mut len = 0;
                while len < bytes.len() && !self.ends_head(bytes[len])? {
                    len += 1;
                }
                bytes.len().min(len + 1)
            }
        };
        Ok(bytes.split_to(len))
    }

    /// Adds a byte to the head; returns whether it is the last one.
    fn ends_head(&mut self, byte: u8) -> Result<bool, String> {
        self.head.push(byte);
        let Some((kind, rest)) = variable(&self.head) else { return Ok(false) };
        if matches!(self.within, Within::Type) {
            self.within = if kind == CONTROL { Within::Head } else { Within::Other };
        } else {
            let Some((len, _)) = variable(rest) else { return Ok(false) };
            let incomplete = self.incomplete.get().saturating_add(len);
            if kind != DATA && (len > FIELDS_MAX || incomplete > INCOMPLETE_MAX) {
                return Err(format!("a frame of {len} bytes is too long: at most {FIELDS_MAX}"));
            }
            if kind != DATA {
                self.incomplete.set(incomplete);
                self.counted = len;
            }
            self.go_on(len);
        }
        self.head.clear();
        Ok(true)
    }

    /// Goes on with this much of a payload.
    fn go_on(&mut self, left: u64) {
        self.within = if left > 0 { Within::Payload(left) } else { Within::Head };
        if left == 0 {
            self.incomplete.set(self.incomplete.get() - std::mem::take(&mut self.counted));
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.go_on(0);
    }
}

/// A variable-length integer (RFC 9000 section 16), and what follows it.
fn variable(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, _) = bytes.split_first()?;
    let (number, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let number = number.iter().fold(0, |all, byte| (all << 8) | u64::from(*byte));
    Some((number & (u64::MAX >> (66 - 8 * (1 << (first >> 6)))), rest))
}

const CONTROL: u64 = 0x00;
const DATA: u64 = 0x00;

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(has_type: bool, bytes: &'static [u8]) -> Result<Vec<usize>, String> {
        let mut frames = Frames::new(has_type, Incomplete::default());
        let mut bytes = Bytes::from_static(bytes);
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            pieces.push(frames.cut(&mut bytes)?.len());
        }
        Ok(pieces)
    }

    #[test]
    fn pieces_end_with_heads_and_payloads() {
        // DATA of 1 and of 0 bytes, HEADERS of 2, the head of a DATA frame of 2^30 - 1 bytes.
        let frames = b"\x00\x01a\x00\x00\x01\x02bc\x00\xbf\xff\xff\xffd";
        assert_eq!(cut(false, frames), Ok(vec![2, 1, 2, 2, 2, 5, 1]));
        // A control stream with SETTINGS, and a stream of QPACK.
        assert_eq!(cut(true, b"\x00\x04\x02\x06\x01\x0d"), Ok(vec![1, 2, 2, 1]));
        assert_eq!(cut(true, b"\x02\x01\xbf\xff\xff\xff"), Ok(vec![1, 5]));
    }

    #[test]
    fn frames_that_are_kept_are_short() {
        // HEADERS of 16,384 bytes and of one more, an unknown frame of 2^62 - 1 bytes.
        let longest = b"\x01\x80\x00\x40\x00";
        assert_eq!(cut(false, longest), Ok(vec![5]));
        assert!(cut(false, b"\x01\x80\x00\x40\x01").is_err());
        assert!(cut(false, b"\x21\xff\xff\xff\xff\xff\xff\xff\xff").is_err());
        // Five at once on a connection are too many, but what is over does not count.
        let all = Incomplete::default();
        let open = || {
            let mut frames = Frames::new(false, Rc::clone(&all));
            frames.cut(&mut Bytes::from_static(longest)).map(|_| frames)
        };
        let mut streams: Vec<_> = (0..4).map(|_| open().unwrap()).collect();
        assert!(open().is_err());
        streams.pop();
        assert!(open().is_ok());
    }
}
