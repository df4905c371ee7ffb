//! The arguments of `trackbed infer`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trackbed_inference::model::INPUT_MAX;
use trackbed_inference::runtime::{Provider, RuntimeKind};

use crate::commands::phad::duration;
use crate::options::{Names, one_of};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/infer.txt"))]
pub struct Arguments {
    /// Run the ONNX model in FILE, or "generated": a model of YOLO11n's size with random weights
    #[arg(long, value_name = "FILE|generated", default_value = "generated")]
    pub model: PathBuf,
    /// Read frames from DIR with .jpg and .png files (or with img1/, as in MOTChallenge), from VIDEO, or
    /// use "generated" ones
    #[arg(long, value_name = "DIR|VIDEO|generated", default_value = "generated")]
    pub frames: PathBuf,
    /// Run the model on N threads [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Run for TIME, including the warm-up
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = duration)]
    pub duration: Duration,
    /// Leave the first TIME out of the results
    #[arg(long, value_name = "TIME", default_value = "5 s", value_parser = duration)]
    pub warm_up: Duration,
    /// Stop after the last frame instead of repeating the frames
    #[arg(long)]
    pub once: bool,
    /// Choose the execution provider
    #[arg(long, default_value = "cpu", value_parser = one_of(PROVIDERS))]
    pub provider: Provider,
    /// Choose the runtime of the model [default: onnxruntime if it is installed, else rten]
    #[arg(long, value_parser = one_of(RUNTIMES), conflicts_with = "exec")]
    pub runtime: Option<RuntimeKind>,
    /// Load ONNX Runtime from FILE (libonnxruntime.so), or from DIR or the virtual environment in DIR
    #[arg(long, value_name = "FILE|DIR")]
    pub library: Option<PathBuf>,
    /// Set the input size in pixels, for models that do not fix it
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x640", value_parser = size)]
    pub input_size: (u32, u32),
    /// Report detections whose confidence exceeds SHARE, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = share)]
    pub confidence: f32,
    /// Let boxes of a class overlap by at most SHARE (intersection over union), from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.7, value_parser = share)]
    pub overlap: f32,
    /// Write detections to FILE: as JSON lines if its name ends in .ndjson, else in MOTChallenge's format
    #[arg(long, value_name = "FILE", conflicts_with = "exec")]
    pub detections: Option<PathBuf>,
    /// Write only detections of class N; may be given several times. 0 is a person in COCO models
    #[arg(long = "class", value_name = "N", requires = "detections")]
    pub classes: Vec<u32>,
    /// Write the time that each frame after the warm-up took to FILE
    #[arg(long, value_name = "FILE")]
    pub durations: Option<PathBuf>,
    /// Set the seed of the generated model and frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
    /// Print a JSON object for each frame instead of the table
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
    /// Write the generated model to FILE and exit
    #[arg(long, value_name = "FILE")]
    pub write_model: Option<PathBuf>,
    /// Run the program after "--", which prints a line for each frame, instead of a model
    #[arg(long, requires = "command", conflicts_with_all = ["write_model"])]
    pub exec: bool,
    /// The program to run and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "exec")]
    pub command: Vec<OsString>,
}

const PROVIDERS: &Names<Provider> = &[
    ("cpu", "The CPU", Provider::Cpu),
    ("cuda", "NVIDIA CUDA", Provider::Cuda),
    ("tensorrt", "NVIDIA TensorRT", Provider::TensorRt),
];

const RUNTIMES: &Names<RuntimeKind> = &[
    ("onnxruntime", "ONNX Runtime", RuntimeKind::OnnxRuntime),
    ("rten", "rten, written in Rust and built in", RuntimeKind::Rten),
];

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
