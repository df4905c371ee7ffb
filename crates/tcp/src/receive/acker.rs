//! When to acknowledge (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2), with the quick and the
//! delayed mode of Linux.

use std::time::Duration;

use trackbed_core::Time;

use crate::tick::Tick;

#[derive(Debug, Default)]
pub(crate) struct Acker {
    /// Acknowledgments that are still sent at once.
    quick: u32,
    /// The connection is interactive: a response will carry the acknowledgment.
    interactive: bool,
    /// The delay, from the spacing of the data; zero before the first data.
    timeout: Duration,
    last_data: Option<Time>,
    /// Something waits to be acknowledged.
    scheduled: bool,
    /// It waits for the application to read what was the end of a write: a segment that was not
    /// full, or one with PSH.
    pushed: bool,
    /// A second such end of a write waits too: the response to the first was long in coming.
    pushed_twice: bool,
    due_at: Option<Time>,
    compressed: u32,
    duplicates: u32,
    compressed_until: Option<Time>,
    /// The largest segment received: what a full one is.
    full: u32,
    /// The length of the last segment if it was smaller, but not too small for a full one.
    last_smaller: u32,
    /// To which the delay is rounded.
    tick: Option<Tick>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// Received bytes that are not acknowledged.
    pub unacknowledged: u32,
    /// Out-of-order data is buffered.
    pub hole: bool,
    /// SACK is in use.
    pub sack: bool,
    /// Smoothed or receiver-side round-trip time, whichever is smaller.
    pub rtt: Duration,
    /// Smoothed round-trip time, once there was a sample.
    pub srtt: Option<Duration>,
}

impl Acker {
    pub(crate) fn new(full: u32, tick: Option<Tick>) -> Acker {
        Acker { full: full.min(MAX_INITIAL_FULL), tick, ..Acker::default() }
    }

    pub(crate) fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Data of `len` bytes arrived in order, with or without PSH. `window` is the window offered, `rto` our
    /// own timeout.
    pub(crate) fn data_arrived(
        &mut self,
        now: Time,
        (len, push): (u32, bool),
        window: u32,
        rto: Duration,
    ) {
        self.scheduled = true;
        self.measure(len, push);
        match self.last_data {
            _ if self.timeout.is_zero() => {
                self.quicken(MAX_QUICK, window);
                self.timeout = MIN_DELAY;
            }
            Some(last) => {
                let pause = now - last;
                if pause <= MIN_DELAY / 2 {
                    self.timeout = self.timeout / 2 + MIN_DELAY / 2;
                } else if pause < self.timeout {
                    self.timeout = (self.timeout / 2 + pause).min(rto);
                } else if pause > rto {
                    // The sender has restarted its window: help it to open.
                    self.quicken(MAX_QUICK, window);
                }
            }
            None => {}
        }
        self.last_data = Some(now);
    }

    /// Learns how long a full segment is. The sender of one with PSH, or of a smaller one, may have nothing
    /// to follow it. Two equal ones in a row are full segments of a path that takes no larger ones.
    fn measure(&mut self, len: u32, push: bool) {
        let before = std::mem::take(&mut self.last_smaller);
        if len >= self.full {
            self.full = len.min(MAX_FULL);
            self.pushed |= push;
            return;
        }
        if len >= PLAUSIBLE_FULL || (len >= LEAST_FULL && !push) {
            self.last_smaller = len;
            if len == before {
                self.full = len;
                return;
            }
        }
        self.pushed_twice |= self.pushed;
        self.pushed = true;
    }

    /// Data is sent: one that answers data received a moment ago makes the exchange interactive.
    pub(crate) fn data_sent(&mut self, now: Time) {
        if self.last_data.is_some_and(|last| now - last < self.timeout) {
            self.interactive = true;
        }
    }

    /// Up to `most` acknowledgments go out at once, within half the window.
    pub(crate) fn quicken(&mut self, most: u32, window: u32) {
        let quick = (window / (2 * self.full.max(1))).max(2).min(most);
        self.quick = self.quick.max(quick);
    }

    /// An anomaly (a duplicate, data outside the window): acknowledge everything at once.
    pub(crate) fn enter_quick_mode(&mut self, window: u32) {
        self.quicken(MAX_QUICK, window);
        self.interactive = false;
        self.timeout = MIN_DELAY;
    }

