//! Options for a runtime, and its view of a model.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::runtime::Provider;

/// The source of a model.
#[derive(Clone, Debug)]
pub enum ModelSource {
    /// A file.
    File(PathBuf),
    /// Memory: the content of a file.
    Memory(Vec<u8>),
}

/// How to run a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// Threads that share the work of each operator.
    pub threads: NonZeroUsize,
    /// The device that computes.
    pub provider: Provider,
    /// Width and height of the input, in pixels, for models with a dynamic size.
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
        "{name} is not an ONNX model that {runtime} can run ({why}); export one, for example with \
         `yolo export model=yolo11n.pt format=onnx`, or use --model generated"
    )]
    NotOnnx {
        /// Its file, or "the generated model".
        name: String,
        runtime: String,
        why: String,
    },
    #[error(
        "{name} takes {found} instead of one image of floats [1, 3, height, width] with sides up to \
         {INPUT_MAX}; run such a model in a separate program with --exec"
    )]
    Input {
        /// Its file, or "the generated model".
        name: String,
        found: String,
    },
    #[error(
        "this runtime cannot compute with {0} ({1}); `pip install onnxruntime-gpu` provides CUDA \
         and TensorRT, and --provider cpu always works"
    )]
    Provider(Provider, String),
    #[error("the model failed on an image: {0}")]
    Run(String),
}

/// The longest side of an input, in pixels.
pub const INPUT_MAX: u32 = 4096;

pub(super) trait Engine: fmt::Debug + Send {
    fn inputs(&self) -> Vec<Declared>;

    /// The shape of its first output, -1 for dynamic dimensions; `None` if it is not a tensor.
    fn output_shape(&self) -> Option<Vec<i64>>;

    /// Runs it on one image of this width and height, and passes its first output to `show` once.
    fn run(
        &mut self,
        size: (u32, u32),
        image: &[f32],
        show: &mut dyn FnMut(&[i64], &[f32]),
    ) -> Result<(), String>;
}

pub(super) struct Declared {
    /// The shape of a float tensor, -1 for dynamic dimensions; `None` for other inputs.
    pub(super) floats: Option<Vec<i64>>,
    /// For messages.
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
