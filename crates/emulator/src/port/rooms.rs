//! Memory for packets in flight.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Blocks of memory shared by packets and reused when their packets are gone: the kernel clears
/// every page that it allocates, which costs a tenth of the cost of a packet.
#[derive(Debug)]
pub(super) struct Rooms {
    /// The block for the next packets.
    open: BytesMut,
    /// Full ones, oldest first.
    full: VecDeque<BytesMut>,
}

impl Rooms {
    pub(super) fn new() -> Rooms {
        Rooms { open: BytesMut::with_capacity(ROOM_BYTES), full: VecDeque::new() }
    }

    pub(super) fn keep(&mut self, packet: &[u8]) -> Bytes {
        if self.open.capacity() < packet.len() {
            self.change(packet.len());
        }
        self.open.extend_from_slice(packet);
        self.open.split().freeze()
    }

    /// Opens a block of at least this size.
    fn change(&mut self, least: usize) {
        let room = least.max(ROOM_BYTES);
        // Packets leave about in the order of arrival, so if the oldest block is not free yet, no
        // other is.
        let free = self.full.front_mut().is_some_and(|oldest| oldest.try_reclaim(room));
        let next = match free {
            true => self.full.pop_front().unwrap_or_default(),
            false => BytesMut::with_capacity(room),
        };
        let full = std::mem::replace(&mut self.open, next);
        self.full.push_back(full);
        if self.full.len() > ROOMS_MAX {
            // It is left to its packets, which are in a long queue.
            self.full.pop_front();
        }
    }
}

const ROOM_BYTES: usize = 1 << 18;
/// 16 MB.
const ROOMS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_keep_their_bytes_while_rooms_are_used_again() {
        let mut rooms = Rooms::new();
        let mut held = VecDeque::new();
        for number in 0..20_000_u32 {
            let packet = vec![number as u8; 1 + (number as usize * 7919) % 9_000];
            held.push_back((number, rooms.keep(&packet)));
            if held.len() > 300 {
                let (number, bytes) = held.pop_front().unwrap();
                assert_eq!(bytes.len(), 1 + (number as usize * 7919) % 9_000);
                assert!(bytes.iter().all(|byte| *byte == number as u8), "{number}");
            }
        }
        // 300 packets of 4,500 B on average fit six blocks.
        assert!(rooms.full.len() <= 10, "{}", rooms.full.len());
    }

    #[test]
    fn a_long_queue_has_its_own_memory() {
        let mut rooms = Rooms::new();
        let held: Vec<Bytes> = (0..100).map(|_| rooms.keep(&[7; ROOM_BYTES])).collect();
        assert_eq!(rooms.full.len(), ROOMS_MAX);
        assert!(held.iter().all(|bytes| bytes[..] == [7; ROOM_BYTES]));
    }
}
