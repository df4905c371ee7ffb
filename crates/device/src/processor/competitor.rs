//! Inference as it was measured, as somebody who wants the cores too.

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

/// A frame that was done in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it began.
    pub begin: Time,
    /// When it ended.
    pub end: Time,
}

impl Inference {
    /// Does the frames of a measurement in their order, so that slow ones that stood together still do, and
    /// over and over; it begins with number `first`, counted from 0 and round the end. Drawn from a run's
    /// seed, that lets runs differ.
    ///
    /// # Panics
    /// If there is no frame, or none that takes time; what [`Durations::parse`] gives has only such.
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

    /// Begins with the first frame.
    pub(crate) fn start(&mut self, cores: &mut Cores, now: Time) {
        let frame = self.durations.frames[self.next];
        self.next = (self.next + 1) % self.durations.frames.len();
        self.frame_begin = now;
        let job = cores.begin(now, Claimant::Inference, 1, Duration::from_nanos(frame.serial_ns));
        self.working = Some((job, Part::Serial(frame)));
    }

    /// Goes on if `job`, which has finished, is the part that it was at; the frame, if one is done.
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
