/// Sliding replay window for DTLS record sequence numbers.
///
/// Maintains the latest accepted sequence number and a 64-bit bitmap of the
/// last 64 seen sequence numbers to reject duplicates and old records.
///
/// Each epoch should have its own `ReplayWindow` instance. The caller is
/// responsible for routing records to the correct per-epoch window.
#[derive(Debug, Default)]
pub struct ReplayWindow {
    max_seq: u64,
    window: u64,
}

impl ReplayWindow {
    pub fn new() -> Self {
        Self::default()
    }

    /// Check if the given sequence number is acceptable (not a replay, not too old).
    /// Read-only: does not modify the window state.
    pub fn check(&self, seqno: u64) -> bool {
        if seqno > self.max_seq {
            true
        } else {
            let offset = self.max_seq - seqno;
            if offset >= 64 {
                return false; // too old
            }
            let mask = 1u64 << offset;
            (self.window & mask) == 0 // false if duplicate
        }
    }

    /// Update the window state to record that `seqno` has been received.
    /// Must only be called after the record has been authenticated (decrypted successfully).
    pub fn update(&mut self, seqno: u64) {
        if seqno > self.max_seq {
            let delta = seqno - self.max_seq;
            if delta > 63 {
                // Jump exceeds window size: clear entirely, only newest is seen
                self.window = 1;
            } else {
                self.window <<= delta;
                self.window |= 1; // mark newest as seen
            }
            self.max_seq = seqno;
        } else {
            let offset = self.max_seq - seqno;
            if offset < 64 {
                self.window |= 1u64 << offset;
            }
        }
    }
}
