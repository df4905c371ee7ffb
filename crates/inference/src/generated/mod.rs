//! A model with the size and shape of YOLO11n and random weights, so that inference can be timed
//! without downloads. It does the same computations as the real one, but its detections are
//! meaningless.

mod blocks;
mod graph;
mod network;
mod protobuf;

use trackbed_core::seed::Seed;

/// A generated model in ONNX format.
#[derive(Clone, Debug)]
pub struct GeneratedModel {
    /// The content of its file.
    pub onnx: Vec<u8>,
    /// Weights and biases.
    pub parameters: u64,
    /// Multiplications and additions of convolutions for one image of 640 x 640 pixels.
    pub operations: u64,
}

/// The model for this seed: the same bytes on every machine.
///
/// Input `images` [1, 3, 640, 640], output `output0` [1, 84, 8400]: for each of 8,400 places a box
/// (centre, width, height in pixels) and 80 confidences.
pub fn model(seed: u64) -> GeneratedModel {
    network::build(Seed::of_run(seed, 0).stream("inference/weights"))
}
