//! Runs a model on frame after frame, with timing.

use crate::clock::monotonic_nanos;
use crate::detection::{Detection, Head, Thresholds, decode};
use crate::frames::{FrameError, Frames};
use crate::image::Image;
use crate::letterbox::Letterbox;
use crate::model::{Model, ModelError};

/// Frames and the model that processes them.
#[derive(Debug)]
pub struct Detector {
    frames: Frames,
    model: Model,
    thresholds: Thresholds,
    input: Vec<f32>,
    count: u64,
    since_rewind: u64,
}

/// One frame, from loading to detections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// From 1.
    pub number: u64,
    /// When it started, by `CLOCK_MONOTONIC` in nanoseconds.
    pub begin_ns: u64,
    /// When it ended, by `CLOCK_MONOTONIC` in nanoseconds.
    pub end_ns: u64,
    /// The durations of its stages, if known.
    pub stages: Option<Stages>,
    /// The number of detections, if known.
    pub detections: Option<u32>,
}

/// The durations of a frame's stages, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Reading and decoding the image, on one thread.
    pub load_ns: u64,
    /// Fitting it to the model's input, on one thread.
    pub pre_ns: u64,
    /// The model, on its configured number of threads.
    pub inference_ns: u64,
    /// Finding boxes in its output, on one thread.
    pub post_ns: u64,
}

/// Why there is no next frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum DetectorError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Detector {
    /// Processes `frames` with `model`.
    pub fn new(frames: Frames, model: Model, thresholds: Thresholds) -> Detector {
        let (width, height) = model.input();
        let input = vec![0.0; 3 * width as usize * height as usize];
        Detector { frames, model, thresholds, input, count: 0, since_rewind: 0 }
    }

    /// Whether detections can be read from the model's output; `None` if this is known only after
    /// its first image. Other models are run and timed too.
    pub fn is_detecting(&self) -> Option<bool> {
        let shape = self.model.output_shape();
        let open = shape.iter().any(|side| *side < 0);
        (!open).then(|| Head::of_shape(shape).is_some())
    }

    /// Processes the next image; after the last one starts over if `again` is set, otherwise
    /// returns `None`. Detections are in pixels of the image.
    ///
    /// # Errors
    /// If there is no image, or the model fails on it.
    pub fn step(&mut self, again: bool) -> Result<Option<(Frame, Vec<Detection>)>, DetectorError> {
        let begin_ns = monotonic_nanos();
        let Some(image) = self.load(again)? else { return Ok(None) };
        let loaded = monotonic_nanos();
        let letterbox = Letterbox::new((image.width(), image.height()), self.model.input());
        letterbox.fill(&image, &mut self.input);
        let prepared = monotonic_nanos();
        let thresholds = self.thresholds;
        let (inferred, found) = self.model.run(&self.input, |shape, values| {
            let inferred = monotonic_nanos();
            let head = Head::of_shape(shape);
            (inferred, head.map(|head| decode(values, head, thresholds)))
        })?;
        let detections = found.as_ref().map(|found| found.len() as u32);
        let mut found = found.unwrap_or_default();
        for detection in &mut found {
            detection.sides = letterbox.to_image(detection.sides);
        }
        let end_ns = monotonic_nanos();
        self.count += 1;
        let stages = Stages {
            load_ns: loaded - begin_ns,
            pre_ns: prepared - loaded,
            inference_ns: inferred - prepared,
            post_ns: end_ns - inferred,
        };
        let number = self.count;
        Ok(Some((Frame { number, begin_ns, end_ns, stages: Some(stages), detections }, found)))
    }

    fn load(&mut self, again: bool) -> Result<Option<Image>, FrameError> {
        let mut image = self.frames.read()?;
        if image.is_none() && again && self.since_rewind > 0 {
            self.frames.rewind()?;
            self.since_rewind = 0;
            image = self.frames.read()?;
        }
        self.since_rewind += u64::from(image.is_some());
        Ok(image)
    }
}
