//! What a runtime is asked for, and what it makes of a model.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::runtime::Provider;

/// Where a model is.
#[derive(Clone, Debug)]
pub enum ModelSource {
    /// In a file.
    File(PathBuf),
    /// In memory: the content of a file.
    Memory(Vec<u8>),
}

/// How a model is to be run.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// Threads that share the work of each operator.
    pub threads: NonZeroUsize,
    /// What computes.
    pub provider: Provider,
    /// Width and height of the input, in pixels, for models that leave them open.
    pub input: (u32, u32),
}

/// Why a model cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum ModelError {
    #[error("cannot read the model {0}: {1}")]
    File(PathBuf, std::io::Error),
    #[error(
        "{name} is no ONNX model that {runtime} can run ({why}); export one, for example with \
         `yolo export model=yolo11n.pt format=onnx`, or use --model generated"
    )]
    NotOnnx {
        /// Its file, or "the generated model".
        name: String,
        runtime: String,
        why: String,
    },
    #[error(
        "{name} takes {found}, and not one image of floats [1, 3, height, width] with sides up to \
         {INPUT_MAX}; run such a model by a program of its own with --exec"
    )]
    Input {
        /// Its file, or "the generated model".
        name: String,
        found: String,
    },
    #[error(
        "this runtime cannot compute with {0} ({1}); `pip install onnxruntime-gpu` has CUDA \
         and TensorRT, and --provider cpu needs nothing"
    )]
    Provider(Provider, String),
    #[error("the model failed on an image: {0}")]
    Run(String),
}

/// The longest side of an input, in pixels.
pub const INPUT_MAX: u32 = 4096;

/// What a runtime has made of a model.
pub(super) trait Engine: fmt::Debug + Send {
    /// What the model takes.
    fn inputs(&self) -> Vec<Declared>;

    /// The shape of its first output, -1 where it is open; `None` if that is no tensor.
    fn output_shape(&self) -> Option<Vec<i64>>;

    /// Runs it on one image of this width and height, and shows its first output once.
    fn run(
        &mut self,
        size: (u32, u32),
        image: &[f32],
        show: &mut dyn FnMut(&[i64], &[f32]),
    ) -> Result<(), String>;
}

/// An input as a model declares it.
pub(super) struct Declared {
    /// The shape of a tensor of floats, -1 where it is open; `None` if it is something else.
    pub(super) floats: Option<Vec<i64>>,
    /// For people.
    pub(super) text: String,
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSource::File(path) => write!(f, "{}", path.display()),
            ModelSource::Memory(_) => f.write_str("the generated model"),
        }
    }
}