    /// The window has just grown: the sender should know.
    pub(crate) fn window_grew(&mut self) {
        self.quick |= 1;
    }

    /// Whether to acknowledge received data now; otherwise the timer is set.
    pub(crate) fn decide(&mut self, now: Time, situation: Situation) -> bool {
        if !self.scheduled {
            return false;
        }
        if situation.unacknowledged > self.full || (self.quick > 0 && !self.interactive) {
            return true;
        }
        if !situation.hole {
            return self.delay(now, situation.srtt);
        }
        // RFC 5681 section 4.2: out-of-order data is acknowledged at once. After the duplicates
        // that start a recovery, one acknowledgment may cover many segments.
        if !situation.sack || self.duplicates < DUPLICATES || self.compressed >= MAX_COMPRESSED {
            self.duplicates += 1;
            return true;
        }
        self.compressed += 1;
        let delay = (situation.rtt / 20).min(MAX_COMPRESSION);
        self.compressed_until.get_or_insert(now + delay);
        false
    }

    /// The cumulative acknowledgment moved: the duplicate count restarts.
    pub(crate) fn advanced(&mut self) {
        self.duplicates = 0;
    }

    /// The application read everything there was; true if the end of a write waits for an
    /// acknowledgment and no answer is expected to carry it, or if the ends of two do.
    pub(crate) fn drained(&self) -> bool {
        self.scheduled && (self.pushed_twice || (self.pushed && !self.interactive))
    }

    /// True if a full segment or more waits to be acknowledged.
    pub(crate) fn is_overdue(&self, unacknowledged: u32) -> bool {
        self.scheduled && unacknowledged > self.full
    }

    /// An acknowledgment was sent, alone or with data.
    pub(crate) fn acknowledged(&mut self) {
        if self.scheduled && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.timeout = MIN_DELAY;
            }
        }
        self.scheduled = false;
        self.pushed = false;
        self.pushed_twice = false;
        self.due_at = None;
        self.compressed = 0;
        self.compressed_until = None;
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        match (self.due_at, self.compressed_until) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The timer fired; true if an acknowledgment must be sent.
    pub(crate) fn expired(&mut self, now: Time) -> bool {
        if self.compressed_until.is_some_and(|at| at <= now) {
            return true;
        }
        if self.due_at.is_none_or(|at| at > now) {
            return false;
        }
        self.due_at = None;
        if self.interactive {
            // No response came: send separate acknowledgments from now on.
            self.interactive = false;
            self.timeout = MIN_DELAY;
        } else {
            self.timeout = (self.timeout * 2).min(MAX_DELAY);
        }
        self.scheduled
    }

    /// Sets the timer, unless an earlier one runs; true if that is about to expire anyway.
    fn delay(&mut self, now: Time, srtt: Option<Duration>) -> bool {
        let mut most = if self.interactive || self.pushed { MAX_DELAY } else { MAX_BULK_DELAY };
        if let Some(srtt) = srtt {
            most = most.min(srtt.max(MIN_DELAY));
        }
        let delay = self.timeout.min(most).min(MAX_DELAY);
        let fires = |wait| self.tick.map_or(now + wait, |tick| tick.fires(now, wait));
        // A quarter of the delay, which Linux counts in ticks.
        let soon =
            self.tick.map_or(delay / 4, |tick| tick.rounded_down(tick.rounded_up(delay) / 4));
        if self.due_at.is_some_and(|at| at <= fires(soon)) {
            return true;
        }
        let due = fires(delay);
        self.due_at = Some(self.due_at.map_or(due, |at| at.min(due)));
        false
    }
}

