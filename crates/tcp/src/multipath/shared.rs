//! What all subflows of a connection share.

use super::config::MultipathConfig;
use super::keys::{Key, Keys};
use super::receive::DataReceive;
use super::send::DataSend;
use crate::segment::{AddAddress, DataNumber};

/// What is counted at the data level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultipathStats {
    /// Bytes that were given to paths for the first time.
    pub bytes_sent: u64,
    /// Bytes that were given to another path as well.
    pub bytes_repeated: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Bytes received more than once, on several paths.
    pub bytes_duplicate: u64,
    /// Mappings whose checksum was wrong.
    pub checksum_failures: u64,
    /// Subflows that were opened, the first one included.
    pub subflows: u32,
    /// The connection fell back to TCP.
    pub plain: bool,
}

/// The state of a connection between TCP and Multipath TCP (RFC 8684 sections 3.1 and 3.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// MP_CAPABLE was offered or answered; the peer's last word is missing.
    #[default]
    Opening,
    /// Both sides have both keys, but nothing shows yet that data arrives with its options.
    Unconfirmed,
    /// Multipath TCP.
    Confirmed,
    /// Fallen back to TCP: one subflow, which is the stream.
    Plain,
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    /// This side opened the connection.
    pub initiator: bool,
    pub mode: Mode,
    pub local_key: Key,
    pub remote_key: Option<Key>,
    /// The initial data sequence numbers that follow from the keys.
    initial: [u64; 2],
    /// Checksums are wanted, or agreed upon.
    pub checksum: bool,
    pub short_numbers: bool,
    /// The peer numbers its data with 64 bits, and so do we in acknowledging it.
    pub long_acks: bool,
    pub send: DataSend,
    pub receive: DataReceive,
    /// DATA_FIN was sent.
    pub fin_sent: bool,
    /// The room that subflows want in the send buffer, together.
    pub wanted: usize,
    /// Subflows that are open or opening.
    pub live: usize,
    /// The stream is what the only subflow carries, in its order: a fallback is possible.
    pub linear: bool,
    /// After MP_FAIL, data is announced by an infinite mapping.
    pub infinite: bool,
    pub events: Events,
    /// As far as they are counted here.
    pub counters: MultipathStats,
}

#[derive(Debug, Default)]
pub(super) struct Events {
    /// Something may have changed for the scheduler.
    pub stirred: bool,
    /// Data, or the end of it, was acknowledged at the data level.
    pub progress: bool,
    /// The connection is Multipath TCP from now on.
    pub confirmed: bool,
    /// The peer aborted the connection, or it can go on neither as Multipath TCP nor as TCP.
    pub broken: bool,
    pub announced: Vec<AddAddress>,
    /// Numbers of our addresses whose announcement the peer has.
    pub echoed: Vec<u8>,
    /// Numbers of addresses that the peer lost.
    pub removed: Vec<u8>,
}

impl Shared {
    pub fn new(config: &MultipathConfig, initiator: bool, key: Key, mss: u32) -> Shared {
        Shared {
            initiator,
            local_key: key,
            initial: [key.initial_data_number(), 0],
            checksum: config.checksum,
            short_numbers: config.short_numbers,
            long_acks: !config.short_numbers,
            send: DataSend::new(config.tcp.send_buffer),
            receive: DataReceive::new(config.tcp.receive_buffer, mss),
            live: 1,
            linear: true,
            ..Shared::default()
        }
    }

    /// The peer has told its key.
    pub fn set_remote_key(&mut self, key: Key) {
        self.remote_key = Some(key);
        self.initial[1] = key.initial_data_number();
    }

    pub fn keys(&self) -> Option<Keys> {
        let remote = self.remote_key?;
        Some(Keys { local: self.local_key, remote })
    }

    pub fn is_multipath(&self) -> bool {
        matches!(self.mode, Mode::Unconfirmed | Mode::Confirmed)
    }

    pub fn confirm(&mut self) {
        if self.mode == Mode::Unconfirmed {
            self.mode = Mode::Confirmed;
            self.events.confirmed = true;
            self.events.stirred = true;
        }
    }

    /// The number of our byte at `offset`: the first has the initial number plus one
    /// (section 3.1).
    pub fn own_number(&self, offset: u64) -> u64 {
        self.initial[0].wrapping_add(1).wrapping_add(offset)
    }

    /// The number of the peer's byte at `offset`.
    pub fn peer_number(&self, offset: u64) -> u64 {
        self.initial[1].wrapping_add(1).wrapping_add(offset)
    }

    /// The announced number of our data.
    pub fn announced_number(&self, offset: u64) -> DataNumber {
        let number = self.own_number(offset);
        if self.short_numbers { DataNumber::Short(number as u32) } else { DataNumber::Long(number) }
    }

    /// DATA_ACK.
    pub fn acknowledgment(&self) -> DataNumber {
        let number = self.peer_number(self.receive.acknowledgment());
        if self.long_acks { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
    }

    /// The offset of our data to which `number` belongs.
    pub fn own_offset(&self, number: DataNumber) -> Option<u64> {
        offset(number, self.send.una, self.own_number(self.send.una))
    }

    /// The offset of the peer's data to which `number` belongs, and the whole number.
    pub fn peer_offset(&self, number: DataNumber) -> Option<(u64, u64)> {
        let near = self.receive.next;
        let offset = offset(number, near, self.peer_number(near))?;
        Some((offset, self.peer_number(offset)))
    }

    /// The room that an option of the data takes from a segment: a mapping and an acknowledgment.
    pub fn option_room(&self) -> u32 {
        let number = if self.short_numbers { 4 } else { 8 };
        let mapping: u32 = number + 4 + 2 + 2;
        (4 + 8 + mapping).next_multiple_of(4)
    }
}

/// The offset of `number`, given that the one at `near` is `near_number` (section 3.3.1: a number
/// of 32 bits stands for the nearest one of 64).
fn offset(number: DataNumber, near: u64, near_number: u64) -> Option<u64> {
    let ahead = match number {
        DataNumber::Long(number) => number.wrapping_sub(near_number) as i64,
        DataNumber::Short(number) => i64::from(number.wrapping_sub(near_number as u32) as i32),
    };
    near.checked_add_signed(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_stand_for_the_nearest_long_ones() {
        let (near, near_number) = (1_000, 0x0000_0007_0000_0010);
        assert_eq!(offset(DataNumber::Short(0x20), near, near_number), Some(1_016));
        assert_eq!(offset(DataNumber::Short(0xffff_fff0), near, near_number), Some(968));
        assert_eq!(offset(DataNumber::Short(0xffff_0000), near, near_number), None);
        assert_eq!(offset(DataNumber::Long(near_number + 5), near, near_number), Some(1_005));
        assert_eq!(offset(DataNumber::Long(2), 5, u64::MAX), Some(8));
    }
}
