//! How much window to offer: a buffer that grows with what the application reads in a round trip,
//! as Linux does (dynamic right-sizing), and a window of the share of the buffer that is left for
//! data when the bookkeeping of each segment is charged, too.

use std::time::Duration;

use trackbed_core::Time;

use crate::config::BufferSize;

/// Sizes the receive buffer and the window.
#[derive(Debug, Default)]
pub(crate) struct Tuner {
    buffer: u32,
    buffer_max: u32,
    /// The window is opened up to here as data arrives.
    threshold: u32,
    /// Payload of a full segment.
    mss: u32,
    /// The share of the buffer that holds data, in 1/256.
    share: u32,
    /// The longest segment seen, by which the share is known.
    longest: u32,
    /// Bytes that the application read in the best round trip so far.
    space: u32,
    measured_at: Time,
    /// Bytes that the application has read, ever, and at the start of this measurement.
    read: u64,
    read_before: u64,
    /// The receiver-side round-trip time, once there was a sample.
    pub rtt: Option<Duration>,
}

impl Tuner {
    pub(crate) fn new(size: BufferSize, mss: u32) -> Tuner {
        let threshold = initial_window(size, mss);
        let space = threshold.min(INITIAL_SEGMENTS * mss).max(1);
        Tuner {
            buffer: size.initial,
            buffer_max: size.max,
            threshold,
            mss,
            share: INITIAL_SHARE,
            space,
            ..Tuner::default()
        }
    }

    /// The connection is established and the peer's segments hold `mss` bytes.
    pub(crate) fn established(&mut self, now: Time, mss: u32) {
        self.mss = mss;
        self.space = self.threshold.min(INITIAL_SEGMENTS * mss).max(1);
        self.measured_at = now;
    }

    /// A round-trip time was measured at the receiver. A decrease counts at once, an increase by an
    /// eighth.
    pub(crate) fn sample_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.max(Duration::from_millis(1));
        self.rtt = Some(match self.rtt {
            Some(known) if rtt > known => known + (rtt - known) / 8,
            _ => rtt,
        });
    }

    /// The round-trip time is known from elsewhere.
    pub(crate) fn use_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(rtt.max(Duration::from_millis(1)));
    }

    /// A segment of `len` bytes arrived while `used` bytes fill the buffer. True if the window
    /// may be opened further for it.
    pub(crate) fn data_arrived(&mut self, len: u32, used: u32) -> bool {
        if len > self.longest.max(DEFAULT_MSS - 1) {
            self.longest = len;
            self.share = (256 * len / memory(len)).max(1);
            self.space = self.space.min(self.limit().max(1));
        }
        let room = self.free(used).saturating_sub(self.threshold);
        if len < MIN_LEN || room == 0 {
            return false;
        }
        self.threshold += room.min(2 * self.mss.max(len));
        true
    }

    /// The application has read `len` bytes; `hole` bytes lie between the next expected byte and
    /// the last one received. Once a round trip the buffer may grow.
    pub(crate) fn data_read(&mut self, now: Time, len: usize, hole: u32) {
        self.read += len as u64;
        let Some(rtt) = self.rtt else { return };
        if now - self.measured_at < rtt {
            return;
        }
        let copied = u32::try_from(self.read - self.read_before).unwrap_or(u32::MAX);
        if copied > self.space {
            self.grow(copied, hole);
        }
        self.read_before = self.read;
        self.measured_at = now;
    }

    /// The window to offer while `used` bytes fill the buffer: zero rather than a silly one
    /// (RFC 9293 section 3.8.6.2.2).
    pub(crate) fn window(&self, used: u32) -> u32 {
        let free = self.free(used);
        if free < self.limit() / 16 || free < self.mss.min(self.limit() / 2) {
            return 0;
        }
        free.min(self.threshold)
    }

    /// True if the window has grown so much since `offered` bytes were offered that the peer should
    /// know (RFC 9293 section 3.8.6.2.2).
    pub(crate) fn has_grown(&self, offered: u32, used: u32) -> bool {
        let twice = offered.saturating_mul(2);
        twice <= self.limit() && self.window(used) >= twice.max(1)
    }

    fn limit(&self) -> u32 {
        (u64::from(self.buffer) * u64::from(self.share) / 256) as u32
    }

    fn free(&self, used: u32) -> u32 {
        self.limit().saturating_sub(used)
    }

    /// Room for two round trips, more while the sender still doubles its rate.
    fn grow(&mut self, copied: u32, hole: u32) {
        let (copied64, space) = (u64::from(copied), u64::from(self.space));
        let mut window = 2 * copied64;
        window += 2 * (window * (copied64 - space) / space);
        window += u64::from(hole);
        self.space = copied;
        let buffer = (window * 256 / u64::from(self.share)).min(u64::from(self.buffer_max)) as u32;
        self.buffer = self.buffer.max(buffer);
    }
}

/// What Linux charges for a segment with `len` bytes of data: its headers and bookkeeping, rounded
/// up to a power of two, and a descriptor.
fn memory(len: u32) -> u32 {
    (len + SEGMENT_OVERHEAD).next_power_of_two() + DESCRIPTOR_LEN
}

/// The window of a SYN: half the buffer, in whole segments.
pub(crate) fn initial_window(size: BufferSize, mss: u32) -> u32 {
    let half = size.initial / 2;
    if half > mss && mss > 0 { half - half % mss } else { half }
}

/// The scale shift to offer: so that the largest buffer can be offered (RFC 7323 section 2.3).
pub(crate) fn window_scale(size: BufferSize) -> u8 {
    let most = size.max.max(size.initial).max(1);
    (most.ilog2().saturating_sub(15)).min(14) as u8
}

/// Before a full segment was seen, half of the buffer is taken to hold data.
const INITIAL_SHARE: u32 = 128;
/// A segment counts as full from here on, until a longer one is seen.
const DEFAULT_MSS: u32 = 536;
/// Headers and shared info of a segment.
const SEGMENT_OVERHEAD: u32 = 52 + 320;
const DESCRIPTOR_LEN: u32 = 256;
/// Shorter segments do not open the window: their bookkeeping outweighs them.
const MIN_LEN: u32 = 128;
/// What the measurement starts from: the sender's initial window.
const INITIAL_SEGMENTS: u32 = 10;
