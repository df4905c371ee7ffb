//! The arguments of `trackbed infer`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trackbed_inference::model::INPUT_MAX;
use trackbed_inference::runtime::{Provider, RuntimeKind};

use crate::commands::phad::duration;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed infer                                     the generated model on generated frames
  trackbed infer --model yolo11n.onnx --frames MOT17-05-SDP --threads 4 --detections found.txt
  trackbed infer --model yolo11n.onnx --frames street.mp4 --once --detections found.ndjson
  trackbed infer --duration 30s --durations frames.txt --json > infer.json
  trackbed infer --exec -- ./my-tensorrt-pipeline    a line for each frame
  trackbed infer --write-model yolo11n-random.onnx

The model is run by ONNX Runtime, your own: `pip install onnxruntime`. It is looked for where --library
or ORT_DYLIB_PATH say, in the active virtual environment, where python3 has it, in the system's
folders. `onnxruntime-gpu` brings --provider cuda and tensorrt. Where there is none, rten runs the
model, which is slower and needs nothing installed: it is part of a released trackbed, and of one that
is built with `--features rten`.

A model takes one image [1, 3, height, width] of floats. Detections are read from outputs of YOLO
version 8 and later ([1, 4 + classes, places]); others are run and timed alone. The generated model has
the size and shape of YOLO11n and random weights: what it finds means nothing.

A frame is loaded, fitted into the input, run and searched for boxes, and the next one follows at
once; frames per second and latencies are over all of that. At the end of the frames they begin again.
With --exec a frame lasts from one line of the program to the next; its first line says that it is
ready. The program and all that it has started end with this.

--events writes a JSON object a line, for whoever runs this as a child: {\"event\":\"ready\"}, a
{\"event\":\"frame\"} for each frame with begin_ns and end_ns by CLOCK_MONOTONIC, and {\"event\":\"end\"}.
--durations writes the times of the frames that count as text: \"threads N\", then a line \"frame SERIAL
PARALLEL\" for each frame, nanoseconds on one thread and on all.

SIGTERM or Ctrl-C: the results so far. Exit status: 0 done, 2 bad input or something failed, 130
interrupted.";

/// What to look at, by what, for how long.
#[derive(Debug, Args)]
pub struct InferArguments {
    /// A model in ONNX format, or "generated": one of YOLO11n's size with random weights
    #[arg(long, value_name = "FILE|generated", default_value = "generated")]
    pub model: PathBuf,
    /// A folder of .jpg and .png files (or of MOTChallenge, with img1/), a video, or "generated"
    #[arg(long, value_name = "DIR|VIDEO|generated", default_value = "generated")]
    pub frames: PathBuf,
    /// Threads that share the work of the model [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// How long to go on, warm-up included
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = duration)]
    pub duration: Duration,
    /// How much of the beginning not to count
    #[arg(long, value_name = "TIME", default_value = "5 s", value_parser = duration)]
    pub warm_up: Duration,
    /// End with the last frame, in place of beginning again
    #[arg(long)]
    pub once: bool,
    /// What computes
    #[arg(long, value_enum, default_value = "cpu")]
    pub provider: ProviderArgument,
    /// What runs the model [default: onnxruntime where it is installed, else rten]
    #[arg(long, value_enum, conflicts_with = "exec")]
    pub runtime: Option<RuntimeArgument>,
    /// ONNX Runtime: the file libonnxruntime.so, or a folder or virtual environment that has it
    #[arg(long, value_name = "FILE|DIR")]
    pub library: Option<PathBuf>,
    /// Sides of the input in pixels, for models that leave them open
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x640", value_parser = size)]
    pub input_size: (u32, u32),
    /// The confidence that something found must exceed, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = share)]
    pub confidence: f32,
    /// How much boxes of a class may overlap (intersection over union), from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.7, value_parser = share)]
    pub overlap: f32,
    /// Write what is found: JSON lines if the name ends in .ndjson, else as MOTChallenge has it
    #[arg(long, value_name = "FILE", conflicts_with = "exec")]
    pub detections: Option<PathBuf>,
    /// Write only what is of this class; may be given several times. 0 is a person in COCO's models
    #[arg(long = "class", value_name = "N", requires = "detections")]
    pub classes: Vec<u32>,
    /// Write how long each frame that counts took
    #[arg(long, value_name = "FILE")]
    pub durations: Option<PathBuf>,
    /// Where the generated model and frames come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document in place of the table
    #[arg(long)]
    pub json: bool,
    /// Print a JSON object for each frame, and no table
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
    /// Write the generated model to this file, and do nothing else
    #[arg(long, value_name = "FILE")]
    pub write_model: Option<PathBuf>,
    /// Run the program behind "--", which says a line for each frame, in place of a model
    #[arg(long, requires = "command", conflicts_with_all = ["write_model"])]
    pub exec: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "exec")]
    pub command: Vec<OsString>,
}

/// What computes: see [`Provider`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProviderArgument {
    /// The processor
    Cpu,
    /// NVIDIA's CUDA
    Cuda,
    /// NVIDIA's TensorRT
    Tensorrt,
}

impl From<ProviderArgument> for Provider {
    fn from(argument: ProviderArgument) -> Provider {
        match argument {
            ProviderArgument::Cpu => Provider::Cpu,
            ProviderArgument::Cuda => Provider::Cuda,
            ProviderArgument::Tensorrt => Provider::TensorRt,
        }
    }
}

/// What runs a model: see [`RuntimeKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RuntimeArgument {
    /// ONNX Runtime
    Onnxruntime,
    /// rten, in Rust and built in
    Rten,
}

impl From<RuntimeArgument> for RuntimeKind {
    fn from(argument: RuntimeArgument) -> RuntimeKind {
        match argument {
            RuntimeArgument::Onnxruntime => RuntimeKind::OnnxRuntime,
            RuntimeArgument::Rten => RuntimeKind::Rten,
        }
    }
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= THREADS_MAX);
    threads.ok_or_else(|| format!("write a whole number from 1 to {THREADS_MAX}"))
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, for example 0.25".to_owned())
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=INPUT_MAX).contains(side));
    let sides = text.split_once('x').and_then(|(w, h)| Some((side(w)?, side(h)?)));
    sides.ok_or_else(|| format!("write two numbers from 1 to {INPUT_MAX}, for example 640x640"))
}

const THREADS_MAX: usize = 1024;
