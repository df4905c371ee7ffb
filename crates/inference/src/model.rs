//! A model in ONNX format, ready to run.

mod engine;
mod onnx_runtime;
#[cfg(feature = "rten")]
mod rten;

use crate::runtime::Runtime;
use engine::{Declared, Engine};
pub use engine::{INPUT_MAX, ModelError, ModelOptions, ModelSource};

/// A loaded model: takes an image as floats, returns floats.
#[derive(Debug)]
pub struct Model {
    engine: Box<dyn Engine>,
    input: (u32, u32),
    output_shape: Vec<i64>,
}

impl Model {
    /// Loads a model.
    ///
    /// # Errors
    /// If it is not a model, takes no image, or cannot be run with `options`.
    pub fn load(
        runtime: &Runtime,
        source: &ModelSource,
        options: ModelOptions,
    ) -> Result<Model, ModelError> {
        let name = source.to_string();
        if let ModelSource::File(path) = source {
            // ONNX Runtime's error for this does not name the file.
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
            return Err(refused("its output is not a tensor".to_owned()));
        };
        Ok(Model { engine, input, output_shape })
    }

    /// Width and height of the input, in pixels.
    pub fn input(&self) -> (u32, u32) {
        self.input
    }

    /// The shape of the first output, as declared; -1 for dynamic dimensions.
    pub fn output_shape(&self) -> &[i64] {
        &self.output_shape
    }

    /// Runs the model on an image [1, 3, height, width], and passes its first output to `show`.
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

/// Width and height; dynamic dimensions come from `default`. `None` if it takes no image.
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
