//! What comes behind the model: from its output to the things that it has found.

mod suppression;
mod writer;
mod yolo;

pub use suppression::overlap;
pub use writer::{DetectionWriter, Form};
pub use yolo::{Head, decode};

/// Something that was found in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    /// Left, top, right and bottom in pixels, from the upper left corner.
    pub sides: [f32; 4],
    /// What it is: a number of the model's, from 0. 0 is a person in models of COCO.
    pub class: u32,
    /// From 0 to 1.
    pub confidence: f32,
}

/// What counts as found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The confidence that must be exceeded, from 0 to 1.
    pub confidence: f32,
    /// Of two boxes of a class that overlap by more (intersection over union, from 0 to 1), the
    /// surer one stays.
    pub overlap: f32,
}

/// As Ultralytics has them.
impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { confidence: 0.25, overlap: 0.7 }
    }
}

/// The most boxes of which overlaps are looked for, and the most that are given, for an image: as
/// Ultralytics has them.
pub(crate) const CANDIDATES_MAX: usize = 30_000;
pub(crate) const DETECTIONS_MAX: usize = 300;
