//! Measured inference that competes for the cores.

use std::time::Duration;

use trackbed_core::Time;

use crate::processor::durations::{Durations, FrameTime};
use crate::processor::sharing::{Claimant, Cores, Job};

/// Frames one after the other without a pause, each a serial part and then a parallel one.
#[derive(Clone, Debug)]
pub struct Inference {
    durations: Durations,
    next: usize,
    working: Option<(Job, Part)>,
    frame_begin: Time,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Serial(FrameTime),
    Parallel,
}

/// A frame completed in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it began.
    pub begin: Time,
    /// When it ended.
    pub end: Time,
}

impl Inference {
    /// Replays the frames of a measurement in their order, so that successive slow ones stay
    /// together, repeatedly; it begins with number `first`, counted from 0 and modulo the number of
    /// frames. Drawn from a run's seed, it makes runs differ.
    ///
    /// # Panics
    /// If there is no frame, or none that takes time; [`Durations::parse`] returns only valid ones.
    pub fn new(durations: Durations, first: u64) -> Inference {
        let count = durations.frames.len() as u64;
        let takes_time = |frame: &FrameTime| frame.serial_ns.max(frame.parallel_ns) > 0;
        assert!(
            durations.frames.iter().any(takes_time),
            "a measurement has a frame that takes time"
        );
        let next = (first % count) as usize;
        Inference { durations, next, working: None, frame_begin: Time::ZERO }
    }

    pub(crate) fn start(&mut self, cores: &mut Cores, now: Time) {
        let frame = self.durations.frames[self.next];
        self.next = (self.next + 1) % self.durations.frames.len();
        self.frame_begin = now;
        let job = cores.begin(now, Claimant::Inference, 1, Duration::from_nanos(frame.serial_ns));
        self.working = Some((job, Part::Serial(frame)));
    }

    /// Continues if `job`, which has finished, is the current part; returns the frame if one is
    /// complete.
    pub(crate) fn finished(&mut self, cores: &mut Cores, now: Time, job: Job) -> Option<Frame> {
        let (own, part) = self.working?;
        if own != job {
            return None;
        }
        match part {
            Part::Serial(frame) => {
                let work = Duration::from_nanos(frame.parallel_ns);
                let threads = self.durations.threads;
                let job = cores.begin(now, Claimant::Inference, threads, work);
                self.working = Some((job, Part::Parallel));
                None
            }
            Part::Parallel => {
                let frame = Frame { begin: self.frame_begin, end: now };
                self.start(cores, now);
                Some(frame)
            }
        }
    }
}
