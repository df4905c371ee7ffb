//! A pedestrian who walks up and down a street.

use trackbed_core::{Rng, Seed, Time};

/// The pedestrian's position when a message is generated, as the phone's receiver reports it. Whole
/// numbers, so that every machine computes the same.
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

impl Fix {
    /// That of a phone's message at `time`. The seed determines the start of the walk, and its speed.
    pub(super) fn of(seed: &Seed, phone: u32, message: u32, time: Time) -> Fix {
        let seed = seed.child(&format!("workload/messages/denm/{phone}"));
        let mut walk = seed.stream("walk");
        let north_south = walk.below(2) == 0;
        let latitude = ORIGIN_LATITUDE + walk.below(2 * TOWN_CM);
        let longitude = ORIGIN_LONGITUDE + walk.below(2 * TOWN_CM);
        let altitude = within(&mut walk, 3_000, 8_000);
        let speed = within(&mut walk, 110, 180);
        let offset = walk.below(2 * STREET_CM);
        let first_sequence = walk.below(1 << 16) as u32;

        let walked = u128::from(time.as_nanos()) * u128::from(speed) / 1_000_000_000;
        let there_and_back = (walked + u128::from(offset)) % u128::from(2 * STREET_CM);
        let there_and_back = there_and_back as u64;
        let up_the_street = there_and_back.min(2 * STREET_CM - there_and_back);
        // A step of 10^-7 degrees is 1.1 cm to the north and, at this latitude, 0.9 cm to the east.
        let (north, east) = match north_south {
            true => (up_the_street * 9 / 10, 0),
            false => (0, up_the_street * 11 / 10),
        };
        let mut error = seed.stream(&message.to_string());
        Fix {
            latitude: latitude + north + error.below(ERROR_CM),
            longitude: longitude + east + error.below(ERROR_CM),
            altitude: altitude + error.below(ERROR_CM),
            speed: speed + error.below(10),
            first_sequence,
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
