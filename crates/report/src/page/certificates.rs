//! The certificates of real-time runs, summed up.

use trackbed_measure::results::{Reliability, RunResult};

/// Counts of verdicts, and the worst measured values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Certificates {
    pub valid: u32,
    pub suspect: u32,
    pub invalid: u32,
    /// Packets lost because a ring or a socket was full.
    pub overflowed: u64,
    /// The worst run's 99th percentile of lateness, in microseconds.
    pub late_p99_us: f64,
    /// The latest packet of all runs, in microseconds.
    pub late_max_us: f64,
}

impl Certificates {
    /// Adds a run's certificate, if it has one.
    pub fn add(&mut self, run: &RunResult) {
        let Some(certificate) = &run.certificate else { return };
        match certificate.verdict {
            Reliability::Valid => self.valid += 1,
            Reliability::Suspect => self.suspect += 1,
            Reliability::Invalid => self.invalid += 1,
        }
        self.overflowed += certificate.overflowed;
        self.late_p99_us = self.late_p99_us.max(certificate.late_p99_us);
        self.late_max_us = self.late_max_us.max(certificate.late_max_us);
    }

    /// As a sentence; `None` where no run has a certificate.
    pub fn text(&self) -> Option<String> {
        let Certificates { valid, suspect, invalid, overflowed, .. } = self;
        let runs = valid + suspect + invalid;
        (runs > 0).then(|| {
            format!(
                "{valid} of {runs} runs valid, {suspect} suspect (medians are reliable, tails may not \
                 be), {invalid} invalid; packet lateness: p99 of the worst run {:.0} µs, maximum \
                 {:.0} µs; {overflowed} packets lost to full buffers",
                self.late_p99_us, self.late_max_us
            )
        })
    }
}
