//! Computes received power from distance, and the rate from received power.

use trackbed_core::Bitrate;

use crate::radio::shadowing::Shadowing;

/// The parameters of received power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagation {
    /// The path loss.
    pub path_loss: &'static PathLoss,
    /// The shadowing.
    pub shadowing: Shadowing,
    /// A station's transmission power over its whole carrier, in dBm.
    pub power_dbm: f64,
    /// The gain of its antenna towards the track, in dB over an isotropic one.
    pub antenna_gain_db: f64,
    /// The width of the carrier, in resource blocks of 180 kHz: 50 for 10 MHz.
    pub resource_blocks: u32,
    /// The share of time during which other stations send at the same time as the serving one, 0 to 1. Zero is a
    /// network without interference, limited only by noise.
    pub interference: f64,
}

impl Propagation {
    /// The reference signal received power at a distance in metres without shadow fading, in dBm:
    /// the power of one of the twelve subcarriers of a resource block (TS 36.214 section 5.1.1).
    pub fn rsrp_dbm(&self, distance_m: f64) -> f64 {
        let subcarriers = f64::from(self.resource_blocks) * 12.0;
        let emitted = self.power_dbm + self.antenna_gain_db - 10.0 * libm::log10(subcarriers);
        emitted - self.path_loss.loss_db(distance_m)
    }

    /// The signal to interference and noise ratio of a cell among others, in dB, computed from RSRP.
    pub fn sinr_db(&self, serving_dbm: f64, others_dbm: impl IntoIterator<Item = f64>) -> f64 {
        let disturbing: f64 = others_dbm.into_iter().map(milliwatts).sum();
        let below = milliwatts(NOISE_DBM) + self.interference * disturbing;
        serving_dbm - 10.0 * libm::log10(below)
    }

    /// The rate at this ratio, in steps of 100 kbit/s: Shannon's bound with an attenuation of 0.6, zero below
    /// -10 dB, and at most 4.4 bit/s/Hz (TR 36.942 annex A.2, downlink).
    pub fn rate(&self, sinr_db: f64) -> Bitrate {
        if sinr_db < SINR_MIN_DB {
            return Bitrate::from_bps(0);
        }
        let shannon = libm::log2(1.0 + libm::pow(10.0, sinr_db / 10.0));
        let efficiency = (ATTENUATION * shannon).min(EFFICIENCY_MAX);
        let hertz = f64::from(self.resource_blocks) * 180_000.0;
        let steps = (efficiency * hertz / 100_000.0).floor();
        Bitrate::from_bps(steps as u64 * 100_000)
    }
}

fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

/// Thermal noise of -174 dBm/Hz in a subcarrier of 15 kHz, with a noise figure of 9 dB (TR 36.942
/// table 4.8).
const NOISE_DBM: f64 = -174.0 + 41.761 + 9.0;
const SINR_MIN_DB: f64 = -10.0;
const ATTENUATION: f64 = 0.6;
const EFFICIENCY_MAX: f64 = 4.4;

/// A path loss that grows with the logarithm of distance. Entries: [`PATH_LOSSES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathLoss {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// The loss at a distance of 1 km, in dB.
    pub at_1_km_db: f64,
    /// The additional loss for ten times the distance, in dB.
    pub per_decade_db: f64,
}

impl PathLoss {
    /// The loss at a distance in metres, in dB; distances below a metre count as a metre.
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        self.at_1_km_db + self.per_decade_db * libm::log10(distance_m.max(1.0) / 1_000.0)
    }

    /// The entry of this name.
    pub fn find(name: &str) -> Option<&'static PathLoss> {
        PATH_LOSSES.iter().find(|loss| loss.name == name)
    }
}

/// Every path loss, in the order of lists.
pub static PATH_LOSSES: &[PathLoss] = &[
    // Free space at 2.12 GHz (Friis 1946; the band of ns-3's LTE examples).
    PathLoss {
        name: "friis",
        // 32.45 + 20 log10(2120 MHz), with kilometres and megahertz.
        at_1_km_db: 98.977,
        per_decade_db: 20.0,
    },
    // Macro cells at 2 GHz, antennas 15 m above the roofs (TR 36.942 section 4.5.2, TR 36.814 annex
    // A.2.1.1).
    PathLoss { name: "3gpp", at_1_km_db: 128.1, per_decade_db: 37.6 },
    // Rural macro cells at 900 MHz, antennas 45 m above ground (TR 36.942 section 4.5.3).
    PathLoss { name: "3gpp-rural", at_1_km_db: 95.5, per_decade_db: 34.1 },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Friis: (4 pi d / lambda)^2 with lambda = c / f.
    #[test]
    fn free_space_is_friis_law() {
        let lambda = 299_792_458.0 / 2.12e9;
        let friis = PathLoss::find("friis").unwrap();
        for distance in [100.0, 300.0, 734.0, 5_000.0] {
            let law = 20.0 * (4.0 * std::f64::consts::PI * distance / lambda).log10();
            assert!((friis.loss_db(distance) - law).abs() < 0.01, "{distance}");
        }
    }
}
