//! Received power along a track.

/// The mean received power of an operator's serving cell along a track, in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The mean in dBm (of values in dBm) and their number, for each step.
    bins: Vec<(f64, u32)>,
}

impl Signal {
    /// The length of a step, in metres.
    pub const STEP_M: f64 = 50.0;

    pub(crate) fn new(length_m: f64) -> Signal {
        let steps = (length_m / Signal::STEP_M).ceil().max(1.0) as usize;
        Signal { bins: vec![(0.0, 0); steps] }
    }

    pub(crate) fn read(
        step_m: f64,
        rsrp_dbm: &[Option<f64>],
        samples: &[u32],
        length_m: f64,
    ) -> Result<Signal, String> {
        let mut signal = Signal::new(length_m);
        let steps = signal.bins.len();
        if step_m != Signal::STEP_M || rsrp_dbm.len() != steps || samples.len() != steps {
            return Err(format!(
                "{} values and {} counts at every {step_m} m; write {steps} of each, at every {} m",
                rsrp_dbm.len(),
                samples.len(),
                Signal::STEP_M
            ));
        }
        for ((bin, power), count) in signal.bins.iter_mut().zip(rsrp_dbm).zip(samples) {
            match (power, count) {
                (None, 0) => {}
                (Some(power), 1..) if (-300.0..=100.0).contains(power) => *bin = (*power, *count),
                _ => {
                    let found = power.map_or("no mean".to_owned(), |power| format!("{power} dBm"));
                    return Err(format!("{found} of {count} samples; write both, or null and 0"));
                }
            }
        }
        Ok(signal)
    }

    pub(crate) fn take(&mut self, chainage_m: f64, rsrp_dbm: f64) {
        let last = self.bins.len() - 1;
        let step = ((chainage_m / Signal::STEP_M).max(0.0) as usize).min(last);
        self.add(step, rsrp_dbm, 1);
    }

    pub(crate) fn merge(&mut self, other: &Signal) {
        for (step, (mean, count)) in other.bins.iter().enumerate().take(self.bins.len()) {
            self.add(step, *mean, *count);
        }
    }

    fn add(&mut self, step: usize, mean: f64, count: u32) {
        let (old, before) = self.bins[step];
        let all = before.saturating_add(count);
        if all > 0 {
            let share = f64::from(count) / f64::from(all);
            self.bins[step] = (old + share * (mean - old), all);
        }
    }

    /// The signal with means rounded to a hundredth of a decibel, as in files.
    pub(crate) fn rounded(&self) -> Signal {
        let round = |(mean, count): &(f64, u32)| ((mean * 100.0).round() / 100.0, *count);
        Signal { bins: self.bins.iter().map(round).collect() }
    }

    /// The mean of each step in dBm, if it has values.
    pub fn rsrp_dbm(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.bins.iter().map(|(mean, count)| (*count > 0).then_some(*mean))
    }

    /// The number of values of each step.
    pub fn samples(&self) -> impl Iterator<Item = u32> + '_ {
        self.bins.iter().map(|(_, count)| *count)
    }
}
