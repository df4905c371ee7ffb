//! Shadowing: hills, houses and cuttings between a station and the train.

use trackbed_core::{Rng, Seed};

/// Log-normal shadowing with exponential correlation over distance (Gudmundson, "Correlation Model for Shadow
/// Fading in Mobile Radio Systems", Electronics Letters 27, 1991).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// The standard deviation of shadow fading, in dB. It is the same on every drive.
    pub sigma_db: f64,
    /// The standard deviation of the variation from drive to drive, in dB.
    pub variation_db: f64,
    /// The distance over which the correlation of both falls to 1/e, in metres; above zero.
    pub correlation_m: f64,
}

/// The share of the variance of shadow fading that all stations have in common, because obstacles beside the
/// train affect all of them (TR 36.814 annex A.2.1.1).
const BETWEEN_SITES: f64 = 0.5;

/// Correlated shadow fading along a section of track: a Gauss-Markov sequence on a grid of a tenth of the
/// correlation distance, interpolated so that the deviation is the same everywhere.
#[derive(Clone, Debug)]
pub struct Shadows {
    from_m: f64,
    step_m: f64,
    kept: f64,
    values: Vec<f32>,
}

impl Shadows {
    /// Draws shadow fading with unit deviation between two chainages, both in metres.
    pub fn draw(from_m: f64, until_m: f64, correlation_m: f64, rng: &mut Rng) -> Shadows {
        let step_m = correlation_m / 10.0;
        let kept = libm::exp(-step_m / correlation_m);
        let count = ((until_m - from_m).max(0.0) / step_m).ceil() as usize + 2;
        let fresh = (1.0 - kept * kept).sqrt();
        let mut value = rng.normal();
        let mut next = || {
            let this = value;
            value = kept * value + fresh * rng.normal();
            this as f32
        };
        Shadows { from_m, step_m, kept, values: (0..count).map(|_| next()).collect() }
    }

    /// The shadow fading at a chainage, with unit deviation; outside, that of the nearer end.
    pub fn at(&self, chainage_m: f64) -> f64 {
        let last = self.values.len() - 1;
        let place = ((chainage_m - self.from_m) / self.step_m).clamp(0.0, last as f64);
        let index = (place as usize).min(last - 1);
        let (share, left) = (place - index as f64, 1.0 - (place - index as f64));
        let (here, next) = (f64::from(self.values[index]), f64::from(self.values[index + 1]));
        let variance = left * left + share * share + 2.0 * left * share * self.kept;
        (left * here + share * next) / variance.sqrt()
    }

    /// A mix of this shadow fading and `others`, which have this share of the variance, over the same
    /// distance.
    fn mixed(&self, others: &Shadows, share: f64) -> Shadows {
        let (kept, fresh) = ((1.0 - share).sqrt() as f32, share.sqrt() as f32);
        let pairs = self.values.iter().zip(&others.values);
        let values = pairs.map(|(own, other)| kept * own + fresh * other).collect();
        Shadows { values, ..*self }
    }
}

/// The shadow fading of a landscape: one for each station, and one common to all.
#[derive(Clone, Debug)]
pub(crate) struct Landscape {
    common: Shadows,
    stations: Vec<Shadows>,
}

impl Landscape {
    /// Draws the shadow fading of each station over the section of track where it can be received.
    pub(crate) fn draw(
        shadowing: &Shadowing,
        length_m: f64,
        pieces: &[(f64, f64)],
        seed: &Seed,
    ) -> Landscape {
        let draw = |from, until, name: &str| {
            Shadows::draw(from, until, shadowing.correlation_m, &mut seed.stream(name))
        };
        let station = |(number, &(from, until)): (usize, &(f64, f64))| {
            draw(from, until, &format!("station/{number}"))
        };
        let stations = pieces.iter().enumerate().map(station).collect();
        Landscape { common: draw(0.0, length_m, "common"), stations }
    }

    /// A mix of this landscape and `other`, which has this share of the variance, for the same stations.
    pub(crate) fn mixed(&self, other: &Landscape, share: f64) -> Landscape {
        let pairs = self.stations.iter().zip(&other.stations);
        let stations = pairs.map(|(own, other)| own.mixed(other, share)).collect();
        Landscape { common: self.common.mixed(&other.common, share), stations }
    }

    pub(crate) fn shadow(&self, station: usize, chainage_m: f64) -> f64 {
        BETWEEN_SITES.sqrt() * self.common.at(chainage_m)
            + (1.0 - BETWEEN_SITES).sqrt() * self.stations[station].at(chainage_m)
    }
}

/// The variation from drive to drive for one station: a Gauss-Markov process over distance, drawn as the train
/// moves.
#[derive(Debug)]
pub(crate) struct Variation {
    rng: Rng,
    last: Option<(f64, f64)>,
}

impl Variation {
    pub(crate) fn new(rng: Rng) -> Variation {
        Variation { rng, last: None }
    }

    /// Its value at a chainage, with unit deviation.
    pub(crate) fn at(&mut self, chainage_m: f64, correlation_m: f64) -> f64 {
        let fresh = self.rng.normal();
        let value = match self.last {
            Some((last_m, value)) => {
                let kept = libm::exp(-(chainage_m - last_m).abs() / correlation_m);
                kept * value + (1.0 - kept * kept).sqrt() * fresh
            }
            None => fresh,
        };
        self.last = Some((chainage_m, value));
        value
    }
}
