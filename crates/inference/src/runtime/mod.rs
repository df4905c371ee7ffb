//! ONNX Runtime: where it is, and how it is opened.
//!
//! It is the user's own (`pip install onnxruntime`), opened when the program runs: nothing is
//! downloaded or built for it, and a GPU build is used as it is.

mod ask;
mod open;
mod search;

pub use open::{Provider, Runtime, RuntimeError};
pub use search::Search;
