//! Captures in the pcapng format (draft-ietf-opsawg-pcapng) that include the TLS secrets.
//!
//! The format is implemented here because a capture without a Decryption Secrets Block is of little
//! use for QUIC and TLS, and neither the stable release of the `pcap-file` crate (2.0) nor its
//! release candidates write that block.

mod block;
mod reading;

use std::io::{self, Write};
use std::time::Duration;

use trackbed_core::{Packet, Time};

use crate::keylog::{KeyLog, KeyLogCursor};
use block::Block;

pub use reading::{Frame, frames, is_capture, lengths};

/// How a capture was made.
///
/// The same run gives the same bytes only if these do not depend on the machine, so on the virtual
/// substrate describe the simulated hardware, not this one. Empty texts are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The hardware that captured, for example `virtual`.
    pub hardware: String,
    /// The operating system that captured.
    pub os: String,
    /// The command line that recreates this capture.
    pub command_line: String,
    /// The start of the run, [`Time::ZERO`], since 1970-01-01 00:00 UTC.
    pub epoch: Duration,
}

/// A point at which packets are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapPoint {
    /// Its name, for example `uplink`.
    pub name: String,
    /// A one-sentence description; may be empty.
    pub description: String,
    /// How many bytes of each packet are kept; 0 keeps all.
    pub snap_len: u32,
}

/// A tap point of one [`PcapngWriter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapId(u32);

/// Writes a capture to `sink` as packets come: no packet is held back, so memory stays bounded.
///
/// Write the packets in order of time. TLS secrets must precede the packets that they decrypt; with
/// [`PcapngWriter::follow_keys`] they do, because a TLS library reports a secret before it encrypts
/// with it, and this writer writes new secrets before each packet.
///
/// Call [`PcapngWriter::finish`] at the end: without it the statistics are missing, but the file is
/// valid up to the last packet.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    sink: W,
    epoch_nanos: u64,
    taps: Vec<TapState>,
    keys: Option<KeyLogCursor>,
}

