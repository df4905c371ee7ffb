//! Post-processing: from a model's output to detected objects.

mod suppression;
mod writer;
mod yolo;

pub use suppression::overlap;
pub use writer::{DetectionWriter, Form};
pub use yolo::{Head, decode};

/// An object detected in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    /// Left, top, right and bottom in pixels, from the upper left corner.
    pub sides: [f32; 4],
    /// The class number of the model, from 0. In COCO models 0 is a person.
    pub class: u32,
    /// From 0 to 1.
    pub confidence: f32,
}

/// Thresholds for detections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Only detections above this confidence count, from 0 to 1.
    pub confidence: f32,
    /// If two boxes of a class overlap by more than this (intersection over union, from 0 to 1),
    /// the one with higher confidence is kept.
    pub overlap: f32,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { confidence: 0.25, overlap: 0.7 }
    }
}

/// Maximum number of boxes checked for overlaps, and of boxes returned, per image: as in
/// Ultralytics.
pub(crate) const CANDIDATES_MAX: usize = 30_000;
pub(crate) const DETECTIONS_MAX: usize = 300;
