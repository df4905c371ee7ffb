//! Smoothing of measurements.

/// The layer-3 filter of TS 36.331 section 5.5.3.2: each measurement M moves the filtered value by
/// `F = (1 - a) F + a M` with `a = 1/2^(k/4)`; the first one is taken unfiltered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer3Filter {
    weight: f64,
    value: Option<f64>,
}

impl Layer3Filter {
    /// A filter with the coefficient `k` (`filterCoefficient`, 0 to 19); 0 does not filter.
    pub fn new(k: u32) -> Layer3Filter {
        Layer3Filter { weight: libm::exp2(-f64::from(k) / 4.0), value: None }
    }

    /// Adds a measurement, and returns the filtered value.
    pub fn update(&mut self, measured: f64) -> f64 {
        let value = self.value.map_or(measured, |old| old + self.weight * (measured - old));
        self.value = Some(value);
        value
    }

    /// The filtered value; `None` before the first measurement.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Forgets all measurements.
    pub fn reset(&mut self) {
        self.value = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With k = 4 each step halves the distance to the new level: a step of 16 dB leaves 8, 4, 2, 1.
    #[test]
    fn the_response_to_a_step_halves_each_time() {
        let mut filter = Layer3Filter::new(4);
        assert_eq!(filter.value(), None);
        assert_eq!(filter.update(-100.0), -100.0);
        assert_eq!([0; 4].map(|_| filter.update(-84.0)), [-92.0, -88.0, -86.0, -85.0]);
        filter.reset();
        assert_eq!(filter.update(-70.0), -70.0);
        // k = 8: a quarter each time. k = 0: no filter.
        let mut slow = Layer3Filter::new(8);
        slow.update(0.0);
        assert_eq!(slow.update(16.0), 4.0);
        let mut none = Layer3Filter::new(0);
        none.update(0.0);
        assert_eq!(none.update(16.0), 16.0);
    }
}
