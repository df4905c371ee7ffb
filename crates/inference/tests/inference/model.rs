//! The generated model and the runtimes here, compared with Python's.

use std::num::NonZeroUsize;

use trackbed_core::seed::Seed;
use trackbed_inference::generated;
use trackbed_inference::model::{Model, ModelError, ModelOptions, ModelSource};
use trackbed_inference::runtime::{Provider, Runtime, RuntimeError, RuntimeKind, Search};

use crate::Scratch;

const CHECK: &str = include_str!("check.py");

#[test]
fn onnx_finds_nothing_wrong_with_the_generated_model() {
    let scratch = Scratch::new();
    let model = generated::model(1);
    std::fs::write(scratch.path("model.onnx"), &model.onnx).unwrap();
    let Some(said) = scratch.python(&["onnx"], CHECK) else { return };
    assert_eq!(said.trim(), format!("[1, 3, 640, 640] [1, 84, 8400] {}", model.parameters));
}

const INFER: &str = include_str!("infer.py");

/// The available runtimes; prints a line for a missing one.
fn runtimes() -> Vec<Runtime> {
    let open = |kind: &RuntimeKind| match Runtime::open(&Search::of_environment(None), Some(*kind))
    {
        Ok(runtime) => Some(runtime),
        Err(why @ (RuntimeError::Missing | RuntimeError::WithoutRten)) => {
            crate::programs::skip(why);
            None
        }
        Err(why) => panic!("{why}"),
    };
    RuntimeKind::ALL.iter().filter_map(open).collect()
}

fn options(threads: usize) -> ModelOptions {
    let threads = NonZeroUsize::new(threads).unwrap();
    ModelOptions { threads, provider: Provider::Cpu, input: (640, 640) }
}

#[test]
fn a_model_gives_here_what_it_gives_in_python() {
    let scratch = Scratch::new();
    let onnx = generated::model(1).onnx;
    std::fs::write(scratch.path("model.onnx"), &onnx).unwrap();
    let mut random = Seed::of_run(1, 0).stream("image");
    let image: Vec<f32> = (0..3 * 640 * 640).map(|_| random.unit() as f32).collect();
    scratch.write_floats("image", &image);
    if scratch.python(&["numpy", "onnxruntime"], INFER).is_none() {
        return;
    }
    let theirs = scratch.read_floats("output");
    let file = ModelSource::File(scratch.path("model.onnx"));
    let sources = [(1, ModelSource::Memory(onnx)), (2, file)];
    for (runtime, (threads, source)) in
        runtimes().iter().flat_map(|runtime| sources.iter().map(move |source| (runtime, source)))
    {
        let mut model = Model::load(runtime, source, options(*threads)).unwrap();
        assert_eq!((model.input(), model.output_shape()), ((640, 640), &[1, 84, 8400][..]));
        let ours = outputs(&mut model, &image);
        assert_eq!(ours.len(), theirs.len());
        assert!(farthest(&ours, &theirs) < 0.05, "{runtime}: {}", farthest(&ours, &theirs));
        assert!(ours.iter().all(|value| value.is_finite()));
        let confidences = &ours[4 * 8400..];
        assert!(confidences.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

fn outputs(model: &mut Model, image: &[f32]) -> Vec<f32> {
    let show = |shape: &[i64], values: &[f32]| {
        assert_eq!(shape, [1, 84, 8400]);
        values.to_vec()
    };
    model.run(image, show).unwrap()
}

/// Boxes are in pixels up to 640; threads and runtimes may sum in different orders.
fn farthest(ours: &[f32], theirs: &[f32]) -> f32 {
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn runtimes_find_the_same_with_any_number_of_threads() {
    let source = ModelSource::Memory(generated::model(2).onnx);
    let mut random = Seed::of_run(2, 0).stream("image");
    let image: Vec<f32> = (0..3 * 640 * 640).map(|_| random.unit() as f32).collect();
    let mut first: Option<Vec<f32>> = None;
    for runtime in runtimes() {
        for threads in [1, 2] {
            let mut model = Model::load(&runtime, &source, options(threads)).unwrap();
            let found = outputs(&mut model, &image);
            let first = first.get_or_insert_with(|| found.clone());
            assert!(farthest(&found, first) < 0.05, "{runtime}: {}", farthest(&found, first));
        }
    }
}

/// Only ONNX Runtime supports providers other than the CPU.
#[test]
fn rten_refuses_what_it_cannot_compute_with() {
    let source = ModelSource::Memory(generated::model(1).onnx);
    for runtime in runtimes().iter().filter(|runtime| runtime.kind() == RuntimeKind::Rten) {
        let options = ModelOptions { provider: Provider::Cuda, ..options(1) };
        let error = Model::load(runtime, &source, options).unwrap_err();
        assert!(matches!(error, ModelError::Provider(Provider::Cuda, _)), "{error}");
    }
}

/// Small models whose inputs differ from a detector's.
const OTHERS: &str = include_str!("others.py");

#[test]
fn models_that_take_no_image_are_refused_with_what_they_take() {
    let scratch = Scratch::new();
    if scratch.python(&["onnx"], OTHERS).is_none() {
        return;
    }
    std::fs::write(scratch.path("text.onnx"), "this is no model").unwrap();
    std::fs::write(scratch.path("empty.onnx"), "").unwrap();
    for runtime in runtimes() {
        let load =
            |name: &str| Model::load(&runtime, &ModelSource::File(scratch.path(name)), options(1));
        let mut open = load("open.onnx").unwrap();
        assert_eq!(open.input(), (640, 640));
        let image = vec![0.5; 3 * 640 * 640];
        assert_eq!(open.run(&image, |shape, _| shape.to_vec()).unwrap(), [1, 3, 640, 640]);
        for name in ["grey.onnx", "batch.onnx", "last.onnx", "flat.onnx", "bytes.onnx"] {
            let error = load(name).unwrap_err();
            assert!(matches!(error, ModelError::Input { .. }), "{runtime}, {name}: {error}");
            assert!(error.to_string().contains(name), "{error}");
        }
        for name in ["unknown.onnx", "text.onnx", "empty.onnx"] {
            let error = load(name).unwrap_err();
            assert!(matches!(error, ModelError::NotOnnx { .. }), "{runtime}, {name}: {error}");
            assert!(error.to_string().contains(name), "{error}");
        }
        assert!(matches!(load("missing.onnx"), Err(ModelError::File(..))));
        assert!(matches!(load("."), Err(ModelError::File(..))));
    }
}
