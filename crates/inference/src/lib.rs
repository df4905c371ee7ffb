//! Object detection on frames, with timing: an ONNX model with ONNX Runtime or rten, or any program
//! that prints a line per frame.
//!
//! Data flow: [`frames`] provides an image, [`letterbox`] fits it to the input of a [`model`],
//! [`detection`] finds boxes in its output. A [`detector`] does this frame by frame and times it;
//! [`timing`] summarises the times. ONNX Runtime is installed by the user and loaded at run time
//! ([`runtime`]); [`generated`] creates a model, so that nothing has to be downloaded. Instead of
//! all this, [`program`] runs a command.
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
pub mod tail;
pub mod timing;
