//! `trackbed infer`: measures object detection alone.

mod arguments;
mod outlet;
mod session;
mod summary;
mod usage;

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context as _, bail};
use trackbed_device::processor::durations::{Durations, FrameTime};
use trackbed_inference::detection::Thresholds;
use trackbed_inference::detector::Detector;
use trackbed_inference::frames::Frames;
use trackbed_inference::generated;
use trackbed_inference::model::{Model, ModelOptions, ModelSource};
use trackbed_inference::program::Program;
use trackbed_inference::runtime::{Runtime, RuntimeKind, Search};

use crate::ending::Ending;
use crate::output;

pub use arguments::Arguments;
use outlet::Outlet;
use session::{Session, Worker};
use summary::{About, Ended, ModelAbout};

/// Runs the detector until the time is over, the frames end, or a signal arrives.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if let Some(path) = &arguments.write_model {
        return write_model(path, arguments.seed);
    }
    if arguments.duration <= arguments.warm_up {
        bail!("--duration must be longer than --warm-up, which is left out of the results");
    }
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let mut outlet = Outlet::open(arguments)?;
    let (worker, about) = match arguments.exec {
        true => by_program(arguments)?,
        false => by_model(arguments, threads)?,
    };
    // An unwritable file should fail before an hour of measurement, not after it.
    if let Some(path) = &arguments.durations {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut session = Session::new(worker, arguments, about.process)?;
    outlet.begin(&about)?;
    let ended = session.run(&mut outlet)?;
    outlet.end(ended)?;
    let (timing, usage) = session.finish();
    let Some(report) = timing.report() else {
        if ended == Ended::Interrupted {
            return Ok(Ending::Interrupted);
        }
        bail!("no frame finished after the warm-up; increase --duration");
    };
    if !arguments.events {
        let document = summary::document(&about, &report, &usage, ended);
        output::answer(arguments.json, &document, || summary::table(&about, &report, &usage))?;
    }
    if let Some(path) = &arguments.durations {
        write_durations(path, &about, timing.frames(), threads)?;
    }
    Ok(if ended == Ended::Interrupted { Ending::Interrupted } else { Ending::Success })
}

fn write_model(path: &Path, seed: u64) -> anyhow::Result<Ending> {
    let model = generated::model(seed);
    fs::write(path, &model.onnx).with_context(|| format!("cannot write {}", path.display()))?;
    output::tell(format_args!(
        "{}: {} parameters, {:.2} GFLOP per image, random weights",
        path.display(),
        model.parameters,
        model.operations as f64 / 1e9
    ));
    Ok(Ending::Success)
}

fn by_program(arguments: &Arguments) -> anyhow::Result<(Worker, About)> {
    let program = Program::start(&arguments.command)?;
    let words: Vec<String> =
        arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let about = About { what: words.join(" "), model: None, process: program.process() };
    Ok((Worker::Program(program), about))
}

fn by_model(arguments: &Arguments, threads: NonZeroUsize) -> anyhow::Result<(Worker, About)> {
    // Cheap checks come first.
    let is_generated = |path: &Path| path.as_os_str() == "generated";
    let frames = match is_generated(&arguments.frames) {
        true => Frames::generated(arguments.seed),
        false => Frames::open(&arguments.frames)?,
    };
    let kind = arguments.runtime;
    if kind == Some(RuntimeKind::Rten) && arguments.library.is_some() {
        bail!(
            "--runtime rten does not use --library, which is for ONNX Runtime; remove one of them"
        );
    }
    let runtime = Runtime::open(&Search::of_environment(arguments.library.clone()), kind)?;
    let source = match is_generated(&arguments.model) {
        true => ModelSource::Memory(generated::model(arguments.seed).onnx),
        false => ModelSource::File(arguments.model.clone()),
    };
    let provider = arguments.provider;
    let options = ModelOptions { threads, provider, input: arguments.input_size };
    let model = Model::load(&runtime, &source, options)?;
    let about = ModelAbout {
        frames: arguments.frames.display().to_string(),
        threads: threads.get(),
        provider,
        runtime,
        input: model.input(),
    };
    let about = About { what: source.to_string(), model: Some(about), process: std::process::id() };
    let thresholds = Thresholds { confidence: arguments.confidence, overlap: arguments.overlap };
    let detector = Detector::new(frames, model, thresholds);
    if detector.is_detecting() == Some(false) {
        let note = "note: the model's output is not in YOLO's format: it is timed, but nothing is detected";
        output::tell(note);
    }
    Ok((Worker::Detector(Box::new(detector)), about))
}

fn write_durations(
    path: &Path,
    about: &About,
    frames: &[trackbed_inference::detector::Frame],
    threads: NonZeroUsize,
) -> anyhow::Result<()> {
    let frames = frames.iter().map(|frame| match frame.stages {
        Some(stages) => FrameTime {
            serial_ns: stages.load_ns + stages.pre_ns + stages.post_ns,
            parallel_ns: stages.inference_ns,
        },
        None => FrameTime {
            serial_ns: 0,
            parallel_ns: frame.end_ns.saturating_sub(frame.begin_ns).max(1),
        },
    });
    let threads = u32::try_from(threads.get()).unwrap_or(u32::MAX);
    let durations = Durations { threads, frames: frames.collect() };
    let origin = format!("{}, by trackbed infer", about.what.replace('\n', " "));
    output::write_with_origin(path, &durations.to_string(), &origin)
}
