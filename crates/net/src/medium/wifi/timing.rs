//! What each standard fixes: pauses, contention, rates. Sections and tables without another name are
//! those of IEEE 802.11-2020.

use std::time::Duration;

/// A physical layer and its rules of access. The standards are values of it; the same fields describe
/// others.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// One slot of the back-off.
    pub slot: Duration,
    /// The pause between a frame and its acknowledgment.
    pub sifs: Duration,
    /// How long after its start others hear a transmission, more than zero. What starts before that
    /// collides with it.
    pub sensing: Duration,
    /// The part of a data frame before its first symbol of data.
    pub preamble: Duration,
    /// The same of an acknowledgment.
    pub ack_preamble: Duration,
    /// One symbol.
    pub symbol: Duration,
    /// Bits of the physical layer in the symbols of each frame: service field and tail.
    pub extra_bits: u64,
    /// Bytes of a frame around an IP packet: MAC header, LLC and SNAP, check sequence.
    pub header: u64,
    /// How long a sender waits for the acknowledgment, from the end of its frame.
    pub ack_timeout: Duration,
    /// How long the other stations wait after a collision, before their AIFS.
    pub collision_wait: Duration,
    /// Whether a back-off also counts the slot in which another station starts, as in EDCA.
    pub counts_busy_slots: bool,
    /// The access of stations with priority 0, and of all others.
    pub access: [Access; 2],
    /// The maximum number of bytes in an aggregate; 0 if frames cannot be aggregated.
    pub aggregate: u64,
    /// The rates, from the slowest to the fastest.
    pub rates: &'static [Rate],
}

/// The least signal-to-noise ratio for a rate, in dB, and its data bits in a symbol.
pub type Rate = (u32, u64);

/// The rules of access of a class of traffic.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The slots between the end of SIFS and the first slot of the back-off.
    pub aifsn: u32,
    /// The longest back-off of a first attempt, in slots. Each failure doubles the window.
    pub cw_min: u32,
    /// The longest back-off after any number of failures.
    pub cw_max: u32,
}

/// 802.11a in a channel of 20 MHz, with the DCF of stations without QoS.
pub static OFDM: Timing = Timing {
    // Table 17-21; aCCATime is "less than 4 us".
    slot: micros(9),
    sifs: micros(16),
    sensing: micros(4),
    // Table 17-5: training fields of 16 us and the SIGNAL field, one symbol.
    preamble: micros(20),
    ack_preamble: micros(20),
    symbol: micros(4),
    // 17.3.5: 16 bits of service field, 6 bits of tail.
    extra_bits: 22,
    // 9.3.2.1: header of 24 bytes, check sequence of 4. RFC 1042: LLC and SNAP, 8.
    header: 36,
    // 10.3.2: SIFS, a slot and aRxPHYStartDelay (20 us, Table 17-21).
    ack_timeout: micros(16 + 9 + 20),
    // 10.3.2.3.7: EIFS is SIFS, DIFS and an acknowledgment at 6 Mbit/s, 44 us.
    collision_wait: micros(16 + 44),
    // 10.3.4.3: the back-off decreases after a slot without activity.
    counts_busy_slots: false,
    // 10.3.2.3.5: DIFS is SIFS and two slots. Table 17-21: aCWmin, aCWmax.
    access: [Access { aifsn: 2, cw_min: 15, cw_max: 1023 }; 2],
    aggregate: 0,
    // Table 17-4. The least sensitive receiver that the standard allows loses one frame of ten at this
    // SNR: its sensitivity (Table 17-18; -82 dBm at 6 Mbit/s) less thermal noise of -101 dBm and a
    // noise figure of 10 dB. Tables 19-23 and 21-25 have the same SNR for the same modulation.
    rates: &[(9, 24), (10, 36), (12, 48), (14, 72), (17, 96), (21, 144), (25, 192), (26, 216)],
};

/// 802.11n: HT20, mixed format, one spatial stream, guard interval of 800 ns, 5 GHz.
pub static HT20: Timing = Timing {
    // 19.3.9: L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, HT-LTF 4. Acknowledgments have the
    // format of 802.11a (10.6.6.5), and so its timing.
    preamble: micros(36),
    // A QoS data frame has two bytes more (9.3.2.1).
    header: 38,
    // 10.23.2.4: a counter decreases at the beginning of a slot, whatever the slot brings.
    counts_busy_slots: true,
    // Table 9-155: AC_VO and AC_BE.
    access: [
        Access { aifsn: 2, cw_min: 3, cw_max: 7 },
        Access { aifsn: 3, cw_min: 15, cw_max: 1023 },
    ],
    // 10.12.2: 2^16 - 1, the largest length that a receiver of 802.11n can announce.
    aggregate: 65_535,
    // Table 19-27, MCS 0 to 7.
    rates: &[(9, 26), (12, 52), (14, 78), (17, 104), (21, 156), (25, 208), (26, 234), (27, 260)],
    ..OFDM
};

/// 802.11ac: VHT80, one spatial stream, guard interval of 800 ns.
pub static VHT80: Timing = Timing {
    // 21.3.8: as HT-mixed, with one symbol of VHT-SIG-B.
    preamble: micros(40),
    // 10.12.2: 2^20 - 1, the largest length that a receiver of 802.11ac can announce.
    aggregate: 1_048_575,
    // Table 21-38, MCS 0 to 9.
    rates: &[
        (9, 117),
        (12, 234),
        (14, 351),
        (17, 468),
        (21, 702),
        (25, 936),
        (26, 1053),
        (27, 1170),
        (31, 1404),
        (33, 1560),
    ],
    ..HT20
};

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

impl Timing {
    /// The fastest rate for this SNR in dB; the slowest if the SNR is too low for any.
    pub(super) fn rate_at(&self, snr: f64) -> Rate {
        let fits = self.rates.iter().rev().find(|rate| f64::from(rate.0) <= snr);
        *fits.unwrap_or(&self.rates[0])
    }

    /// How long a frame of `bytes` takes, MAC header included.
    pub(super) fn frame(&self, (_, bits): Rate, bytes: u64) -> Duration {
        self.preamble + self.symbols(bytes, bits)
    }

    /// From the end of a transmission to the end of its acknowledgment, which has 14 bytes for one
    /// frame (9.3.1.4), 32 for an aggregate (9.3.1.8). It is sent with BPSK, QPSK or 16-QAM of code
    /// rate 1/2 (6, 12, 24 Mbit/s), up to what the frame was sent with (10.6.6.5).
    pub(super) fn answer(&self, (snr, bits): Rate, frames: usize) -> Duration {
        let most = match snr {
            ..12 => 24,
            12..17 => 48,
            17.. => 96,
        };
        let bytes = if frames > 1 { 32 } else { 14 };
        self.sifs + self.ack_preamble + self.symbols(bytes, bits.min(most))
    }

    fn symbols(&self, bytes: u64, bits_each: u64) -> Duration {
        let symbols = (self.extra_bits + 8 * bytes).div_ceil(bits_each);
        self.symbol.saturating_mul(u32::try_from(symbols).unwrap_or(u32::MAX))
    }
}
