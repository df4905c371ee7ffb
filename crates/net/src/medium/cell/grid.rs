//! The time grid of a carrier: slots, their directions, and when an answer can be on the air.

use std::time::Duration;

use trackbed_core::{Ratio, Rng, Time};

use crate::network::ids::Direction;

/// Transmissions of a block before HARQ gives up: its four redundancy versions (TS 36.212 5.1.4.1.2).
pub(super) const HARQ_TRANSMISSIONS: u32 = 4;

/// What the keys say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) grid: Grid,
    pub(super) is_fair: bool,
    pub(super) snr: f64,
    pub(super) snr_spread: f64,
    pub(super) fading: f64,
    pub(super) coherence: Duration,
    pub(super) bler: Option<Ratio>,
    /// After so many transmissions a block is given up.
    pub(super) transmissions: u32,
    pub(super) queue: u64,
    pub(super) drx_cycle: Option<Duration>,
    pub(super) drx_inactivity: Duration,
}

/// What a preset fixes and no key changes.
#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) name: &'static str,
    slot: Duration,
    /// The resource elements for data of one resource block, for each slot of a pattern that repeats:
    /// uplink, downlink. A slot with 0 carries nothing in that direction.
    elements: [&'static [u64]; 2],
    /// The resource blocks for data: uplink, downlink.
    pub(super) blocks: [u64; 2],
    /// Resource blocks are given to a station in groups of this many.
    pub(super) group: u64,
    /// The defaults of the keys `terminal`, `base_station` and `sr_period`.
    defaults: [Duration; 3],
}

/// The carriers by the name of their preset.
pub(super) static CARRIERS: [Carrier; 3] = [
    Carrier { name: "lte-10mhz", blocks: [48, 50], group: 3, ..LTE },
    LTE,
    // TS 38.101-1 Table 5.3.2-1: 51 blocks in 20 MHz at 30 kHz, slots of 0.5 ms (TS 38.211 Table
    // 4.3.2-1). The pattern is DDDSU. TS 38.306 4.1.2 counts 14 % of a downlink slot and 8 % of an
    // uplink slot as overhead: 144 and 154 of 12 x 14 elements are left. S has 10 downlink symbols
    // of 14: 102. Groups: TS 38.214 Table 5.1.2.2.1-1, 37-72 blocks. `k1` and `k2` are at least 4
    // slots, the default of srsRAN, which has the scheduler look ahead as far.
    Carrier {
        name: "nr-20mhz-tdd",
        slot: Duration::from_micros(500),
        elements: [&[0, 0, 0, 0, 154], &[144, 144, 144, 102, 0]],
        blocks: [51, 51],
        group: 4,
        defaults: [Duration::from_millis(2), Duration::from_millis(2), Duration::from_millis(10)],
    },
];

/// FDD. TS 36.211: subframes of 1 ms (4.1), 12 x 14 elements in a block (6.2.3). 100 blocks in 20 MHz (TS 36.101 5.6).
/// Downlink: 3 symbols of control and the 12 reference elements of two ports outside them (6.10.1)
/// leave 120. Uplink: 2 symbols of reference signals (5.5.2) leave 144, and 4 blocks at the edges (2
/// in 10 MHz) are control. Groups: TS 36.213 Table 7.1.6.1-1. A grant and a block are answered 4
/// slots later (TS 36.213 8 and 7.3); a base station needs as long.
const LTE: Carrier = Carrier {
    name: "lte-20mhz",
    slot: Duration::from_millis(1),
    elements: [&[144], &[120]],
    blocks: [96, 100],
    group: 4,
    defaults: [Duration::from_millis(4), Duration::from_millis(4), Duration::from_millis(10)],
};

/// A carrier with its delays in slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) carrier: &'static Carrier,
    terminal: u64,
    base_station: u64,
    sr_period: u64,
    /// When the first slot begins.
    begin: Duration,
    /// The turn of the first station for scheduling requests.
    first_turn: u64,
}

impl Grid {
    /// These delays, rounded up to slots, at least one. Turns for requests repeat with the pattern.
    pub(super) fn new(carrier: &'static Carrier, delays: [Option<Duration>; 3]) -> Grid {
        let slots = |n: usize| {
            let delay = delays[n].unwrap_or(carrier.defaults[n]);
            delay.as_nanos().div_ceil(carrier.slot.as_nanos()).max(1) as u64
        };
        let (terminal, base_station) = (slots(0), slots(1));
        let sr_period = slots(2).next_multiple_of(carrier.elements[0].len() as u64);
        Grid { carrier, terminal, base_station, sr_period, begin: Duration::ZERO, first_turn: 0 }
    }

    /// The same with slots and turns at random: the terminals' programs do not know them.
    pub(super) fn shifted(self, mut draws: Rng) -> Grid {
        let begin = Duration::from_nanos(draws.below(self.carrier.slot.as_nanos() as u64));
        Grid { begin, first_turn: draws.below(self.sr_period), ..self }
    }

    pub(super) fn start(&self, slot: u64) -> Time {
        let slots = slot.saturating_mul(self.carrier.slot.as_nanos() as u64);
        Time::from_nanos(slots.saturating_add(self.begin.as_nanos() as u64))
    }

    /// The first slot that begins at `now` or later.
    pub(super) fn from(&self, now: Time) -> u64 {
        let since = now.as_nanos().saturating_sub(self.begin.as_nanos() as u64);
        since.div_ceil(self.carrier.slot.as_nanos() as u64)
    }

    /// What a receiver needs to decode a block, and the base station before it sends: 1.5 slots, as
    /// evaluations of 3GPP assume (TR 36.912 annex B).
    pub(super) fn decoding(&self) -> Duration {
        self.carrier.slot * 3 / 2
    }

    /// The resource elements for data of one block in a slot.
    pub(super) fn elements(&self, direction: Direction, slot: u64) -> u64 {
        let pattern = self.carrier.elements[direction as usize];
        pattern[(slot % pattern.len() as u64) as usize]
    }

    /// The first slot of this direction from `slot` on.
    pub(super) fn next(&self, direction: Direction, slot: u64) -> u64 {
        let pattern = self.carrier.elements[direction as usize].len() as u64;
        let mut slots = slot..slot + pattern;
        slots.find(|slot| self.elements(direction, *slot) > 0).unwrap_or(slot)
    }

    /// The uplink slot for which the base station can give a grant after it heard a station in
    /// `slot`.
    pub(super) fn granted(&self, slot: u64) -> u64 {
        let grant = self.next(Direction::Backward, slot + self.base_station);
        self.next(Direction::Forward, grant + self.terminal)
    }

    /// The slot in which a block that failed in `slot` is sent again, and first can be.
    pub(super) fn again(&self, direction: Direction, slot: u64) -> u64 {
        if direction == Direction::Forward {
            return self.granted(slot);
        }
        let answer = self.next(Direction::Forward, slot + self.terminal);
        self.next(Direction::Backward, answer + self.base_station)
    }

    /// The slot of a station's first scheduling request after `now`. The stations' turns are spread
    /// over the period, as far as there are uplink slots.
    pub(super) fn request(&self, station: u32, now: Time) -> u64 {
        let earliest = self.from(now + Duration::from_nanos(1));
        let turn = (self.first_turn + u64::from(station)) % self.sr_period;
        let turn = self.next(Direction::Forward, turn);
        earliest + (turn + self.sr_period - earliest % self.sr_period) % self.sr_period
    }
}
