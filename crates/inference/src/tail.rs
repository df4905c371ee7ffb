//! The last output of a program.

use std::collections::VecDeque;
use std::io::Read;

/// The last 4,096 bytes of a stream, read to its end, without white space around them.
pub fn read(mut stream: impl Read) -> String {
    let mut tail = Tail::default();
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut part) {
        tail.push(&part[..count]);
    }
    tail.text()
}

#[derive(Debug, Default)]
pub(crate) struct Tail(VecDeque<u8>);

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let surplus = self.0.len().saturating_sub(BYTES);
        self.0.drain(..surplus);
    }

    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

const BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_much_is_kept() {
        let kept = read(format!("{}the end\n", "x".repeat(3 * BYTES)).as_bytes());
        assert!(kept.len() < BYTES && kept.ends_with("xthe end"), "{kept}");
    }
}
