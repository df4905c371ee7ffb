//! A model in ONNX format, ready to be run.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use ort::session::Session;
use ort::value::{Outlet, TensorElementType, TensorRef};

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
    /// Threads that share the work of each operator (ONNX Runtime's intra-op threads).
    pub threads: NonZeroUsize,
    /// What computes.
    pub provider: Provider,
    /// Width and height of the input, in pixels, for models that leave them open.
    pub input: (u32, u32),
}

/// A model, loaded: an image of floats in, floats out.
#[derive(Debug)]
pub struct Model {
    session: Session,
    input_name: String,
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
        "{name} is no ONNX model that ONNX Runtime can run ({why}); export one, for example with \
         `yolo export model=yolo11n.pt format=onnx`, or use --model generated"
    )]
    NotOnnx {
        /// Its file, or "the generated model".
        name: String,
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
        "this ONNX Runtime cannot compute with {0} ({1}); `pip install onnxruntime-gpu` has CUDA \
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
        let session = create(runtime, source, options)?;
        let input = match session.inputs() {
            [input] => input_size(input, options.input),
            inputs => Err(format!("{} inputs", inputs.len())),
        };
        let input = input.map_err(|found| ModelError::Input { name: name.clone(), found })?;
        let input_name = session.inputs()[0].name().to_owned();
        let output_shape = match session.outputs() {
            [output, ..] => output.dtype().tensor_shape().map(|shape| shape.to_vec()),
            [] => None,
        };
        let Some(output_shape) = output_shape else {
            return Err(ModelError::NotOnnx { name, why: "its output is no tensor".to_owned() });
        };
        Ok(Model { session, input_name, input, output_shape })
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
        let failed = |why: ort::Error| ModelError::Run(why.to_string());
        let (width, height) = self.input;
        let shape = [1, 3, height as usize, width as usize];
        let tensor = TensorRef::from_array_view((shape, input)).map_err(failed)?;
        let outputs =
            self.session.run(ort::inputs![&*self.input_name => tensor]).map_err(failed)?;
        let (shape, values) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
        Ok(show(shape, values))
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

fn create(
    runtime: &Runtime,
    source: &ModelSource,
    options: ModelOptions,
) -> Result<Session, ModelError> {
    let name = source.to_string();
    let refused = |why: String| ModelError::NotOnnx { name: name.clone(), why };
    let provider = options.provider;
    let builder = Session::builder(&runtime.environment)
        .map_err(|why| refused(why.to_string()))?
        .with_intra_threads(options.threads.get())
        .map_err(|why| refused(why.to_string()))?;
    let mut builder = builder
        .with_execution_providers(provider.registrations())
        .map_err(|why| ModelError::Provider(provider, why.to_string()))?;
    let session = match source {
        ModelSource::File(path) => builder.commit_from_file(path),
        ModelSource::Memory(bytes) => builder.commit_from_memory(bytes),
    };
    session.map_err(|why| refused(why.to_string()))
}

/// Width and height; what is open is taken from `default`.
fn input_size(input: &Outlet, default: (u32, u32)) -> Result<(u32, u32), String> {
    let found = || input.dtype().to_string();
    if input.dtype().tensor_type() != Some(TensorElementType::Float32) {
        return Err(found());
    }
    let shape = input.dtype().tensor_shape().ok_or_else(found)?;
    let [images, channels, height, width] = **shape else { return Err(found()) };
    let side = |side: i64, default: u32| match u32::try_from(side) {
        Ok(side) if (1..=INPUT_MAX).contains(&side) => Some(side),
        Err(_) if side == -1 => Some(default),
        _ => None,
    };
    let fits = matches!(images, 1 | -1) && matches!(channels, 3 | -1);
    match (side(width, default.0), side(height, default.1)) {
        (Some(width), Some(height)) if fits => Ok((width, height)),
        _ => Err(found()),
    }
}

fn file_error(path: &std::path::Path, why: std::io::Error) -> ModelError {
    ModelError::File(path.to_owned(), why)
}
