//! A pedestrian who walks up and down a street.

use trackbed_core::{Rng, Seed, Time};

pub(super) struct Walk {
    jitter: Seed,
    north_south: bool,
    /// Whole numbers, here and below, so that every machine computes the same.
    latitude: u64,
    longitude: u64,
    altitude: u64,
    speed: u64,
    /// How far up the street the walk begins, in centimetres.
    offset: u64,
    first_sequence: u32,
}

/// The pedestrian's position when a message is generated.
pub(super) struct Fix {
    /// In 10^-7 degrees north; nine digits.
    pub(super) latitude: u64,
    /// In 10^-7 degrees east; ten digits.
    pub(super) longitude: u64,
    /// In centimetres above the ellipsoid; four digits.
    pub(super) altitude: u64,
    /// In cm/s; three digits.
    pub(super) speed: u64,
    pub(super) first_sequence: u32,
}

impl Walk {
    pub(super) fn of(seed: &Seed, phone: u32) -> Walk {
        let seed = seed.child(&format!("workload/messages/denm/{phone}"));
        let mut rng = seed.stream("walk");
        Walk {
            jitter: seed,
            north_south: rng.below(2) == 0,
            latitude: ORIGIN_LATITUDE + rng.below(2 * TOWN_CM),
            longitude: ORIGIN_LONGITUDE + rng.below(2 * TOWN_CM),
            altitude: within(&mut rng, 3_000, 8_000),
            speed: within(&mut rng, 110, 180),
            offset: rng.below(2 * STREET_CM),
            first_sequence: rng.below(1 << 16) as u32,
        }
    }

    /// The position of the walk at `time`, as the phone's receiver reports it for message
    /// `message`.
    pub(super) fn at(&self, time: Time, message: u32) -> Fix {
        let mut rng = self.jitter.stream(&message.to_string());
        let walked = u128::from(time.as_nanos()) * u128::from(self.speed) / 1_000_000_000;
        let there_and_back = (walked + u128::from(self.offset)) % u128::from(2 * STREET_CM);
        let there_and_back = there_and_back as u64;
        let up_the_street = there_and_back.min(2 * STREET_CM - there_and_back);
        // A step of 10^-7 degrees is 1.1 cm to the north and, at this latitude, 0.9 cm to the east.
        let (north, east) = match self.north_south {
            true => (up_the_street * 9 / 10, 0),
            false => (0, up_the_street * 11 / 10),
        };
        Fix {
            latitude: self.latitude + north + rng.below(ERROR_CM),
            longitude: self.longitude + east + rng.below(ERROR_CM),
            altitude: self.altitude + rng.below(ERROR_CM),
            speed: self.speed + rng.below(10),
            first_sequence: self.first_sequence,
        }
    }
}

fn within(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low)
}

/// The south-western corner of a town at 35.88 degrees north, 128.60 degrees east.
pub(super) const ORIGIN_LATITUDE: u64 = 358_800_000;
pub(super) const ORIGIN_LONGITUDE: u64 = 1_286_000_000;
pub(super) const TOWN_CM: u64 = 100_000;
const STREET_CM: u64 = 20_000;
const ERROR_CM: u64 = 300;
