//! The loss of signal power over distance.

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
