//! The results of a session, as a table and as a document.

use serde_json::{Value, json};
use trackbed_core::named;
use trackbed_inference::runtime::{Provider, Runtime};
use trackbed_inference::timing::{Distribution, Report};
use trackbed_report::{Align, Table};

use super::usage::Sums;

named! {
    /// Why a session ended, by the word for events and documents.
    pub(super) enum Ended {
        /// Its time was over.
        Duration = "duration",
        /// There were no more frames.
        Frames = "frames",
        /// The maximum number of stored frames was reached.
        Full = "full",
        /// A signal arrived.
        Interrupted = "interrupted",
    }
}

/// The setup of a session.
pub(super) struct About {
    /// The model, or the program's command.
    pub(super) what: String,
    /// None for a program.
    pub(super) model: Option<ModelAbout>,
    /// The process that runs the detection.
    pub(super) process: u32,
}

/// How a model is run.
pub(super) struct ModelAbout {
    pub(super) frames: String,
    pub(super) threads: usize,
    pub(super) provider: Provider,
    pub(super) runtime: Runtime,
    pub(super) input: (u32, u32),
}

impl About {
    pub(super) fn document(&self) -> Value {
        let Some(model) = &self.model else { return json!({ "command": self.what }) };
        let (width, height) = model.input;
        let mut document = json!({
            "model": self.what,
            "frames": model.frames,
            "input": [width, height],
            "threads": model.threads,
            "provider": model.provider.to_string(),
            "runtime": model.runtime.kind().name(),
        });
        if let Some(library) = model.runtime.library() {
            document["library"] = json!(library.path().display().to_string());
            document["library_build"] = json!(library.build());
        }
        document
    }

    fn headline(&self) -> String {
        let Some(model) = &self.model else { return self.what.clone() };
        let ModelAbout { frames, threads, provider, runtime, input: (width, height) } = model;
        format!(
            "{} on {frames} frames, input {width} x {height}, {runtime}, {provider}, threads: {threads}",
            self.what
        )
    }
}

/// The results as text for people.
pub(super) fn table(about: &About, report: &Report, usage: &Sums) -> String {
    let titles = ["", "mean", "p50", "p95", "p99", "min", "max"];
    let align = |title: &str| if title.is_empty() { Align::Left } else { Align::Right };
    let mut table = Table::new(titles.map(|title| (title, align(title))));
    let mut row = |name: &str, times: Distribution| {
        let times = values(times).map(|(_, millis)| format!("{millis:.2}"));
        table.row(std::iter::once(name.to_owned()).chain(times));
    };
    row("frame, ms", report.latency);
    if let Some(stages) = report.stages {
        row("  load", stages.load);
        row("  pre-processing", stages.pre);
        row("  inference", stages.inference);
        row("  post-processing", stages.post);
    }
    let detections = match report.detections {
        Some(count) => format!(", {count} detections"),
        None => String::new(),
    };
    let usage = match usage.line() {
        line if line.is_empty() => String::new(),
        line => format!("{line}\n\n"),
    };
    format!(
        "{}\n\n{:.2} frames/s: {} frames in {:.1} s{detections}; {} more in the warm-up\n\n{usage}{table}",
        about.headline(),
        report.fps,
        report.frames,
        report.seconds,
        report.warm_up_frames,
    )
}

/// The results as JSON.
pub(super) fn document(about: &About, report: &Report, usage: &Sums, ended: Ended) -> Value {
    let stages = report.stages.map(|stages| {
        json!({
            "load": times(stages.load), "pre": times(stages.pre),
            "inference": times(stages.inference), "post": times(stages.post),
        })
    });
    json!({
        "trackbed": env!("CARGO_PKG_VERSION"),
        "about": about.document(),
        "ended": ended.name(),
        "frames": report.frames,
        "warm_up_frames": report.warm_up_frames,
        "seconds": report.seconds,
        "fps": report.fps,
        "latency_ms": times(report.latency),
        "stages_ms": stages,
        "detections": report.detections,
        "usage": usage.document(),
    })
}

fn times(times: Distribution) -> Value {
    values(times).into_iter().map(|(name, millis)| (name.to_owned(), json!(millis))).collect()
}

fn values(times: Distribution) -> [(&'static str, f64); 6] {
    [
        ("mean", times.mean_ms),
        ("p50", times.p50_ms),
        ("p95", times.p95_ms),
        ("p99", times.p99_ms),
        ("min", times.min_ms),
        ("max", times.max_ms),
    ]
}
