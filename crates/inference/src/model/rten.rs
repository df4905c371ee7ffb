//! A model in rten.

use std::fmt;
use std::sync::Arc;

use rten::{DataType, Dimension, NodeId, RunOptions, ThreadPool, ValueType};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensorView, Tensor};

use super::engine::{Declared, Engine, ModelError, ModelOptions, ModelSource};
use crate::runtime::Provider;

pub(super) struct Loaded {
    model: rten::Model,
    threads: Arc<ThreadPool>,
}

impl Loaded {
    pub(super) fn load(
        source: &ModelSource,
        options: ModelOptions,
        refused: impl Fn(String) -> ModelError,
    ) -> Result<Loaded, ModelError> {
        let provider = options.provider;
        if provider != Provider::Cpu {
            return Err(ModelError::Provider(provider, "rten supports the CPU only".to_owned()));
        }
        let mut loader = rten::ModelOptions::with_all_ops();
        // Prepacked weights trade memory for speed.
        loader.prepack_weights(true);
        let model = match source {
            ModelSource::File(path) => loader.load_file(path),
            ModelSource::Memory(bytes) => loader.load(bytes.clone()),
        };
        let model = model.map_err(|why| refused(why.to_string()))?;
        let threads = Arc::new(ThreadPool::with_num_threads(options.threads.get()));
        Ok(Loaded { model, threads })
    }

    fn shape(&self, id: NodeId) -> Option<Vec<i64>> {
        let shape = self.model.node_info(id)?.shape()?;
        let side = |side: &Dimension| match side {
            Dimension::Fixed(side) => i64::try_from(*side).unwrap_or(i64::MAX),
            Dimension::Symbolic(_) => -1,
        };
        Some(shape.iter().map(side).collect())
    }
}

impl Engine for Loaded {
    fn inputs(&self) -> Vec<Declared> {
        let declared = |id: &NodeId| {
            let kind = self.model.node_info(*id).and_then(|info| info.dtype());
            let shape = self.shape(*id);
            let text = format!("{kind:?} {:?}", shape.as_deref().unwrap_or_default());
            let is_floats = kind == Some(ValueType::Tensor(DataType::Float));
            Declared { floats: shape.filter(|_| is_floats), text }
        };
        self.model.input_ids().iter().map(declared).collect()
    }

    fn output_shape(&self) -> Option<Vec<i64>> {
        self.shape(*self.model.output_ids().first()?)
    }

    fn run(
        &mut self,
        (width, height): (u32, u32),
        image: &[f32],
        show: &mut dyn FnMut(&[i64], &[f32]),
    ) -> Result<(), String> {
        let shape = [1, 3, height as usize, width as usize];
        let tensor = NdTensorView::try_from_data(shape, image).map_err(|why| why.to_string())?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let output = self.model.run_one(tensor.into(), Some(options));
        let output = output.map_err(|why| why.to_string())?;
        let output: Tensor<f32> = output.try_into().map_err(|why| format!("{why:?}"))?;
        let shape: Vec<i64> = output.shape().iter().map(|side| *side as i64).collect();
        show(&shape, &output.to_vec());
        Ok(())
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").finish_non_exhaustive()
    }
}
