//! The parameters of a crossing.

use std::time::Duration;

use trackbed_core::Ratio;

/// The messages that vehicles send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Basic safety messages, as in North America and Korea.
    Bsm,
    /// Cooperative awareness messages, as in Europe.
    Cam,
}

/// The pace of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Once per interval.
    Every(Duration),
    /// As in EN 302 637-2 section 6.1.3: by movement, every 100 ms to 1 s.
    Triggered,
}

/// A period in which no one can send, as behind a large obstacle; all messages of that time are
/// sent at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blockage {
    /// The time from one start to the next; the first starts after this time.
    pub every: Duration,
    /// How long each lasts.
    pub lasting: Duration,
}

/// A crossing full of vehicles. The default is that of ETRI's study of 2018: vehicles every 30 m on
/// eight lanes of each of four roads, 300 m of range, ten messages a second of which one has the
/// certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// How many roads meet.
    pub roads: u32,
    /// How many lanes each has.
    pub lanes: u32,
    /// Metres from one vehicle of a lane to the next, at least one.
    pub spacing_m: u32,
    /// Metres of each road from which messages are received.
    pub range_m: u32,
    /// The number of such crossings received at once: a unit with several channels, or a replay.
    pub crossings: u32,
    /// Which messages are sent.
    pub kind: Kind,
    /// When.
    pub pace: Pace,
    /// The maximum delay of a message after its turn; uniform from zero.
    pub jitter: Duration,
    /// How long a vehicle sends only its digest before the certificate is due again.
    pub certificate_every: Duration,
    /// Whether recorded vehicles ask for certificates that they lack (TS 103 097 section 7.1.1).
    pub certificate_requests: bool,
    /// The speed of vehicles in m/s. A vehicle that leaves the range is replaced by another, with
    /// another certificate: after 30 s at 10 m/s.
    pub speed_m_s: u32,
    /// How often all senders change their pseudonym, at the same time; `None` is never.
    pub wave_every: Option<Duration>,
    /// How many of the messages have a forged signature.
    pub forged: Ratio,
    /// How many additional forged messages arrive each second, from an unknown sender who repeats
    /// overheard messages with forged signatures.
    pub flood_hz: u32,
    /// When no one can send; `None` is never.
    pub blockage: Option<Blockage>,
}

impl Default for Crossing {
    fn default() -> Crossing {
        Crossing {
            roads: 4,
            lanes: 8,
            spacing_m: 30,
            range_m: 300,
            crossings: 1,
            kind: Kind::Bsm,
            pace: Pace::Every(Duration::from_millis(100)),
            jitter: Duration::from_millis(5),
            certificate_every: Duration::from_secs(1),
            certificate_requests: false,
            speed_m_s: 10,
            wave_every: None,
            forged: Ratio::ZERO,
            flood_hz: 0,
            blockage: None,
        }
    }
}

impl Crossing {
    pub(super) fn vehicles_per_lane(&self) -> u32 {
        self.range_m / self.spacing_m.max(1)
    }

    /// The number of vehicles in range.
    pub fn vehicles(&self) -> u32 {
        [self.roads, self.lanes, self.vehicles_per_lane(), self.crossings]
            .iter()
            .fold(1, |all, count| u32::saturating_mul(all, *count))
    }

    /// The number of messages they send a second, without a flood; `None` if the pace is triggered,
    /// because that depends on their movement.
    pub fn messages_hz(&self) -> Option<f64> {
        match self.pace {
            Pace::Every(interval) => Some(f64::from(self.vehicles()) / interval.as_secs_f64()),
            Pace::Triggered => None,
        }
    }
}
