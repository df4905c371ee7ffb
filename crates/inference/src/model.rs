//! A model in ONNX format, ready to be run.

mod onnx_runtime;
#[cfg(feature = "rten")]
mod rten;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::runtime::{Provider, Runtime};

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

/// A model, loaded: an image of floats in, floats out.
#[derive(Debug)]
pub struct Model {
    engine: Box<dyn Engine>,
    input: (u32, u32),
    output_shape: Vec<i64>,
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

impl Model {
    /// Loads a model.
    ///
    /// # Errors
    /// If it is none, takes no image, or cannot be run as `options` say.
    pub fn load(
        runtime: &Runtime,
        source: &ModelSource,
        options: ModelOptions,
    ) -> Result<Model, ModelError> {
        let name = source.to_string();
        if let ModelSource::File(path) = source {
            // ONNX Runtime's own words for it name no file.
            let file = std::fs::File::open(path).map_err(|why| file_error(path, why))?;
            if file.metadata().is_ok_and(|data| data.is_dir()) {
                return Err(file_error(path, std::io::ErrorKind::IsADirectory.into()));
            }
        }
        let refused =
            |why| ModelError::NotOnnx { name: name.clone(), runtime: runtime.to_string(), why };
        let engine: Box<dyn Engine> = match runtime {
            Runtime::OnnxRuntime(library) => {
                Box::new(onnx_runtime::Loaded::load(library, source, options, refused)?)
            }
            #[cfg(feature = "rten")]
            Runtime::Rten => Box::new(rten::Loaded::load(source, options, refused)?),
        };
        let input = match &*engine.inputs() {
            [] => return Err(refused("it takes no input".to_owned())),
            [input] => input_size(input, options.input).ok_or_else(|| input.text.clone()),
            inputs => Err(format!("{} inputs", inputs.len())),
        };
        let input = input.map_err(|found| ModelError::Input { name: name.clone(), found })?;
        let Some(output_shape) = engine.output_shape() else {
            return Err(refused("its output is no tensor".to_owned()));
        };
        Ok(Model { engine, input, output_shape })
    }

    /// Width and height of the input, in pixels.
    pub fn input(&self) -> (u32, u32) {
        self.input
    }

    /// The shape of the first output, as the model declares it; -1 where it is open.
    pub fn output_shape(&self) -> &[i64] {
        &self.output_shape
    }

    /// Runs the model on an image [1, 3, height, width], and shows its first output.
    ///
    /// # Errors
    /// If the model fails, or its first output has no floats.
    pub fn run<T>(
        &mut self,
        input: &[f32],
        show: impl FnOnce(&[i64], &[f32]) -> T,
    ) -> Result<T, ModelError> {
        let (mut show, mut shown) = (Some(show), None);
        self.engine
            .run(self.input, input, &mut |shape, values| {
                shown = show.take().map(|show| show(shape, values));
            })
            .map_err(ModelError::Run)?;
        shown.ok_or_else(|| ModelError::Run("it has no output".to_owned()))
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSource::File(path) => write!(f, "{}", path.display()),
            ModelSource::Memory(_) => f.write_str("the generated model"),
        }
    }
}

/// What a runtime has made of a model.
trait Engine: fmt::Debug + Send {
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
struct Declared {
    /// The shape of a tensor of floats, -1 where it is open; `None` if it is something else.
    floats: Option<Vec<i64>>,
    /// For people.
    text: String,
}

/// Width and height; what is open is taken from `default`. `None` if it takes no image.
fn input_size(input: &Declared, default: (u32, u32)) -> Option<(u32, u32)> {
    let &[images, channels, height, width] = &**input.floats.as_ref()? else { return None };
    let side = |side: i64, default: u32| match u32::try_from(side) {
        Ok(side) if (1..=INPUT_MAX).contains(&side) => Some(side),
        Err(_) if side == -1 => Some(default),
        _ => None,
    };
    let fits = matches!(images, 1 | -1) && matches!(channels, 3 | -1);
    side(width, default.0).zip(side(height, default.1)).filter(|_| fits)
}

fn file_error(path: &std::path::Path, why: std::io::Error) -> ModelError {
    ModelError::File(path.to_owned(), why)
}
