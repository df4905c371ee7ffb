//! Object detection on frames, timed: an ONNX model by ONNX Runtime or rten, or any program that says a
//! line for each frame.
//!
//! The way of the data: [`frames`] gives an image, [`letterbox`] fits it into the input of a
//! [`model`], [`detection`] finds boxes in its output. A [`detector`] does this frame after frame and
//! times it; [`timing`] makes figures of it. ONNX Runtime is the user's own and is opened when the
//! program runs ([`runtime`]); [`generated`] makes a model up, so that nothing has to be downloaded.
//! In place of all this, [`program`] runs a command.
#![forbid(unsafe_code)]

pub mod clock;
pub mod detection;
pub mod detector;
pub mod frames;
pub mod generated;
pub mod image;
pub mod letterbox;
pub mod model;
pub mod program;
pub mod runtime;
mod tail;
pub mod timing;
