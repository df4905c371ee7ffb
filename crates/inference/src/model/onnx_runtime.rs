//! A model in ONNX Runtime.

use ort::session::Session;
use ort::value::{TensorElementType, TensorRef};

use super::engine::{Declared, Engine, ModelError, ModelOptions, ModelSource};
use crate::runtime::OnnxRuntime;

#[derive(Debug)]
pub(super) struct Loaded(Session);

impl Loaded {
    pub(super) fn load(
        library: &OnnxRuntime,
        source: &ModelSource,
        options: ModelOptions,
        refused: impl Fn(String) -> ModelError,
    ) -> Result<Loaded, ModelError> {
        let provider = options.provider;
        let builder = Session::builder(&library.environment)
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
        session.map(Loaded).map_err(|why| refused(why.to_string()))
    }
}

impl Engine for Loaded {
    fn inputs(&self) -> Vec<Declared> {
        let declared = |input: &ort::value::Outlet| {
            let kind = input.dtype();
            let is_floats = kind.tensor_type() == Some(TensorElementType::Float32);
            let shape = kind.tensor_shape().filter(|_| is_floats);
            Declared { floats: shape.map(|shape| shape.to_vec()), text: kind.to_string() }
        };
        self.0.inputs().iter().map(declared).collect()
    }

    fn output_shape(&self) -> Option<Vec<i64>> {
        self.0.outputs().first()?.dtype().tensor_shape().map(|shape| shape.to_vec())
    }

    fn run(
        &mut self,
        (width, height): (u32, u32),
        image: &[f32],
        show: &mut dyn FnMut(&[i64], &[f32]),
    ) -> Result<(), String> {
        let failed = |why: ort::Error| why.to_string();
        let shape = [1, 3, height as usize, width as usize];
        let tensor = TensorRef::from_array_view((shape, image)).map_err(failed)?;
        let outputs = self.0.run(ort::inputs![tensor]).map_err(failed)?;
        let (shape, values) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
        show(shape, values);
        Ok(())
    }
}
