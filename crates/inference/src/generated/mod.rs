//! A model of the size and shape of YOLO11n with random weights, so that nothing has to be
//! downloaded to time inference. It computes what the real one computes, and finds nothing that
//! means anything.

mod blocks;
mod graph;
mod network;
mod protobuf;

use trackbed_core::seed::Seed;

/// A model that was made up, in ONNX format.
#[derive(Clone, Debug)]
pub struct GeneratedModel {
    /// The content of its file.
    pub onnx: Vec<u8>,
    /// Weights and biases.
    pub parameters: u64,
    /// Multiplications and additions of convolutions for one image of 640 x 640 pixels.
    pub operations: u64,
}

/// The model of this seed: the same bytes on every machine.
///
/// Input `images` [1, 3, 640, 640], output `output0` [1, 84, 8400]: for each of 8,400 places a box
/// (centre, width, height in pixels) and 80 confidences.
pub fn model(seed: u64) -> GeneratedModel {
    network::build(Seed::of_run(seed, 0).stream("inference/weights"))
}
