//! Statistics of frames: frames per second, and durations.

use trackbed_stats::{Sample, StatsError};

use crate::detector::{Frame, Stages};

/// The frames of a session; those that started before the end of its warm-up do not count.
#[derive(Clone, Debug)]
pub struct Timing {
    from_ns: u64,
    frames: Vec<Frame>,
    warm_up: u64,
}

/// Maximum number of frames kept per session: a day at ten frames per second.
pub const FRAMES_MAX: usize = 1_000_000;

/// The statistics of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of frames that count.
    pub frames: u64,
    /// Number of frames in the warm-up, which do not count.
    pub warm_up_frames: u64,
    /// From the start of the first frame that counts to the end of the last one, in seconds.
    pub seconds: f64,
    /// Frames that count per second of that time.
    pub fps: f64,
    /// The duration of frames.
    pub latency: Distribution,
    /// The durations of their stages, if known.
    pub stages: Option<StageReport>,
    /// The number of detections in all frames that count, if known.
    pub detections: Option<u64>,
}

/// The distributions of the durations of stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageReport {
    /// Reading and decoding.
    pub load: Distribution,
    /// Fitting to the model's input.
    pub pre: Distribution,
    /// The model.
    pub inference: Distribution,
    /// Finding boxes in its output.
    pub post: Distribution,
}

/// A distribution of times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// The arithmetic mean.
    pub mean_ms: f64,
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The shortest.
    pub min_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl Timing {
    /// Frames count if they start at `from_ns` of `CLOCK_MONOTONIC` or later.
    pub fn new(from_ns: u64) -> Timing {
        Timing { from_ns, frames: Vec::new(), warm_up: 0 }
    }

    /// Adds a frame; false if there are already [`FRAMES_MAX`].
    pub fn add(&mut self, frame: Frame) -> bool {
        if frame.begin_ns < self.from_ns {
            self.warm_up += 1;
            return true;
        }
        let fits = self.frames.len() < FRAMES_MAX;
        if fits {
            self.frames.push(frame);
        }
        fits
    }

    /// The frames that count.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Their statistics; `None` without frames.
    pub fn report(&self) -> Option<Report> {
        let (first, last) = (self.frames.first()?, self.frames.last()?);
        let seconds = last.end_ns.saturating_sub(first.begin_ns) as f64 / 1e9;
        let frames = self.frames.len() as u64;
        let stages: Option<Vec<Stages>> = self.frames.iter().map(|frame| frame.stages).collect();
        let detections: Option<Vec<u32>> = self.frames.iter().map(|it| it.detections).collect();
        let latency = |frame: &Frame| frame.end_ns.saturating_sub(frame.begin_ns);
        Some(Report {
            frames,
            warm_up_frames: self.warm_up,
            seconds,
            fps: if seconds > 0.0 { frames as f64 / seconds } else { 0.0 },
            latency: distribution(self.frames.iter().map(latency)).ok()?,
            stages: stages.and_then(|stages| StageReport::of(&stages).ok()),
            detections: detections.map(|counts| counts.into_iter().map(u64::from).sum()),
        })
    }
}

impl StageReport {
    fn of(stages: &[Stages]) -> Result<StageReport, StatsError> {
        let part = |part: fn(&Stages) -> u64| distribution(stages.iter().map(part));
        Ok(StageReport {
            load: part(|stages| stages.load_ns)?,
            pre: part(|stages| stages.pre_ns)?,
            inference: part(|stages| stages.inference_ns)?,
            post: part(|stages| stages.post_ns)?,
        })
    }
}

fn distribution(nanos: impl Iterator<Item = u64>) -> Result<Distribution, StatsError> {
    let millis: Vec<f64> = nanos.map(|nanos| nanos as f64 / 1e6).collect();
    let sample = Sample::new(&millis)?;
    Ok(Distribution {
        mean_ms: sample.mean(),
        p50_ms: sample.quantile(0.5)?,
        p95_ms: sample.quantile(0.95)?,
        p99_ms: sample.quantile(0.99)?,
        min_ms: sample.min(),
        max_ms: sample.max(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u64, begin_ms: u64, end_ms: u64) -> Frame {
        let (begin_ns, end_ns) = (begin_ms * 1_000_000, end_ms * 1_000_000);
        Frame { number, begin_ns, end_ns, stages: None, detections: Some(2) }
    }

    #[test]
    fn frames_a_second_are_counted_from_the_first_that_counts() {
        let mut timing = Timing::new(1_000_000_000);
        assert!(timing.report().is_none());
        // Two frames of the warm-up, one of which ends after it; then 100, 200 and 300 ms.
        for (number, (begin, end)) in
            [(0, 900), (900, 1_100), (1_100, 1_200), (1_200, 1_400), (1_400, 1_700)]
                .into_iter()
                .enumerate()
        {
            assert!(timing.add(frame(number as u64 + 1, begin, end)));
        }
        let report = timing.report().unwrap();
        assert_eq!((report.frames, report.warm_up_frames), (3, 2));
        assert!((report.seconds - 0.6).abs() < 1e-12);
        assert!((report.fps - 5.0).abs() < 1e-9);
        assert_eq!(report.detections, Some(6));
        assert_eq!(report.stages, None);
        let latency = report.latency;
        assert_eq!((latency.min_ms, latency.p50_ms, latency.max_ms), (100.0, 200.0, 300.0));
        assert!((latency.mean_ms - 200.0).abs() < 1e-9);
        // Rank 0.95 x 2 = 1.9.
        assert!((latency.p95_ms - 290.0).abs() < 1e-9);
    }

    #[test]
    fn parts_are_told_apart() {
        let stages = Stages {
            load_ns: 1_000_000,
            pre_ns: 2_000_000,
            inference_ns: 30_000_000,
            post_ns: 4_000_000,
        };
        let mut timing = Timing::new(0);
        timing.add(Frame { stages: Some(stages), ..frame(1, 0, 37) });
        let parts = timing.report().unwrap().stages.unwrap();
        let means = [parts.load, parts.pre, parts.inference, parts.post].map(|part| part.mean_ms);
        assert_eq!(means, [1.0, 2.0, 30.0, 4.0]);
    }
}
