//! Positions that a train can have been at.

use super::sample::{DriveLog, Sample};

impl DriveLog {
    /// Sorts the positions by time, and drops those that no train reaches from the others: receivers begin
    /// at 0, 0 and jump by kilometres. Kept is the longest series of positions that follow from each other.
    pub(super) fn drop_unreachable(&mut self) {
        let samples = &mut self.samples;
        if samples.iter().all(|sample| sample.seconds.is_some()) {
            // Stable, for the positions of several receivers at one time.
            samples.sort_by(|a, b| a.seconds.partial_cmp(&b.seconds).expect("finite numbers"));
        }
        let mut series: Vec<Vec<usize>> = Vec::new();
        for (index, sample) in samples.iter().enumerate() {
            let follows = |series: &&mut Vec<usize>| {
                let place = samples[series[series.len() - 1]].coordinates;
                let stays = |at: &&usize| samples[**at].coordinates == place;
                // Loggers repeat an old position until they get another one.
                let first = series.iter().rev().take(REPEATED_MAX).take_while(stays).last();
                first.is_some_and(|first| reaches(&samples[*first], sample))
            };
            let longest = series.iter_mut().filter(follows).max_by_key(|series| series.len());
            match longest {
                Some(series) => series.push(index),
                None => series.push(vec![index]),
            }
            if series.len() > SERIES_MAX {
                // The last one has only begun.
                let shortest = (0..SERIES_MAX).min_by_key(|at| series[*at].len());
                series.remove(shortest.unwrap_or(0));
            }
        }
        let longest = series.into_iter().max_by_key(Vec::len).unwrap_or_default();
        self.unreachable = (samples.len() - longest.len()) as u64;
        *samples = longest.into_iter().map(|index| samples[index].clone()).collect();
    }
}

/// Whether a train can go from one position to the other.
fn reaches(from: &Sample, to: &Sample) -> bool {
    let distance_m = from.coordinates.distance_m(to.coordinates);
    match from.seconds.zip(to.seconds) {
        Some((from_s, to_s)) => distance_m <= ERROR_MAX_M + SPEED_MAX_M_S * (to_s - from_s).abs(),
        None => distance_m <= GAP_MAX_M,
    }
}

/// Faster than any train: 540 km/h.
const SPEED_MAX_M_S: f64 = 150.0;
/// Errors of positions under bridges and between houses.
const ERROR_MAX_M: f64 = 100.0;
/// Between two positions without times; longer than any tunnel.
const GAP_MAX_M: f64 = 100_000.0;
/// A position is repeated at most this often.
const REPEATED_MAX: usize = 60;
/// Bounds the time for a log of nonsense.
const SERIES_MAX: usize = 8;