const MIN_DELAY: Duration = Duration::from_millis(40);
const MAX_DELAY: Duration = Duration::from_millis(200);
/// The longest delay while full segments stream in.
const MAX_BULK_DELAY: Duration = Duration::from_millis(500);
/// Acknowledgments that go out at once at the start of a connection.
const MAX_QUICK: u32 = 16;
/// The first guess of a full segment (RFC 9293 section 3.7.1: the default of 536 bytes).
const MAX_INITIAL_FULL: u32 = 536;
/// A segment counts as full up to this size.
const MAX_FULL: u32 = 65_535;
/// A smaller segment may be a full one from this payload on: 536 bytes (RFC 9293 section 3.7.1), less the
/// timestamps; without PSH, 88 bytes less these.
const PLAUSIBLE_FULL: u32 = 524;
const LEAST_FULL: u32 = 76;
/// Reports that may share one acknowledgment.
const MAX_COMPRESSED: u32 = 44;
/// Duplicates that are sent at once, to start a recovery.
const DUPLICATES: u32 = 3;
/// The longest wait of a report.
const MAX_COMPRESSION: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    /// An interactive connection past its quick start, at which nothing waits.
    fn interactive() -> Acker {
        let mut acker = Acker::new(1_448, None);
        acker.data_arrived(Time::ZERO, (1_448, false), 65_535, MAX_DELAY);
        acker.data_sent(Time::ZERO);
        acker.acknowledged();
        acker
    }

    fn arrives(acker: &mut Acker, len: u32, push: bool) {
        acker.data_arrived(Time::ZERO, (len, push), 65_535, MAX_DELAY);
    }

    /// The first end of a write waits for a response, the second for none (ICSK_ACK_PUSHED2).
    #[test]
    fn two_ends_of_writes_are_acknowledged_once_they_are_read() {
        let mut acker = interactive();
        arrives(&mut acker, 200, true);
        assert!(!acker.drained());
        arrives(&mut acker, 35, true);
        assert!(acker.drained());
        acker.acknowledged();
        assert!(!acker.drained());
        // A full segment with PSH is not a second end.
        arrives(&mut acker, 1_448, true);
        assert!(!acker.drained());
        arrives(&mut acker, 1_448, true);
        assert!(!acker.drained());
    }

    /// Linux compares ticks: of a delay of ten, the second segment is acknowledged at once from the start
    /// of the eighth on.
    #[test]
    fn an_acknowledgment_that_is_due_soon_is_not_delayed_again() {
        let ms = Duration::from_millis;
        let tick = Tick::new(ms(4), Duration::ZERO);
        let mut acker = Acker { tick, timeout: MIN_DELAY, interactive: true, ..Acker::default() };
        let at = |micros| Time::ZERO + Duration::from_micros(micros);
        assert!(!acker.delay(at(1_000), None));
        assert_eq!(acker.deadline(), Some(at(44_000)));
        assert!(!acker.delay(at(31_999), None));
        assert_eq!(acker.deadline(), Some(at(44_000)));
        assert!(acker.delay(at(32_000), None));
        // A delay of 45 ms is twelve ticks, of which a quarter is three.
        let long = Some(Duration::from_millis(45));
        let mut longer = Acker { due_at: None, timeout: MAX_DELAY, ..acker };
        assert!(!longer.delay(at(1_000), long));
        assert_eq!(longer.deadline(), Some(at(52_000)));
        assert!(!longer.delay(at(35_999), long) && longer.delay(at(36_000), long));
        // Exact timers compare times.
        let mut exact = Acker { tick: None, timeout: MIN_DELAY, ..longer };
        exact.due_at = None;
        assert!(!exact.delay(at(1_000), None));
        assert_eq!(exact.deadline(), Some(at(41_000)));
        assert!(!exact.delay(at(30_999), None) && exact.delay(at(31_000), None));
    }

    #[test]
    fn one_end_is_acknowledged_if_no_response_is_expected() {
        let mut acker = Acker::new(1_448, None);
        arrives(&mut acker, 1_448, false);
        acker.acknowledged();
        arrives(&mut acker, 100, true);
        assert!(acker.drained());
    }

    /// Two equal segments of 1,200 bytes are what the path takes: they are not ends of writes, and the second
    /// one is full. Small ones are ends, however equal.
    #[test]
    fn equal_segments_in_a_row_are_full_ones() {
        let mut acker = interactive();
        acker.full = 1_448;
        arrives(&mut acker, 1_200, true);
        assert_eq!((acker.full, acker.pushed, acker.pushed_twice), (1_448, true, false));
        arrives(&mut acker, 1_200, true);
        assert_eq!((acker.full, acker.pushed_twice), (1_200, false));
        for _ in 0..2 {
            arrives(&mut acker, 50, false);
        }
        assert_eq!((acker.full, acker.pushed_twice), (1_200, true));
        // Without PSH, less is plausible.
        arrives(&mut acker, 100, false);
        arrives(&mut acker, 100, false);
        assert_eq!(acker.full, 100);
    }
}
