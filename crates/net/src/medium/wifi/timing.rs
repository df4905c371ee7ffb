//! What each standard fixes. Sections and tables are those of IEEE 802.11-2020.

use std::time::Duration;

/// A physical layer and its rules of access: the standards here, or another.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// One slot of the back-off, more than zero.
    pub slot: Duration,
    /// The pause between a frame and its acknowledgment.
    pub sifs: Duration,
    /// More than zero: what starts so soon after a transmission has not heard it and collides.
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
    /// The least signal-to-noise ratio for each rate, in dB, from the slowest to the fastest.
    pub snr: &'static [u32],
    /// The data bits in a symbol of each rate.
    pub bits: &'static [u64],
}

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
    slot: Duration::from_micros(9),
    sifs: Duration::from_micros(16),
    sensing: Duration::from_micros(4),
    // Table 17-5: training fields of 16 us and the SIGNAL field, one symbol.
    preamble: Duration::from_micros(20),
    ack_preamble: Duration::from_micros(20),
    symbol: Duration::from_micros(4),
    // 17.3.5: a service field of 16 bits, a tail of 6.
    extra_bits: 22,
    // 9.3.2.1: a header of 24 bytes, a check sequence of 4. RFC 1042: LLC and SNAP, 8.
    header: 36,
    // 10.3.2: SIFS, a slot and aRxPHYStartDelay (20 us, Table 17-21).
    ack_timeout: Duration::from_micros(16 + 9 + 20),
    // 10.3.2.3.7: EIFS is SIFS, DIFS and an acknowledgment at 6 Mbit/s, 44 us.
    collision_wait: Duration::from_micros(16 + 44),
    // 10.3.4.3: the back-off decreases after a slot without activity.
    counts_busy_slots: false,
    // 10.3.2.3.5: DIFS is SIFS and two slots. Table 17-21: aCWmin, aCWmax.
    access: [Access { aifsn: 2, cw_min: 15, cw_max: 1023 }; 2],
    aggregate: 0,
    // Table 17-18: the least sensitivity (-82 dBm at 6 Mbit/s) for a loss of 10 %, less the noise of
    // -101 dBm and the noise figure of 10 dB.
    snr: &[9, 10, 12, 14, 17, 21, 25, 26],
    // Table 17-4.
    bits: &[24, 36, 48, 72, 96, 144, 192, 216],
};

/// 802.11n: HT20, mixed format, one spatial stream, guard interval of 800 ns, 5 GHz. Acknowledgments
/// have the format of 802.11a (10.6.6.5).
pub static HT20: Timing = Timing {
    // 19.3.9: L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, HT-LTF 4.
    preamble: Duration::from_micros(36),
    // 9.3.2.1: QoS takes two bytes more.
    header: 38,
    // 10.23.2.4: a counter decreases when a slot begins, whatever the slot brings.
    counts_busy_slots: true,
    // Table 9-155: AC_VO and AC_BE.
    access: [
        Access { aifsn: 2, cw_min: 3, cw_max: 7 },
        Access { aifsn: 3, cw_min: 15, cw_max: 1023 },
    ],
    // 10.12.2: the most that a receiver can announce.
    aggregate: 65_535,
    // Tables 19-23 and 21-25 in the same way. Bits: 19.5, MCS 0 to 7; 21.5, MCS 0 to 9.
    snr: &[9, 12, 14, 17, 21, 25, 26, 27, 32, 34],
    bits: &[26, 52, 78, 104, 156, 208, 234, 260],
    ..OFDM
};

/// 802.11ac: VHT80, one spatial stream, guard interval of 800 ns.
pub static VHT80: Timing = Timing {
    // 21.3.8: as HT-mixed, with one symbol of VHT-SIG-B.
    preamble: Duration::from_micros(40),
    aggregate: 1_048_575,
    bits: &[117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560],
    ..HT20
};

impl Timing {
    /// The number of the fastest rate for this SNR in dB, or of the slowest rate.
    pub(super) fn rate_at(&self, snr: f64) -> usize {
        let rates = self.snr.iter().zip(self.bits);
        rates.take_while(|(least, _)| f64::from(**least) <= snr).count().saturating_sub(1)
    }

    /// How long a frame of `bytes` takes, MAC header included.
    pub(super) fn frame(&self, rate: usize, bytes: u64) -> Duration {
        self.preamble + self.symbols(bytes, self.bits[rate])
    }

    /// From the end of a transmission to the end of its acknowledgment: 14 bytes for one frame
    /// (9.3.1.4), 32 for an aggregate (9.3.1.8), at 6, 12 or 24 Mbit/s: BPSK, QPSK or 16-QAM of code
    /// rate 1/2, up to what the frame is sent with (10.6.6.5).
    pub(super) fn answer(&self, rate: usize, frames: u64) -> Duration {
        let most = match self.snr[rate] {
            ..12 => 24,
            12..17 => 48,
            17.. => 96,
        };
        let bytes = if frames > 1 { 32 } else { 14 };
        self.sifs + self.ack_preamble + self.symbols(bytes, most.min(self.bits[rate]))
    }

    fn symbols(&self, bytes: u64, bits_each: u64) -> Duration {
        let symbols = (self.extra_bits + 8 * bytes).div_ceil(bits_each);
        self.symbol.saturating_mul(u32::try_from(symbols).unwrap_or(u32::MAX))
    }
}