#[derive(Debug)]
struct TapState {
    snap_len: usize,
    received: u64,
    dropped: u64,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a capture with its Section Header Block (section 4.1).
    ///
    /// Use a buffered sink: every block is one write.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn new(mut sink: W, section: &Section) -> io::Result<PcapngWriter<W>> {
        let application = concat!("trackbed ", env!("CARGO_PKG_VERSION"));
        let header = &mut Block::new(SECTION_HEADER);
        header.u32(BYTE_ORDER_MAGIC).u16(1).u16(0).u64(UNSPECIFIED_LENGTH);
        header.text_option(OPT_COMMENT, &section.command_line);
        header.text_option(SHB_HARDWARE, &section.hardware);
        header.text_option(SHB_OS, &section.os);
        header.text_option(SHB_USERAPPL, application);
        sink.write_all(header.finish())?;
        let epoch_nanos = u64::try_from(section.epoch.as_nanos()).unwrap_or(u64::MAX);
        Ok(PcapngWriter { sink, epoch_nanos, taps: Vec::new(), keys: None })
    }

    /// Adds a tap point: an Interface Description Block (section 4.2). Others may follow at any
    /// time.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn add_tap(&mut self, tap: &TapPoint) -> io::Result<TapId> {
        let description = &mut Block::new(INTERFACE_DESCRIPTION);
        description.u16(LINKTYPE_RAW).u16(0).u32(tap.snap_len);
        description.text_option(IF_NAME, &tap.name);
        description.text_option(IF_DESCRIPTION, &tap.description);
        description.option(IF_TSRESOL, &[NANOSECONDS]);
        self.sink.write_all(description.finish())?;
        let snap_len = match tap.snap_len {
            0 => usize::MAX,
            snap_len => snap_len as usize,
        };
        self.taps.push(TapState { snap_len, received: 0, dropped: 0 });
        Ok(TapId((self.taps.len() - 1) as u32))
    }

    /// Includes the current and future secrets of `keys` in the capture.
    pub fn follow_keys(&mut self, keys: &KeyLog) {
        self.keys = Some(keys.cursor());
    }

    /// Writes a packet that passed `tap`, with a comment if it is not empty: an Enhanced Packet Block
    /// (section 4.3), after the secrets that may decrypt it.
    ///
    /// # Errors
    /// Those of the sink; `InvalidInput` for a tap that this writer does not have.
    pub fn packet(
        &mut self,
        at: Time,
        tap: TapId,
        packet: &Packet,
        comment: &str,
    ) -> io::Result<()> {
        let state = self.state(tap)?;
        state.received += 1;
        let kept = &packet.bytes()[..packet.len().min(state.snap_len)];
        self.write_new_secrets()?;
        let block = &mut Block::new(ENHANCED_PACKET);
        block.u32(tap.0).timestamp(self.timestamp(at));
        block.u32(kept.len() as u32).u32(packet.len() as u32);
        block.padded(kept).text_option(OPT_COMMENT, comment);
        self.sink.write_all(block.finish())
    }

    /// Writes a packet that was lost at `tap`. It carries the comment `dropped: ` and `why`, so
    /// that the filter `frame.comment` finds it, and counts in the statistics.
    ///
    /// # Errors
    /// As [`PcapngWriter::packet`].
    pub fn dropped(&mut self, at: Time, tap: TapId, packet: &Packet, why: &str) -> io::Result<()> {
        self.state(tap)?.dropped += 1;
        self.packet(at, tap, packet, &format!("dropped: {why}"))
    }

    /// Writes an Interface Statistics Block for each tap point (section 4.6), with its numbers of
    /// received and dropped packets until `end`, and returns the flushed sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self, end: Time) -> io::Result<W> {
        self.write_new_secrets()?;
        let end_nanos = self.timestamp(end);
        for (id, tap) in self.taps.iter().enumerate() {
            let statistics = &mut Block::new(INTERFACE_STATISTICS);
            statistics.u32(id as u32).timestamp(end_nanos);
            statistics.timestamp_option(ISB_STARTTIME, self.epoch_nanos);
            statistics.timestamp_option(ISB_ENDTIME, end_nanos);
            statistics.u64_option(ISB_IFRECV, tap.received);
            statistics.u64_option(ISB_IFDROP, tap.dropped);
            self.sink.write_all(statistics.finish())?;
        }
        self.sink.flush()?;
        Ok(self.sink)
    }

    /// A Decryption Secrets Block (section 4.7) with the new lines of the key log.
    fn write_new_secrets(&mut self) -> io::Result<()> {
        let lines = self.keys.as_mut().map(KeyLogCursor::take_new).unwrap_or_default();
        if lines.is_empty() { Ok(()) } else { self.sink.write_all(&secrets(&lines)) }
    }

    fn state(&mut self, tap: TapId) -> io::Result<&mut TapState> {
        self.taps.get_mut(tap.0 as usize).ok_or_else(|| {
            let reason = "this capture has no such tap point; add it first";
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })
    }

    /// Nanoseconds since 1970, which fit 64 bits until the year 2554.
    fn timestamp(&self, at: Time) -> u64 {
        self.epoch_nanos.saturating_add(at.as_nanos())
    }
}

/// A Decryption Secrets Block (section 4.7) with these lines of a key log, to be inserted before the packets
/// that they decrypt.
pub fn secrets(lines: &str) -> Vec<u8> {
    let block = &mut Block::new(DECRYPTION_SECRETS);
    block.u32(TLS_KEY_LOG).u32(lines.len() as u32).padded(lines.as_bytes());
    block.finish().to_vec()
}

// Block types, section 11.1.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;

/// In the wrong byte order, this is another number (section 4.1).
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// A section whose length is not known when it begins: -1.
const UNSPECIFIED_LENGTH: u64 = u64::MAX;
/// Packets that begin with an IPv4 or IPv6 header.
const LINKTYPE_RAW: u16 = 101;
/// The resolution of time: 10^-9 s (section 4.2, if_tsresol).
const NANOSECONDS: u8 = 9;
/// "TLSK": a key log in the NSS format (section 4.7).
const TLS_KEY_LOG: u32 = 0x544c_534b;

// Options: sections 3.5, 4.1, 4.2 and 4.6.
const OPT_COMMENT: u16 = 1;
const SHB_HARDWARE: u16 = 2;
const SHB_OS: u16 = 3;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const ISB_STARTTIME: u16 = 2;
const ISB_ENDTIME: u16 = 3;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;
